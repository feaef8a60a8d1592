/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A socket of AF_XDP on queue 0 of an interface, without copies or with:
 *
 *     xsk copy|zero INTERFACE [CHUNKS]        sends back what it gets, as it is, until SIGTERM
 *     xsk copy|zero INTERFACE CHUNKS FRAMES   sends so many frames: the n-th one has 14 + n % 1501
 *                                             octets, and n + m in its octet m
 *
 * Frames come by a program for XDP with a map `sockets`; without one, it only sends. Each begins in a
 * chunk of 2 KiB, of which there are so many. Prints how many were received and sent, whether there
 * were copies, and how often the kernel dropped one.
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
#include <unistd.h>

#define CHUNK		2048
#define MAX_CHUNKS	1024	/* and entries of each ring */

struct ring {
	uint32_t *producer, *consumer;
	void *entries;
};

static struct ring fill, completed, received, sent;
static uint8_t *memory;
static volatile sig_atomic_t ended;
static int fd;

static void die(const char *what)
{
	fprintf(stderr, "xsk: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void stop(int signal)
{
	ended = signal;
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
	return (struct ring){start + at->producer, start + at->consumer, start + at->desc};
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

static void create(const char *mode, const char *interface, uint32_t chunks)
{
	struct xdp_umem_reg umem = {.len = (uint64_t)chunks * CHUNK, .chunk_size = CHUNK};
	struct sockaddr_xdp to = {
		.sxdp_family = AF_XDP,
		.sxdp_flags = (strcmp(mode, "zero") ? XDP_COPY : XDP_ZEROCOPY) | XDP_USE_NEED_WAKEUP,
		.sxdp_ifindex = if_nametoindex(interface),
	};

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
	uint32_t queue = 0, socket = fd;

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
	printf("received %u sent %u copies %s dropped %llu\n", *received.consumer, *completed.consumer,
	       options.flags & XDP_OPTIONS_ZEROCOPY ? "no" : "yes",
	       (unsigned long long)(stats.rx_dropped + stats.rx_ring_full));
}

/* Frames -------------------------------------------------------------------------------------------- */

static void post(uint64_t from, uint32_t octets)
{
	*frame(&sent, *sent.producer) = (struct xdp_desc){.addr = from, .len = octets};
	step(sent.producer);
}

/* Tells the kernel of them, and waits until something happens */
static void tell(void)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	sendto(fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
	poll(&ready, 1, 2);
}

static void echo(uint32_t chunks)
{
	for (uint32_t i = 0; i < chunks; i++) {
		*address(&fill, i) = i * CHUNK;
		step(fill.producer);
	}
	take_frames();
	while (!ended) {
		for (; waiting(&completed); step(completed.consumer)) {
			*address(&fill, *fill.producer) = *address(&completed, *completed.consumer);
			step(fill.producer);
		}
		for (; waiting(&received); step(received.consumer)) {
			const struct xdp_desc *got = frame(&received, *received.consumer);

			post(got->addr, got->len);
		}
		tell();
	}
}

static void generate(uint32_t chunks, uint32_t frames)
{
	uint32_t made = 0;

	while (!ended && *completed.consumer < frames) {
		for (; made < frames && made - *completed.consumer < chunks; made++) {
			uint64_t at = made % chunks * CHUNK;
			uint32_t octets = 14 + made % 1501;

			for (uint32_t i = 0; i < octets; i++)
				memory[at + i] = made + i;
			post(at, octets);
		}
		tell();
		while (waiting(&completed))
			step(completed.consumer);
	}
}

int main(int words, char **word)
{
	uint32_t chunks = words > 3 ? atoi(word[3]) : MAX_CHUNKS;

	if (words < 3 || words > 5 || !chunks || chunks > MAX_CHUNKS) {
		fprintf(stderr, "usage: xsk copy|zero INTERFACE [CHUNKS [FRAMES]], 1 to %d chunks\n",
			MAX_CHUNKS);
		return 2;
	}
	signal(SIGTERM, stop);
	create(word[1], word[2], chunks);
	if (words > 4)
		generate(chunks, atoi(word[4]));
	else
		echo(chunks);
	report();
	return 0;
}
