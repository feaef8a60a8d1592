/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guest's end of TCP transfers:
 *
 *     stream [-b OCTETS] [-s OCTETS] [-c N] [-k SEED] [-v] in RESULT
 *     stream [-b OCTETS] [-s OCTETS] [-c N] [-k SEED] [-n OCTETS] out ADDRESS RESULT
 *
 * `in` accepts N connections and receives until each ends. `out` opens N connections and sends OCTETS
 * over each: the pattern that the tester expects (pattern.h), with SEED (1). With -v, `in` compares
 * received octets with the pattern; without -v, TCP is the only cost.
 *
 *     -b  the user's buffer: of each recv() with MSG_WAITALL, or send()   -s  the socket's buffer
 *
 * With -DZEROCOPY, the program sends with MSG_ZEROCOPY, and ends with an error if the kernel copies
 * nevertheless. That is a separate binary, because each additional instruction changes the figures.
 *
 * The program continues in the background as soon as it listens, or is connected, and prints its PID.
 * RESULT gets a line per connection: number, octets, wrong octets, position of the first wrong octet
 * (or -), and calls of recv() or send().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef ZEROCOPY
#include <poll.h>
#include <time.h>

#include <linux/errqueue.h> /* wants struct timespec */
#endif

#include "pattern.h"

#define PORT	   5001 /* nuttcp's, too */
#define FIRST_PORT 49152 /* connection k comes from this port + k */
#define MOST	   64 /* connections */

static struct {
	uint64_t octets;
	uint32_t buffer, socket, connections, seed;
	int verify, result;
} options = { .octets = 1000000, .buffer = 65536, .connections = 1, .seed = 1 };

struct stream {
	uint64_t octets, wrong, first_wrong, calls;
	uint8_t *pattern; /* from its begin on, PATTERN_OCTETS or more */
};

static void die(const char *what)
{
	fprintf(stderr, "stream: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void usage(void)
{
	fputs("usage: stream [-b OCTETS] [-s OCTETS] [-c N] [-k SEED] [-v] [-n OCTETS]\n"
	      "              in RESULT | out ADDRESS RESULT\n",
	      stderr);
	exit(2);
}

static uint64_t number(const char *text, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	if (*end || end == text || value < least || value > most)
		usage();
	return value;
}

/*
 * Memory with all its pages. If pages were missing later, the kernel's OOM killer would end a process.
 */
static void *memory(size_t size)
{
	struct sysinfo info;
	void *found;

	sysinfo(&info);
	if (size / info.mem_unit >= info.freeram / 4 * 3) {
		fprintf(stderr,
			"stream: a user's buffer of %" PRIu32 " octets does not fit: %" PRIu64
			" are free\n",
			options.buffer, (uint64_t)info.freeram * info.mem_unit);
		exit(1);
	}
	found = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		     -1, 0);
	if (found == MAP_FAILED)
		die("the user's buffer");
	return found;
}

/* The pattern from its begin on, so much that each send() finds all of its octets in one piece. */
static uint8_t *pattern(uint32_t connection, size_t size)
{
	uint32_t *words = memory(size + 3), key = pattern_key(options.seed, connection);

	for (uint32_t i = 0; i < (size + 3) / 4; i++)
		words[i] = i < PATTERN_WORDS ? pattern_word(key, i) : words[i - PATTERN_WORDS];
	return (uint8_t *)words;
}

static int new_socket(int name)
{
	int sock = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
		die("socket");
	if (options.socket &&
	    setsockopt(sock, SOL_SOCKET, name, &options.socket, sizeof(options.socket)))
		die("the socket's buffer");
	return sock;
}

/* Number of equal octets at the start of both buffers. Compares words if both start at a word. */
static size_t alike(const uint8_t *some, const uint8_t *others, size_t count)
{
	size_t i = 0;

	if (((uintptr_t)some | (uintptr_t)others) % 4 == 0)
		while (i + 4 <= count &&
		       *(const uint32_t *)(some + i) == *(const uint32_t *)(others + i))
			i += 4;
	while (i < count && some[i] == others[i])
		i++;
	return i;
}

static void verify(struct stream *stream, const uint8_t *octets, size_t count)
{
	uint64_t place = stream->octets;

	while (count) {
		size_t offset = place % PATTERN_OCTETS, whole = PATTERN_OCTETS - offset;
		size_t same =
			alike(octets, stream->pattern + offset, count < whole ? count : whole);

		if (!same && !stream->wrong++)
			stream->first_wrong = place;
		same += !same;
		octets += same;
		place += same;
		count -= same;
	}
}

static void receive(int sock, struct stream *stream, uint32_t connection)
{
	void *buffer = memory(options.buffer);
	ssize_t count;

	if (options.verify)
		stream->pattern = pattern(connection, PATTERN_OCTETS);

	while ((count = recv(sock, buffer, options.buffer, MSG_WAITALL)) > 0) {
		stream->calls++;
		if (options.verify)
			verify(stream, buffer, count);
		stream->octets += count;
	}
	if (count < 0)
		die("recv");
}

#ifdef ZEROCOPY
/* Read the kernel's completions. Our buffers do not change, so only copies matter. */
static void take_back(int sock)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct sock_extended_err) +
				     sizeof(struct sockaddr_in))];
	} control;
	struct msghdr message = { .msg_control = &control, .msg_controllen = sizeof(control) };

	while (recvmsg(sock, &message, MSG_ERRQUEUE) >= 0) {
		const struct sock_extended_err *done = (void *)CMSG_DATA(&control.header);

		if (done->ee_code & SO_EE_CODE_ZEROCOPY_COPIED) {
			fputs("stream: the kernel copies in spite of MSG_ZEROCOPY\n", stderr);
			exit(1);
		}
		message.msg_controllen = sizeof(control);
	}
	if (errno != EAGAIN)
		die("MSG_ERRQUEUE");
}

