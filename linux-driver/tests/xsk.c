/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A socket of AF_XDP on a queue of an interface:
 *
 *     xsk MODE echo INTERFACE[:QUEUE] [CHUNKS]         sends back what it gets, as it is
 *     xsk MODE drop INTERFACE[:QUEUE] [CHUNKS]         gets frames, and does nothing with them
 *     xsk MODE send INTERFACE[:QUEUE] CHUNKS FRAMES    sends FRAMES frames: the n-th has 14 + n % 1501 octets,
 *                                                      and n + m in its octet m
 *
 * MODE: copy; or zero, without copies; or zero without the kernel's need-wakeup flag (deaf), with chunks
 * at any address (unaligned), or with a headroom that is no multiple of 8 octets (odd).
 * Until SIGTERM, or until all were sent. After SIGUSR1 it does nothing, until it gets another one. Frames
 * come by a program for XDP with a map `sockets`, if there is one. Each begins in one of CHUNKS chunks of
 * 2 KiB. It calls the kernel only when the need-wakeup flag is set. Prints how many frames were
 * received, posted and sent, whether there were copies, how often the kernel dropped one, and how many
 * were received within how many microseconds, from the first look that found some to the last one.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHUNK		2048
#define MAX_CHUNKS	1024	/* and entries of each ring */
#ifndef MOMENT
#define MOMENT		100000	/* ns, to the next look when there is nothing to do */
#endif

struct ring {
	uint32_t *producer, *consumer, *flags;
	void *entries;
};

struct mode {
	const char *name;
	uint16_t socket;
	uint32_t memory, headroom;
};

static const struct mode modes[] = {
	{"copy", XDP_COPY | XDP_USE_NEED_WAKEUP, 0, 0},
	{"zero", XDP_ZEROCOPY | XDP_USE_NEED_WAKEUP, 0, 0},
	{"deaf", XDP_ZEROCOPY, 0, 0},
	{"unaligned", XDP_ZEROCOPY | XDP_USE_NEED_WAKEUP, XDP_UMEM_UNALIGNED_CHUNK_FLAG, 0},
	{"odd", XDP_ZEROCOPY | XDP_USE_NEED_WAKEUP, 0, 4},
};

static struct ring fill, completed, received, sent;
static uint8_t *memory;
static volatile sig_atomic_t ended, paused;
static uint32_t queue;
static const struct mode *mode;
static int fd, copies;
static int64_t first, last;
static uint32_t earlier;	/* received frames, at the first look */

static void die(const char *what)
{
	fprintf(stderr, "xsk: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void stop(int signal)
{
	ended = signal;
}

static void pause_or_go(int signal)
{
	paused = signal && !paused;
}

static void look_at_the_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	last = now.tv_sec * 1000000LL + now.tv_nsec / 1000;
	if (!first)
		first = last;
}

/* Rings: each end is written by one side, after what it says was written or read -------------------- */

static uint32_t waiting(const struct ring *ring)
{
	return __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE) - *ring->consumer;
}

static uint64_t *address(const struct ring *ring, uint32_t index)
{
	return (uint64_t *)ring->entries + index % MAX_CHUNKS;
}

static struct xdp_desc *frame(const struct ring *ring, uint32_t index)
{
	return (struct xdp_desc *)ring->entries + index % MAX_CHUNKS;
}

static void step(uint32_t *end)
{
	__atomic_store_n(end, *end + 1, __ATOMIC_RELEASE);
}

static struct ring map_ring(const struct xdp_ring_offset *at, off_t place, size_t entry)
{
	void *start = mmap(NULL, at->desc + MAX_CHUNKS * entry, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			   place);

	if (start == MAP_FAILED)
		die("mmap");
	return (struct ring){start + at->producer, start + at->consumer, start + at->flags, start + at->desc};
}

static void create_rings(void)
{
	struct xdp_mmap_offsets at;
	socklen_t size = sizeof(at);
	int entries = MAX_CHUNKS;

	for (int ring = XDP_RX_RING; ring <= XDP_UMEM_COMPLETION_RING; ring++)
		if (ring != XDP_UMEM_REG && setsockopt(fd, SOL_XDP, ring, &entries, sizeof(entries)))
			die("a ring");
	if (getsockopt(fd, SOL_XDP, XDP_MMAP_OFFSETS, &at, &size))
		die("the rings' places");
	received = map_ring(&at.rx, XDP_PGOFF_RX_RING, sizeof(struct xdp_desc));
	sent = map_ring(&at.tx, XDP_PGOFF_TX_RING, sizeof(struct xdp_desc));
	fill = map_ring(&at.fr, XDP_UMEM_PGOFF_FILL_RING, sizeof(uint64_t));
	completed = map_ring(&at.cr, XDP_UMEM_PGOFF_COMPLETION_RING, sizeof(uint64_t));
}

/* Life ---------------------------------------------------------------------------------------------- */

static void create(char *interface, uint32_t chunks)
{
	char *colon = strchr(interface, ':');
	struct xdp_umem_reg umem = {
		.len = (uint64_t)chunks * CHUNK,
		.chunk_size = CHUNK,
		.headroom = mode->headroom,
		.flags = mode->memory,
	};
	struct sockaddr_xdp to = {.sxdp_family = AF_XDP, .sxdp_flags = mode->socket};

	if (colon) {
		queue = atoi(colon + 1);
		*colon = 0;
	}
	to.sxdp_queue_id = queue;
	to.sxdp_ifindex = if_nametoindex(interface);
	fd = socket(AF_XDP, SOCK_RAW, 0);
	memory = mmap(NULL, umem.len, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (fd < 0 || memory == MAP_FAILED)
		die("socket");
	umem.addr = (uintptr_t)memory;
	if (setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &umem, sizeof(umem)))
		die("memory");
	create_rings();
	if (bind(fd, (struct sockaddr *)&to, sizeof(to)))
		die(interface);
}

