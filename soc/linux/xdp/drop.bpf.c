/* SPDX-License-Identifier: GPL-2.0-only */
/* Drops all frames, to measure the cost of XDP itself. */
#include "bpf.h"

SECTION("xdp") int drop(struct xdp_md *context)
{
	return XDP_DROP;
}

SECTION("license") const char licence[] = "GPL";
