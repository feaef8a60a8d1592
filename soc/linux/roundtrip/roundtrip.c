/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures round-trip times of datagrams to an echo server (RFC 862, UDP):
 *
 *     roundtrip [-n COUNT] [-i MICROSECONDS] ADDRESS
 *
 * prints how many of COUNT datagrams returned, and the minimum, median, 99th percentile (nearest rank)
 * and maximum of their times, in nanoseconds. The next datagram leaves after the return of its
 * predecessor and a pause of MICROSECONDS on average. Pauses differ, to avoid beats with the kernel's
 * tick.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define ECHO_PORT 7
#define GOLDEN	  2654435769u /* the golden ratio in 2^-32: multiples spread evenly */

static void die(const char *what)
{
	fprintf(stderr, "roundtrip: ");
	perror(what);
	exit(1);
}

static void usage(void)
{
	fputs("usage: roundtrip [-n COUNT] [-i MICROSECONDS] ADDRESS\n", stderr);
	exit(2);
}

static long number(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || end == text || value < 0 || value > 1000000)
		usage();
	return value;
}

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int connected(const char *address)
{
	const struct timeval patience = { .tv_sec = 1 };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(ECHO_PORT) };
	int sock;

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		usage();
	sock = socket(AF_INET, SOCK_DGRAM, 0);
	if (sock < 0 || connect(sock, (struct sockaddr *)&to, sizeof(to)) ||
	    setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		die(address);
	return sock;
}

/* Round-trip time in nanoseconds; -1 if the datagram does not return. Ignores late earlier ones. */
static int64_t round_trip(int sock, uint32_t sequence)
{
	int64_t sent = now();
	uint32_t back;

	if (send(sock, &sequence, sizeof(sequence), 0) < 0)
		return -1;
	do {
		if (recv(sock, &back, sizeof(back), 0) != sizeof(back))
			return -1;
	} while (back != sequence);
	return now() - sent;
}

static int compare(const void *one, const void *other)
{
	int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;

	return (a > b) - (a < b);
}

static int64_t percentile(const int64_t *sorted, long count, int percent)
{
	return sorted[(count * percent + 99) / 100 - 1];
}

int main(int argc, char **argv)
{
	long count = 100, pause = 10000, returned = 0;
	int option, sock;

	while ((option = getopt(argc, argv, "n:i:")) != -1) {
		if (option == 'n')
			count = number(optarg);
		else if (option == 'i')
			pause = number(optarg);
		else
			usage();
	}
	if (optind != argc - 1)
		usage();
	sock = connected(argv[optind]);

	int64_t *times = calloc(count + 1, sizeof(*times));
	if (!times)
		die("calloc");
	for (long i = 0; i < count; i++) {
		uint32_t phase = i * GOLDEN;

		usleep(2 * pause * (uint64_t)phase >> 32);
		times[returned] = round_trip(sock, i);
		returned += times[returned] >= 0;
	}
	qsort(times, returned, sizeof(*times), compare);
	printf("%ld of %ld returned", returned, count);
	if (returned)
		printf(", ns: %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, times[0],
		       percentile(times, returned, 50), percentile(times, returned, 99),
		       times[returned - 1]);
	putchar('\n');
	return returned == count ? 0 : 1;
}
