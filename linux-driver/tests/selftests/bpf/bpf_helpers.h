/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel's own programs for XDP need of libbpf's header of this name. */
#include <linux/bpf.h>

#define SEC(name)	__attribute__((section(name), used))
#define __always_inline	inline __attribute__((always_inline))

static long (*const bpf_xdp_adjust_head)(struct xdp_md *frame, int octets) =
	(void *)BPF_FUNC_xdp_adjust_head;
static long (*const bpf_xdp_adjust_tail)(struct xdp_md *frame, int octets) =
	(void *)BPF_FUNC_xdp_adjust_tail;
static __u64 (*const bpf_xdp_get_buff_len)(struct xdp_md *frame) =
	(void *)BPF_FUNC_xdp_get_buff_len;
static long (*const bpf_skb_vlan_push)(struct __sk_buff *skb, __be16 type, __u16 tag) =
	(void *)BPF_FUNC_skb_vlan_push;
