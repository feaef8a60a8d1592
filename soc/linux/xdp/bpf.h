/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that the XDP programs share: the kernel's helpers, the maps that the loader creates, and a
 * router's work for each packet.
 *
 * The code is optimised for the kernel's BPF compiler for rv32. BPF registers have 64 bits, so 32-bit
 * operations are half the work. r6 to r9, which survive calls, are in memory there. Values that are
 * needed after a call are in one of those and nowhere else (KEEP). A load or a store of any size is
 * three instructions.
 */
#ifndef BPF_H
#define BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>

#include "map.h"

#define SECTION(name)	  __attribute__((section(name), used))
#define htons(value)	  ((__u16)__builtin_bswap16(value))
#define KEEP(copy, value) asm volatile("%0 = %1" : "=r"(copy) : "r"(value))
#define PORT_BITS	  6
#define MAX_PORTS	  (1 << PORT_BITS) /* the highest index of an interface, and one */
#define IP_HEADER	  20 /* without options */
#define FAMILY_IPV4	  2

static void *(*const map_lookup)(const void *map,
				 const void *key) = (void *)BPF_FUNC_map_lookup_elem;
static long (*const redirect_map)(const void *map, __u32 key,
				  __u64 flags) = (void *)BPF_FUNC_redirect_map;
static __u64 (*const jiffies)(void) = (void *)BPF_FUNC_jiffies64;
static long (*const check_mtu)(void *context, __u32 ifindex, __u32 *mtu, __s32 more,
			       __u64 flags) = (void *)BPF_FUNC_check_mtu;
static long (*const fib_lookup)(void *context, struct bpf_fib_lookup *params, int size,
				__u32 flags) = (void *)BPF_FUNC_fib_lookup;

/* Ethernet's addresses and the IP header, as words: the frame begins 2 octets after a word's start. */
struct packet {
	__u16 to;
	__u32 to_rest;
	__u32 source_address;
	__u16 source_rest;
	__u16 type;
	__u16 version_tos;
	__be16 length;
	__u32 fragment;
	__u32 ttl_protocol_sum;
	__be32 source;
	__be32 destination;
} __attribute__((packed, aligned(2)));

/* Read a field with the alignment that the structure hides, at this place. Keeping the value longer, or
 * composing a word from parts, costs more. */
#define AT(from, field, type)                                                                      \
	(*(volatile type *)((void *)(from) + __builtin_offsetof(struct packet, field)))
#define WORD(from, field) AT(from, field, __u32)
#define HALF(from, field) AT(from, field, __u16)

/* RFC 1071: with the carry of 32 bits */
static inline __u32 add(__u32 sum, __u32 word)
{
	asm("%0 += %1\n\tif %0 >= %1 goto +1\n\t%0 += 1" : "+w"(sum) : "w"(word));
	return sum;
}

/*
 * Whether the program can forward a frame (RFC 1812, 5.2): a complete IPv4 packet for this station, with
 * a valid checksum, without options, and with a TTL above 1. Linux gets all others.
 */
static inline int can_forward(const void *packet, const void *end)
{
	__u32 first, third, sum;
	__u16 length;

	if (packet + sizeof(struct packet) > end)
		return 0;
	if (HALF(packet, type) != htons(ETH_P_IP) || HALF(packet, to) & 1)
		return 0;
	first = WORD(packet, version_tos); /* and length */
	third = WORD(packet, ttl_protocol_sum);
	if ((first & 0xff) != 0x45 || (third & 0xff) <= 1)
		return 0;
	length = htons(HALF(packet, length));
	if (length < IP_HEADER || length > end - packet - ETH_HLEN)
		return 0;
	sum = add(add(first, third), WORD(packet, fragment));
	sum = add(add(sum, WORD(packet, source)), WORD(packet, destination));
	return (sum + (sum >> 16 | sum << 16)) >> 16 == 0xffff;
}

/* RFC 1624: decrement the TTL and increment the checksum, which never becomes 0xffff. */
static inline void count_hop(void *packet)
{
	__u32 word = WORD(packet, ttl_protocol_sum);

	WORD(packet, ttl_protocol_sum) = word - 1 + (word >= 0xfffe0000 ? 0x20000 : 0x10000);
}

#endif
