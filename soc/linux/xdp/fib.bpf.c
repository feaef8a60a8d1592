/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Forwards packets by Linux's own routes and neighbours. Linux gets packets without a neighbour entry,
 * packets for itself, and packets for a port without a program.
 */
#include "bpf.h"

SECTION("maps")
const struct map ports = { BPF_MAP_TYPE_DEVMAP, sizeof(__u32), sizeof(__u32), MAX_PORTS };

SECTION("xdp") int fib(struct xdp_md *context)
{
	void *packet = (void *)(long)context->data, *end = (void *)(long)context->data_end;
	struct bpf_fib_lookup route; /* what a lookup for IPv4 does not read is not set */
	void *kept;

	KEEP(kept, packet);
	if (!can_forward(packet, end))
		return XDP_PASS;
	KEEP(packet, kept);
	*(__u32 *)&route.family = FAMILY_IPV4 | (WORD(packet, ttl_protocol_sum) & 0xff00);
	*(__u32 *)&route.dport = (__u32)htons(HALF(packet, length)) << 16;
	route.ifindex = context->ingress_ifindex;
	route.flowinfo = HALF(packet, version_tos) >> 8;
	route.ipv4_src = WORD(packet, source);
	route.ipv4_dst = WORD(packet, destination);
	if (fib_lookup(context, &route, sizeof(route), 0) != BPF_FIB_LKUP_RET_SUCCESS ||
	    redirect_map(&ports, route.ifindex, XDP_PASS) != XDP_REDIRECT)
		return XDP_PASS;

	KEEP(packet, kept);
	HALF(packet, to) = *(__u16 *)route.dmac;
	WORD(packet, to_rest) = *(__u32 *)(route.dmac + 2);
	WORD(packet, source_address) = *(__u32 *)route.smac;
	HALF(packet, source_rest) = *(__u16 *)(route.smac + 4);
	count_hop(packet);
	return XDP_REDIRECT;
}

SECTION("license") const char licence[] = "GPL";
