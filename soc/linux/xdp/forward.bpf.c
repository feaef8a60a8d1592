/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Forwards packets whose destination is in the map `hops`, which the loader fills once. Linux gets all
 * other packets, packets that are too long for the port, and all packets while ip_forward is 0.
 */
#include "bpf.h"

#define MAX_HOPS 1024

SECTION("maps")
const struct map ports = { BPF_MAP_TYPE_DEVMAP, sizeof(__u32), sizeof(__u32), MAX_PORTS };
SECTION("maps")
const struct map hops = { BPF_MAP_TYPE_HASH, sizeof(__u32), sizeof(struct hop), MAX_HOPS };

/* Whether Linux forwards what comes by this port, as of now; and how long packets may be for the other */
static inline int ask(struct xdp_md *context, struct hop *hop, __u32 now)
{
	struct bpf_fib_lookup route = { .family = FAMILY_IPV4,
					.ifindex = context->ingress_ifindex };
	__u32 mtu = 0;

	if (fib_lookup(context, &route, sizeof(route), 0) == BPF_FIB_LKUP_RET_FWD_DISABLED ||
	    check_mtu(context, hop->port, &mtu, 0, 0) < 0)
		return 0;
	hop->mtu = mtu;
	hop->asked = now;
	return 1;
}

SECTION("xdp") int forward(struct xdp_md *context)
{
	void *packet = (void *)(long)context->data, *end = (void *)(long)context->data_end;
	const void *addresses;
	struct hop *hop, *found;
	__u32 destination, now;
	void *kept;

	KEEP(kept, packet);
	if (!can_forward(packet, end))
		return XDP_PASS;
	destination = WORD(packet, destination);
	found = map_lookup(&hops, &destination);
	if (!found)
		return XDP_PASS;
	KEEP(hop, found);
	/* One check per tick (10 ms) costs little. Each receiving port has its own switch. */
	now = (__u32)jiffies() ^ context->ingress_ifindex << (32 - PORT_BITS);
	if (hop->asked != now && !ask(context, hop, now))
		return XDP_PASS;
	end = (void *)(long)context->data_end;
	if (end - (void *)(long)context->data > hop->mtu + ETH_HLEN)
		return XDP_PASS;
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