static ssize_t send_in_place(int sock, const void *octets, size_t size)
{
	struct pollfd news = { .fd = sock }; /* POLLERR is always asked for */
	ssize_t count;

	for (;;) {
		count = send(sock, octets, size, MSG_ZEROCOPY);
		if (count < 0 && errno != ENOBUFS)
			return count;
		if (count < 0 && poll(&news, 1, -1) < 0) /* too many are not taken back yet */
			die("poll");
		take_back(sock);
		if (count >= 0)
			return count;
	}
}

#endif

static void transmit(int sock, struct stream *stream, uint32_t connection)
{
	char end;
#ifdef ZEROCOPY
	int on = 1;

	if (setsockopt(sock, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)))
		die("SO_ZEROCOPY");
#endif

	stream->pattern = pattern(connection, PATTERN_OCTETS + options.buffer);
	while (stream->octets < options.octets) {
		uint64_t left = options.octets - stream->octets;
		size_t size = left < options.buffer ? left : options.buffer;
		ssize_t count;

#ifdef ZEROCOPY
		count = send_in_place(sock, stream->pattern + stream->octets % PATTERN_OCTETS,
				      size);
#else
		count = send(sock, stream->pattern + stream->octets % PATTERN_OCTETS, size, 0);
#endif
		if (count < 0)
			die("send");
		stream->calls++;
		stream->octets += count;
	}
	/* Wait until the tester has closed its side, because it may still need retransmissions. */
	if (shutdown(sock, SHUT_WR) || recv(sock, &end, 1, 0) < 0)
		die("shutdown");
#ifdef ZEROCOPY
	take_back(sock);
#endif
}

/* One connection, in a process of its own; a line of the result. */
static pid_t serve(int sock, uint32_t connection, void (*move)(int, struct stream *, uint32_t))
{
	struct stream stream = {};
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (child)
		return child;
	move(sock, &stream, connection);
	close(sock);
	if (stream.wrong)
		dprintf(options.result,
			"%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", connection,
			stream.octets, stream.wrong, stream.first_wrong, stream.calls);
	else
		dprintf(options.result, "%" PRIu32 " %" PRIu64 " 0 - %" PRIu64 "\n", connection,
			stream.octets, stream.calls);
	_exit(0);
}

static void wait_for_all(void)
{
	int status, failed = 0;

	for (uint32_t i = 0; i < options.connections; i++)
		if (wait(&status) < 0 || status)
			failed = 1;
	_exit(failed);
}

/* Continue in the background, so that the shell continues, too. RESULT gets all further output. */
static void background(void)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (child) {
		printf("%d\n", child);
		exit(0);
	}
	dup2(options.result, 1);
	dup2(options.result, 2);
}

static void in(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int listener = new_socket(SO_RCVBUF);

	if (bind(listener, (struct sockaddr *)&here, sizeof(here)) || listen(listener, MOST))
		die("listen");
	background();
	for (uint32_t i = 0; i < options.connections; i++) {
		struct sockaddr_in peer;
		socklen_t length = sizeof(peer);
		int sock = accept(listener, (struct sockaddr *)&peer, &length);

		if (sock < 0)
			die("accept");
		serve(sock, ntohs(peer.sin_port) - FIRST_PORT, receive);
		close(sock);
	}
	wait_for_all();
}

static void out(const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int socks[MOST];

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		usage();
	for (uint32_t i = 0; i < options.connections; i++) {
		struct sockaddr_in here = { .sin_family = AF_INET,
					    .sin_port = htons(FIRST_PORT + i) };

		socks[i] = new_socket(SO_SNDBUF);
		if (bind(socks[i], (struct sockaddr *)&here, sizeof(here)) ||
		    connect(socks[i], (struct sockaddr *)&to, sizeof(to)))
			die(address);
	}
	background();
	for (uint32_t i = 0; i < options.connections; i++) {
		serve(socks[i], i, transmit);
		close(socks[i]);
	}
	wait_for_all();
}

int main(int argc, char **argv)
{
	int option, sends;

	while ((option = getopt(argc, argv, "b:s:c:k:n:v")) != -1) {
		switch (option) {
		case 'b':
			options.buffer = number(optarg, 1, 1 << 30);
			break;
		case 's':
			options.socket = number(optarg, 1, 1 << 30);
			break;
		case 'c':
			options.connections = number(optarg, 1, MOST);
			break;
		case 'k':
			options.seed = number(optarg, 0, UINT32_MAX);
			break;
		case 'v':
			options.verify = 1;
			break;
		case 'n':
			options.octets = number(optarg, 1, UINT64_MAX);
			break;
		default:
			usage();
		}
	}
	sends = argc - optind == 3 && !strcmp(argv[optind], "out");
	if (!sends && (argc - optind != 2 || strcmp(argv[optind], "in")))
		usage();
	munmap(memory(options.buffer), options.buffer); /* fails early if the size is impossible */
	options.result = open(argv[argc - 1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	if (options.result < 0)
		die(argv[argc - 1]);
	if (sends)
		out(argv[optind + 1]);
	in();
}
