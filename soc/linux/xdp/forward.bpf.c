/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Forwards packets whose destination is in the map `hops`, which the loader fills once. Linux gets all
 * others.
 */
#include "bpf.h"

#define MAX_HOPS	1024

SECTION("maps") const struct map ports = {BPF_MAP_TYPE_DEVMAP, sizeof(__u32), sizeof(__u32), MAX_PORTS};
SECTION("maps") const struct map hops = {
	BPF_MAP_TYPE_HASH, sizeof(__u32), sizeof(struct hop), MAX_HOPS
};

SECTION("xdp") int forward(struct xdp_md *context)
{
	void *packet = (void *)(long)context->data, *end = (void *)(long)context->data_end;
	const void *addresses;
	struct hop *hop, *found;
	__u32 destination;
	void *kept;

	KEEP(kept, packet);
	if (!can_forward(packet, end))
		return XDP_PASS;
	destination = WORD(packet, destination);
	found = map_lookup(&hops, &destination);
	if (!found)
		return XDP_PASS;
	KEEP(hop, found);
	if (redirect_map(&ports, found->port, XDP_PASS) != XDP_REDIRECT)
		return XDP_PASS;

	KEEP(packet, kept);
	KEEP(addresses, hop);
	addresses += __builtin_offsetof(struct hop, addresses);
	HALF(packet, to) = HALF(addresses, to);
	WORD(packet, to_rest) = WORD(addresses, to_rest);
	WORD(packet, source_address) = WORD(addresses, source_address);
	HALF(packet, source_rest) = HALF(addresses, source_rest);
	count_hop(packet);
	return XDP_REDIRECT;
}

SECTION("license") const char licence[] = "GPL";
