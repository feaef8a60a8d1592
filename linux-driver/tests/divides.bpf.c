/* SPDX-License-Identifier: GPL-2.0-only */
/* For test_xdp.py: a division that rv32's compiler in the kernel cannot take */
#include "bpf.h"

SECTION("xdp") int divides(struct xdp_md *context)
{
	__u64 length = context->rx_queue_index + 7, by = context->ingress_ifindex;

	return (length << 32) / (by | 1) & 1 ? XDP_PASS : XDP_DROP;
}

SECTION("license") const char licence[] = "GPL";
