/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For test_xdp.py: the first octet of an ICMP packet's content is the verdict. The next one is the
 * interface of a redirection. Verdict 10 puts 216 octets in front of the frame and sends it back.
 */
#include "bpf.h"

#define ICMP_HEADER	8
#define SEND_LONGER	10
#define LONGER		216

static long (*const adjust_head)(struct xdp_md *context, int octets) = (void *)BPF_FUNC_xdp_adjust_head;

SECTION("maps") const struct map ports = {BPF_MAP_TYPE_DEVMAP, sizeof(__u32), sizeof(__u32), MAX_PORTS};

/* From source to destination and back */
static inline void write_addresses(__u16 *to, const __u16 turned[6])
{
	for (int i = 0; i < 6; i++)
		to[i] = turned[i];
}

SECTION("xdp") int verdicts(struct xdp_md *context)
{
	void *data = (void *)(long)context->data, *end = (void *)(long)context->data_end;
	__u8 *content = data + sizeof(struct packet) + ICMP_HEADER;
	__u16 turned[6];
	__u8 verdict;

	if (content + 2 > (__u8 *)end || HALF(data, type) != htons(ETH_P_IP))
		return XDP_PASS;
	verdict = content[0];
	if (verdict == XDP_REDIRECT)
		return redirect_map(&ports, content[1], XDP_ABORTED);
	if (verdict != XDP_TX && verdict != SEND_LONGER)
		return verdict;

	for (int i = 0; i < 6; i++)
		turned[i] = ((__u16 *)data)[i < 3 ? i + 3 : i - 3];
	write_addresses(data, turned);
	if (verdict == XDP_TX)
		return XDP_TX;

	if (adjust_head(context, -LONGER))
		return XDP_ABORTED;
	data = (void *)(long)context->data;
	if (data + ETH_HLEN > (void *)(long)context->data_end)
		return XDP_ABORTED;
	write_addresses(data, turned);
	HALF(data, type) = htons(0x88b5);
	return XDP_TX;
}

SECTION("license") const char licence[] = "GPL";
