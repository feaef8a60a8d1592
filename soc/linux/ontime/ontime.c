/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends UDP frames at intended times, for measurements of their departure:
 *
 *     ontime [-s] [-n FRAMES] [-i INTERVAL] [-l LEAD] [-a AHEAD] [-p PRIORITY] INTERFACE CLOCK ADDRESS
 *
 * First, it sets the NIC's clock (CLOCK, such as /dev/ptp0) to CLOCK_TAI. Frame k has the launch time
 * base + k * INTERVAL of CLOCK_TAI; the base is LEAD from now. All times are in nanoseconds. The program
 * hands each frame to the socket AHEAD of its launch time, with SO_TXTIME and the socket's PRIORITY. With
 * -s, it sleeps until the launch time instead, then sends without SO_TXTIME.
 *
 * Every payload has four octets "time", the frame's number (32 bits) and its launch time (64 bits), big
 * endian. Two more frames, one before the first and one after the last, have "mark" instead. The NIC
 * stamps their departure, which relates its clock to the wire. The program has a real-time priority. It
 * prints the base as soon as it knows it, and the rest after the end:
 *
 *     base TIME
 *     clock OFFSET ERROR     the NIC's clock minus CLOCK_TAI, at most ERROR wrong; at the start,
 *     clock OFFSET ERROR     and at the end
 *     mark NUMBER STAMP      for both marks, by the NIC's clock
 *     rejected N              by send()
 *     invalid N missed N     the socket's errors: dropped by the qdisc, before and in its queue
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h> /* which the next one needs */
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#define PORT	   4660
#define SECOND	   INT64_C(1000000000)
#define MARGIN	   INT64_C(10000000) /* between a mark and the frames */
#define PATIENCE   2000 /* ms, for a stamp */
#define SEND_BYTES (1 << 20) /* for frames that wait in the qdisc */
#define TRIES	   8

#ifndef SO_TXTIME
#define SO_TXTIME  61
#define SCM_TXTIME SO_TXTIME
#endif

struct payload {
	char kind[4];
	uint32_t number;
	uint64_t launch;
	uint8_t padding[2]; /* to the shortest frame */
} __attribute__((packed));

static struct {
	int64_t frames, interval, lead, ahead, priority, sleeps;
} options = {
	.frames = 100, .interval = 1000000, .lead = 200000000, .ahead = 50000000, .priority = 3
};

static struct sockaddr_in to = { .sin_family = AF_INET };
static clockid_t nic;
static unsigned int invalid, missed, rejected;

static void die(const char *what)
{
	fprintf(stderr, "ontime: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void usage(void)
{
	fputs("usage: ontime [-s] [-n FRAMES] [-i INTERVAL] [-l LEAD] [-a AHEAD] [-p PRIORITY]\n"
	      "              INTERFACE CLOCK ADDRESS\n",
	      stderr);
	exit(2);
}

static int64_t number(const char *text)
{
	char *end;
	int64_t value = strtoll(text, &end, 10);

	if (*end || end == text || value < 0)
		usage();
	return value;
}

static int64_t now(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time))
		die("clock_gettime");
	return time.tv_sec * SECOND + time.tv_nsec;
}

static void sleep_until(int64_t time)
{
	const struct timespec at = { .tv_sec = time / SECOND, .tv_nsec = time % SECOND };

	errno = clock_nanosleep(CLOCK_TAI, TIMER_ABSTIME, &at, NULL);
	if (errno)
		die("clock_nanosleep");
}

/* The NIC's clock minus CLOCK_TAI, from the quickest of several readings */
static int64_t offset(int64_t *error)
{
	int64_t best = 0;

	*error = INT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		int64_t before = now(CLOCK_TAI), read = now(nic), after = now(CLOCK_TAI);

		if ((after - before) / 2 < *error) {
			*error = (after - before) / 2;
			best = read - (before + *error);
		}
	}
	return best;
}

static void set_clock(void)
{
	int64_t error, by = -offset(&error);
	struct timex change = { .modes = ADJ_SETOFFSET | ADJ_NANO };

	change.time.tv_sec = by / SECOND;
	change.time.tv_usec = by % SECOND;
	if (change.time.tv_usec < 0) {
		change.time.tv_sec--;
		change.time.tv_usec += SECOND;
	}
	if (clock_adjtime(nic, &change) < 0)
		die("clock_adjtime");
}

/* musl has no sched_setscheduler() */
static void be_first(void)
{
	const struct sched_param most = { .sched_priority = 50 };

	if (syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &most))
		die("sched_setscheduler");
}

static void stamp_sent_frames(const char *interface)
{
	struct hwtstamp_config config = { .tx_type = HWTSTAMP_TX_ON };
	struct ifreq request = { .ifr_data = (char *)&config };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
	if (fd < 0 || ioctl(fd, SIOCSHWTSTAMP, &request))
		die("SIOCSHWTSTAMP");
	close(fd);
}

static int opened(int priority)
{
	const int bytes = SEND_BYTES;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		die("socket");
	return fd;
}

