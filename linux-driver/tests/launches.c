/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets the NIC's clock to CLOCK_TAI, then sends frames, one after the other, each with a
 * launch time that is AHEAD ns from then:
 *
 *     launches [-b] [-p PRIORITY] [-l LENGTH] INTERFACE CLOCK AHEAD ...
 *
 * -b bypasses qdiscs. LENGTH: octets without FCS (default: 60). Prints a line for each frame: `launch N at STAMP`, the stamp of the frame in ns, and
 * before it the stamp minus the launch time, or `launch none` if there was no stamp until 20 ms after it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h> /* which the next one needs */
#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
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
#include <unistd.h>

#define TYPE   0x88b5 /* for experiments */
#define SECOND INT64_C(1000000000)

#ifndef SO_TXTIME
#define SO_TXTIME  61
#define SCM_TXTIME SO_TXTIME
#endif

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int64_t now(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		die("clock_gettime");
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

static void set_clock(const char *path)
{
	clockid_t clock = (~(clockid_t)open(path, O_RDWR) << 3) | 3;
	int64_t before = now(CLOCK_TAI), there = now(clock), by;
	struct timex change = { .modes = ADJ_SETOFFSET | ADJ_NANO };

	by = (before + now(CLOCK_TAI)) / 2 - there;
	change.time.tv_sec = by / SECOND;
	change.time.tv_usec = by % SECOND;
	if (change.time.tv_usec < 0) {
		change.time.tv_sec--;
		change.time.tv_usec += SECOND;
	}
	if (clock_adjtime(clock, &change) < 0)
		die("clock_adjtime");
}

static int opened(const char *interface, int priority, int bypass)
{
	const struct sock_txtime txtime = { .clockid = CLOCK_TAI };
	const int stamped = SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE |
			    SOF_TIMESTAMPING_OPT_TSONLY;
	struct hwtstamp_config config = { .tx_type = HWTSTAMP_TX_ON };
	struct ifreq request = { .ifr_data = (char *)&config };
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_ifindex = if_nametoindex(interface) };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
	if (fd < 0 || ioctl(fd, SIOCSHWTSTAMP, &request) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &bypass, sizeof(bypass)) ||
	    setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamped, sizeof(stamped)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime)))
		die("socket");
	return fd;
}

static void send_frame(int fd, int64_t launch, size_t length)
{
	unsigned char frame[1514] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,      2,
				      0,    0,	  0,	0,    1,    TYPE >> 8, TYPE & 0xff };
	struct iovec iov = { frame, length };
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(uint64_t))];
	} control = { .header = { .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_TXTIME,
				  .cmsg_len = CMSG_LEN(sizeof(uint64_t)) } };
	struct msghdr message = { .msg_iov = &iov,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.header), &launch, sizeof(launch));
	/* The driver, or etf, may drop it */
	if (sendmsg(fd, &message, 0) < 0 && errno != ENOBUFS)
		die("sendmsg");
}

static void print_stamp(int fd, int64_t launch, int64_t until)
{
	char octets[256], control[512];
	struct iovec iov = { octets, sizeof(octets) };
	struct msghdr message = { .msg_iov = &iov,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct pollfd ready = { .fd = fd };
	struct cmsghdr *cmsg;
	int64_t left = until - now(CLOCK_TAI);

	if (poll(&ready, 1, left > 0 ? left / 1000000 : 0) != 1 ||
	    recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
		puts("launch none");
		return;
	}
	for (cmsg = CMSG_FIRSTHDR(&message); cmsg; cmsg = CMSG_NXTHDR(&message, cmsg))
		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SO_TIMESTAMPING) {
			int64_t times[6];

			memcpy(times, CMSG_DATA(cmsg), sizeof(times));
			times[0] = times[4] * SECOND + times[5];
			printf("launch %lld at %lld\n", (long long)(times[0] - launch),
			       (long long)times[0]);
		}
}

int main(int argc, char **argv)
{
	int bypass = 0, priority = 3, length = 60, opt, fd;

	while ((opt = getopt(argc, argv, "+bp:l:")) != -1) {
		if (opt == 'b')
			bypass = 1;
		else if (opt == 'p')
			priority = atoi(optarg);
		else if (opt == 'l')
			length = atoi(optarg);
		else
			return 2;
	}
	if (argc - optind < 3 || length < 60 || length > 1514)
		return 2;
	set_clock(argv[optind + 1]);
	fd = opened(argv[optind], priority, bypass);
	for (int i = optind + 2; i < argc; i++) {
		int64_t ahead = strtoll(argv[i], NULL, 10), launch = now(CLOCK_TAI) + ahead;

		send_frame(fd, launch, length);
		if (ahead < 0 || ahead > SECOND)
			ahead = 0; /* nobody waits for it */
		print_stamp(fd, launch, now(CLOCK_TAI) + ahead + SECOND / 50);
	}
	return 0;
}
