/* SPDX-License-Identifier: GPL-2.0-only */
/* For test_xsk.py: gives all frames to the socket of their queue (xsk.c); Linux gets them without one. */
#include "bpf.h"

SECTION("maps") const struct map sockets = {BPF_MAP_TYPE_XSKMAP, sizeof(__u32), sizeof(__u32), 2};

SECTION("xdp") int redirect(struct xdp_md *context)
{
	return redirect_map(&sockets, context->rx_queue_index, XDP_PASS);
}

SECTION("license") const char licence[] = "GPL";
