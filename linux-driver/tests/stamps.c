/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends an ARP request that the tester answers, and prints the time of the interface's clock before,
 * the stamps of both frames, and the time after; then what steps and settings do to the clock.
 *
 *     stamps INTERFACE CLOCK
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h> /* which the next one needs */
#include <linux/errqueue.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/ptp_clock.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timex.h>

static int clock_fd;
static clockid_t clock_id;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static long long nanoseconds(const struct timespec *ts)
{
	return ts->tv_sec * 1000000000LL + ts->tv_nsec;
}

static long long now(void)
{
	struct timespec ts;

	if (clock_gettime(clock_id, &ts))
		die("clock_gettime");
	return nanoseconds(&ts);
}

/* The hardware's stamp of the next message */
static long long stamp(int fd, int flags)
{
	struct pollfd ready = { .fd = fd, .events = flags ? POLLPRI : POLLIN };
	static unsigned char frame[2048], control[512];
	struct iovec iov = { frame, sizeof(frame) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg;
	struct timespec ts[3];

	if (poll(&ready, 1, 1000) != 1 || recvmsg(fd, &message, flags) < 0)
		die("recvmsg");
	for (cmsg = CMSG_FIRSTHDR(&message); cmsg; cmsg = CMSG_NXTHDR(&message, cmsg)) {
		int64_t wide[6];

		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SO_TIMESTAMPING)
			continue;
		if (cmsg->cmsg_len >= CMSG_LEN(sizeof(wide))) {
			memcpy(wide, CMSG_DATA(cmsg), sizeof(wide));
			return wide[4] * 1000000000LL + wide[5];
		}
		memcpy(ts, CMSG_DATA(cmsg), sizeof(ts));
		return nanoseconds(&ts[2]);
	}
	return -1;
}

static long long adjust(int mode, long long value)
{
	struct timex tx = { .modes = mode };

	if (mode == ADJ_FREQUENCY) {
		tx.freq = value;
	} else {
		tx.modes = ADJ_SETOFFSET | ADJ_NANO;
		tx.time.tv_sec = value / 1000000000;
		tx.time.tv_usec = value % 1000000000;
		if (tx.time.tv_usec < 0) {
			tx.time.tv_sec--;
			tx.time.tv_usec += 1000000000;
		}
	}
	if (clock_adjtime(clock_id, &tx) < 0)
		die("clock_adjtime");
	return now();
}

static int output(unsigned int period, unsigned int flags)
{
	struct ptp_perout_request request = { .period = { .nsec = period }, .flags = flags };

	if (flags & PTP_PEROUT_DUTY_CYCLE)
		request.on.nsec = period / 4;
	return ioctl(clock_fd, PTP_PEROUT_REQUEST2, &request) ? errno : 0;
}

int main(int argc, char **argv)
{
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ARP));
	int asked = SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE |
		    SOF_TIMESTAMPING_RAW_HARDWARE;
	struct hwtstamp_config config = { .tx_type = HWTSTAMP_TX_ON,
					  .rx_filter = HWTSTAMP_FILTER_PTP_V2_L2_EVENT };
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ARP) };
	static unsigned char frame[60] = {
		255, 255, 255, 255, 255, 255, 2, 0x4d, 0x6f, 0x64, 0, 0, 8, 6,
		0, 1, 8, 0, 6, 4, 0, 1, 2, 0x4d, 0x6f, 0x64, 0, 0, 198, 18, 0, 1,
		0, 0, 0, 0, 0, 0, 198, 18, 0, 2 };
	long long before, sent, received, after;
	struct timespec set = { .tv_sec = 1000000000 };
	struct ifreq ifr = { .ifr_data = (char *)&config };
	int round;

	if (argc != 3 || fd < 0)
		return 1;
	strcpy(ifr.ifr_name, argv[1]);
	if (ioctl(fd, SIOCSHWTSTAMP, &ifr))
		die("SIOCSHWTSTAMP");
	printf("filter %d\n", config.rx_filter);
	address.sll_ifindex = if_nametoindex(argv[1]);
	if (bind(fd, (void *)&address, sizeof(address)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &asked, sizeof(asked)))
		die("socket");
	clock_fd = open(argv[2], O_RDWR);
	if (clock_fd < 0)
		die(argv[2]);
	clock_id = (~(clockid_t)clock_fd << 3) | 3;

	for (round = 0; round < 3; round++) {
		before = now();
		if (send(fd, frame, sizeof(frame), 0) != sizeof(frame))
			die("send");
		sent = stamp(fd, MSG_ERRQUEUE);
		received = stamp(fd, 0);
		after = now();
		printf("stamps %lld %lld %lld\n", sent - before, received - sent, after - received);
	}

	before = now();
	after = adjust(ADJ_SETOFFSET, 5000000000LL);
	printf("step %lld\n", after - before);
	before = now();
	after = adjust(ADJ_SETOFFSET, -3000000001LL);
	printf("step %lld\n", after - before);
	if (clock_settime(clock_id, &set))
		die("clock_settime");
	printf("set %lld\n", now() - nanoseconds(&set));
	printf("output %d %d %d\n", output(1000000, 0), output(1000000, PTP_PEROUT_DUTY_CYCLE),
	       output(10, 0));
	adjust(ADJ_FREQUENCY, 37LL << 16);
	return 0;
}