/* launch: in the payload. timed: also for the kernel */
static void send_frame(int fd, const char *kind, uint32_t index, int64_t launch, int timed)
{
	struct payload payload = { .number = htobe32(index), .launch = htobe64(launch) };
	struct iovec iov = { &payload, sizeof(payload) };
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(uint64_t))];
	} control = { 0 };
	struct msghdr message = {
		.msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = &iov, .msg_iovlen = 1
	};

	memcpy(payload.kind, kind, sizeof(payload.kind));
	if (timed) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_TXTIME;
		control.header.cmsg_len = CMSG_LEN(sizeof(uint64_t));
		memcpy(CMSG_DATA(&control.header), &launch, sizeof(launch));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	if (sendmsg(fd, &message, 0) < 0)
		rejected++;
}

/* The next message of the error queue. A stamp by the NIC goes to *stamp. Returns 0 if there is none */
static int read_error(int fd, int64_t *stamp)
{
	char octets[256], control[512];
	struct iovec iov = { octets, sizeof(octets) };
	struct msghdr message = { .msg_iov = &iov,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg;

	if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
		return 0;
	for (cmsg = CMSG_FIRSTHDR(&message); cmsg; cmsg = CMSG_NXTHDR(&message, cmsg)) {
		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SO_TIMESTAMPING) {
			int64_t times[6];

			memcpy(times, CMSG_DATA(cmsg), sizeof(times));
			*stamp = times[4] * SECOND + times[5];
		} else if (cmsg->cmsg_level == SOL_IP && cmsg->cmsg_type == IP_RECVERR) {
			struct sock_extended_err error;

			memcpy(&error, CMSG_DATA(cmsg), sizeof(error));
			if (error.ee_origin == SO_EE_ORIGIN_TXTIME) {
				invalid += error.ee_code == SO_EE_CODE_TXTIME_INVALID_PARAM;
				missed += error.ee_code == SO_EE_CODE_TXTIME_MISSED;
			}
		}
	}
	return 1;
}

/* Sends a mark; returns its stamp */
static int64_t mark(int fd, uint32_t index)
{
	struct pollfd ready = { .fd = fd, .events = POLLPRI };
	int64_t stamp = -1;

	send_frame(fd, "mark", index, 0, 0);
	while (stamp < 0) {
		if (poll(&ready, 1, PATIENCE) != 1) {
			errno = ETIMEDOUT;
			die("no stamp");
		}
		while (stamp < 0 && read_error(fd, &stamp))
			;
	}
	return stamp;
}

int main(int argc, char **argv)
{
	const struct sock_txtime txtime = { .clockid = CLOCK_TAI,
					    .flags = SOF_TXTIME_REPORT_ERRORS };
	const int stamped = SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE |
			    SOF_TIMESTAMPING_OPT_TSONLY;
	int64_t base, offsets[2], errors[2], stamps[2], none;
	int opt, clock, timed, marks;

	while ((opt = getopt(argc, argv, "sn:i:l:a:p:")) != -1) {
		if (opt == 's')
			options.sleeps = 1;
		else if (opt == 'n')
			options.frames = number(optarg);
		else if (opt == 'i')
			options.interval = number(optarg);
		else if (opt == 'l')
			options.lead = number(optarg);
		else if (opt == 'a')
			options.ahead = number(optarg);
		else if (opt == 'p')
			options.priority = number(optarg);
		else
			usage();
	}
	if (argc - optind != 3)
		usage();
	to.sin_port = htons(PORT);
	if (inet_pton(AF_INET, argv[optind + 2], &to.sin_addr) != 1)
		usage();
	clock = open(argv[optind + 1], O_RDWR);
	if (clock < 0)
		die(argv[optind + 1]);
	nic = (~(clockid_t)clock << 3) | 3;
	stamp_sent_frames(argv[optind]);
	timed = opened(options.priority);
	marks = opened(0);
	if (setsockopt(marks, SOL_SOCKET, SO_TIMESTAMPING, &stamped, sizeof(stamped)))
		die("SO_TIMESTAMPING");
	if (!options.sleeps && setsockopt(timed, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime)))
		die("SO_TXTIME");

	be_first();
	base = (now(CLOCK_TAI) + options.lead) / options.interval * options.interval;
	set_clock();
	printf("base %lld\n", (long long)base);
	fflush(stdout);
	offsets[0] = offset(&errors[0]);
	sleep_until(base - options.ahead - 2 * MARGIN);
	stamps[0] = mark(marks, 0);
	for (int64_t i = 0; i < options.frames; i++) {
		int64_t launch = base + i * options.interval;

		sleep_until(options.sleeps ? launch : launch - options.ahead);
		send_frame(timed, "time", i, launch, !options.sleeps);
		while (read_error(timed, &none))
			;
	}
	sleep_until(base + options.frames * options.interval + MARGIN);
	stamps[1] = mark(marks, 1);
	while (read_error(timed, &none))
		;
	offsets[1] = offset(&errors[1]);

	for (int i = 0; i < 2; i++)
		printf("clock %lld %lld\n", (long long)offsets[i], (long long)errors[i]);
	for (int i = 0; i < 2; i++)
		printf("mark %d %lld\n", i, (long long)stamps[i]);
	printf("rejected %u\ninvalid %u missed %u\n", rejected, invalid, missed);
	return 0;
}