static int bpf(int command, union bpf_attr *attributes)
{
	return syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

/* Into the program's map, which is found by its name */
static void take_frames(void)
{
	union bpf_attr next = {}, open = {}, about = {}, entry = {};
	struct bpf_map_info info;
	uint32_t socket = fd;

	while (!bpf(BPF_MAP_GET_NEXT_ID, &next)) {
		next.start_id = next.next_id;
		open.map_id = next.next_id;
		about.info.bpf_fd = bpf(BPF_MAP_GET_FD_BY_ID, &open);
		about.info.info_len = sizeof(info);
		about.info.info = (uintptr_t)&info;
		memset(&info, 0, sizeof(info));
		if (bpf(BPF_OBJ_GET_INFO_BY_FD, &about) || info.type != BPF_MAP_TYPE_XSKMAP ||
		    strcmp(info.name, "sockets"))
			continue;
		entry.map_fd = about.info.bpf_fd;
		entry.key = (uintptr_t)&queue;
		entry.value = (uintptr_t)&socket;
		if (bpf(BPF_MAP_UPDATE_ELEM, &entry))
			die("map");
	}
}

static void report(void)
{
	struct xdp_statistics stats = {};
	struct xdp_options options = {};
	socklen_t size = sizeof(stats), little = sizeof(options);

	if (getsockopt(fd, SOL_XDP, XDP_STATISTICS, &stats, &size) ||
	    getsockopt(fd, SOL_XDP, XDP_OPTIONS, &options, &little))
		die("statistics");
	printf("received %u posted %u sent %u copies %s dropped %llu timed %u usecs %lld\n",
	       *received.consumer, *sent.producer, *completed.producer,
	       options.flags & XDP_OPTIONS_ZEROCOPY ? "no" : "yes",
	       (unsigned long long)(stats.rx_dropped + stats.rx_ring_full), *received.consumer - earlier,
	       (long long)(last - first));
}

/* Frames -------------------------------------------------------------------------------------------- */

static void give(uint64_t chunk)
{
	*address(&fill, *fill.producer) = chunk;
	step(fill.producer);
}

static void post(uint64_t from, uint32_t octets)
{
	*frame(&sent, *sent.producer) = (struct xdp_desc){.addr = from, .len = octets};
	step(sent.producer);
}

/* Whether the kernel needs a call after entries were put into this ring */
static int sleeps(const struct ring *ring)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!(mode->socket & XDP_USE_NEED_WAKEUP))
		return ring == &sent;
	return *(volatile uint32_t *)ring->flags & XDP_RING_NEED_WAKEUP;
}

/* Calls the kernel, if it needs a call, and waits if there is nothing to do. With copies, one call sends
 * only some frames.
 */
static void tell(int posted)
{
	const struct timespec moment = {.tv_nsec = MOMENT};

	if (copies)
		posted |= *sent.producer != __atomic_load_n(sent.consumer, __ATOMIC_ACQUIRE);
	if (posted && sleeps(&sent))
		sendto(fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
	if (sleeps(&fill))
		recvfrom(fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
	while (!ended && (paused || !(waiting(&received) || waiting(&completed)))) {
		nanosleep(&moment, NULL);
		if (copies && !paused)
			break;
	}
}

static void receive(uint32_t chunks, int echoes)
{
	for (uint32_t i = 0; i < chunks; i++)
		give(i * CHUNK);
	take_frames();
	while (!ended) {
		int posted = 0;

		for (; waiting(&completed); step(completed.consumer))
			give(*address(&completed, *completed.consumer));
		if (!first)
			earlier = waiting(&received);
		if (waiting(&received))
			look_at_the_clock();
		for (; waiting(&received); step(received.consumer)) {
			const struct xdp_desc *got = frame(&received, *received.consumer);

			if (echoes)
				post(got->addr, got->len);
			else
				give(got->addr);
			posted = echoes;
		}
		tell(posted);
	}
}

static void generate(uint32_t chunks, uint32_t frames)
{
	uint32_t made = 0;

	while (!ended && *completed.consumer < frames) {
		int posted = 0;

		for (; made < frames && made - *completed.consumer < chunks; made++) {
			uint64_t at = made % chunks * CHUNK;
			uint32_t octets = 14 + made % 1501;

			for (uint32_t i = 0; i < octets; i++)
				memory[at + i] = made + i;
			post(at, octets);
			posted = 1;
		}
		look_at_the_clock();
		tell(posted);
		while (waiting(&completed))
			step(completed.consumer);
	}
}

static int usage(void)
{
	fprintf(stderr, "usage: xsk MODE echo|drop INTERFACE[:QUEUE] [CHUNKS]\n"
			"       xsk MODE send INTERFACE[:QUEUE] CHUNKS FRAMES\n"
			"MODE: copy, zero, deaf, unaligned or odd; 1 to %d chunks\n", MAX_CHUNKS);
	return 2;
}

int main(int words, char **word)
{
	uint32_t chunks = words > 4 ? atoi(word[4]) : MAX_CHUNKS;
	int sends = words > 2 && !strcmp(word[2], "send");

	for (unsigned int i = 0; words > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(word[1], modes[i].name))
			mode = &modes[i];
	if (!mode || words < 4 || words > 5 + sends || (sends && words != 6) || !chunks || chunks > MAX_CHUNKS)
		return usage();
	copies = mode->socket & XDP_COPY;
	signal(SIGTERM, stop);
	signal(SIGUSR1, pause_or_go);
	create(word[3], chunks);
	if (sends)
		generate(chunks, atoi(word[5]));
	else
		receive(chunks, !strcmp(word[2], "echo"));
	report();
	return 0;
}
