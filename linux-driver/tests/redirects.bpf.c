/* SPDX-License-Identifier: GPL-2.0-only */
/* Sends each frame to the interface of index 2, eth0 */
#include "bpf.h"

static long (*const redirect)(__u32 index, __u64 flags) = (void *)BPF_FUNC_redirect;

SECTION("xdp") int redirects(struct xdp_md *context)
{
	return redirect(2, 0);
}

SECTION("license") const char licence[] = "GPL";
