// SPDX-License-Identifier: GPL-2.0-only
/* KUnit tests of moderato_cut.h, octet for octet against what the kernel's own
 * software makes of the same skbs: skb_gso_segment() and skb_checksum_help()
 */

#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/prandom.h>
#include <linux/udp.h>
#include <net/gso.h>
#include <net/tcp.h>

#include "moderato_cut.h"

#define CUT_FRAME	2048
#define CUT_GUARD	0xa5
#define CUT_FRAGS	8

/* Where an skb's payload lies
 * @head: octets of it after the headers
 * @frags, @offsets: those in each fragment, and where in its page they start
 */
struct cut_layout {
	unsigned int head;
	unsigned int frags[CUT_FRAGS];
	unsigned int offsets[CUT_FRAGS];
};

static const struct cut_layout cut_layouts[] = {
	{ .head = 3000 },
	{ .head = 1461 },
	{ .frags = { 4096, 4096, 4096, 1000 } },
	{ .frags = { 2896 }, .offsets = { 1 } },
	{ .frags = { 4095, 4093, 4091 }, .offsets = { 1, 2, 3 } },
	{ .head = 13, .frags = { 1, 3, 7, 1501, 5, 2, 1, 997 },
	  .offsets = { 0, 1, 2, 3, 5, 6, 7, 8 } },
	{ .head = 2, .frags = { 1446, 1448, 1, 1 }, .offsets = { 2, 9, 3 } },
};

/* How an skb looks besides
 * @vlan: its Ethernet header has a tag
 * @options: octets of TCP options
 * @flags: of TCP, besides ACK
 */
struct cut_shape {
	bool vlan;
	unsigned int options;
	__be32 flags;
	unsigned int mss;
	u32 seq;
	u16 id;
};

static const struct cut_shape cut_shapes[] = {
	{ .mss = 1448, .options = 12, .flags = TCP_FLAG_PSH },
	{ .mss = 1460, .flags = TCP_FLAG_FIN | TCP_FLAG_PSH, .id = 0xffff },
	{ .mss = 537, .options = 40, .seq = 0xfffffc00, .id = 0xfffd,
	  .flags = TCP_FLAG_CWR | TCP_FLAG_ECE | TCP_FLAG_PSH },
	{ .mss = 1448, .options = 12, .vlan = true,
	  .flags = TCP_FLAG_CWR | TCP_FLAG_FIN | TCP_FLAG_URG },
};

static void cut_free(void *skb)
{
	kfree_skb(skb);
}

static void cut_add_frag(struct kunit *test, struct sk_buff *skb, int i,
			 unsigned int offset, unsigned int size,
			 struct rnd_state *rnd)
{
	struct page *page = alloc_pages(GFP_KERNEL, 1);

	KUNIT_ASSERT_NOT_NULL(test, page);
	prandom_bytes_state(rnd, page_address(page) + offset, size);
	skb_add_rx_frag(skb, i, page, offset, size, 2 * PAGE_SIZE);
}

/* An skb with a random payload after @header octets, which the caller fills in
 */
static struct sk_buff *cut_skb(struct kunit *test, unsigned int header,
			       const struct cut_layout *layout,
			       struct rnd_state *rnd)
{
	struct sk_buff *skb = alloc_skb(64 + header + layout->head, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, cut_free,
							   skb));
	/* Aligns the IP header after an Ethernet header */
	skb_reserve(skb, 62);
	skb_put_zero(skb, header);
	prandom_bytes_state(rnd, skb_put(skb, layout->head), layout->head);
	for (int i = 0; i < CUT_FRAGS; i++)
		if (layout->frags[i] || layout->offsets[i])
			cut_add_frag(test, skb, skb_shinfo(skb)->nr_frags,
				     layout->offsets[i], layout->frags[i],
				     rnd);
	skb_reset_mac_header(skb);
	return skb;
}

/* A GSO skb as IP and TCP make it */
static struct sk_buff *cut_tcp(struct kunit *test,
			       const struct cut_layout *layout,
			       const struct cut_shape *shape,
			       struct rnd_state *rnd)
{
	unsigned int network = ETH_HLEN + (shape->vlan ? VLAN_HLEN : 0);
	unsigned int transport = network + sizeof(struct iphdr);
	unsigned int tcp_len = sizeof(struct tcphdr) + shape->options;
	struct sk_buff *skb = cut_skb(test, transport + tcp_len, layout, rnd);
	struct tcphdr *tcp;
	struct iphdr *ip;
	__be16 *type;

	skb_set_network_header(skb, network);
	skb_set_transport_header(skb, transport);
	skb->protocol = htons(shape->vlan ? ETH_P_8021Q : ETH_P_IP);
	prandom_bytes_state(rnd, skb->data, 2 * ETH_ALEN);
	type = (__be16 *)(skb->data + 2 * ETH_ALEN);
	*type = skb->protocol;
	if (shape->vlan)
		type[2] = htons(ETH_P_IP);

	ip = ip_hdr(skb);
	ip->version = 4;
	ip->ihl = 5;
	ip->id = htons(shape->id);
	ip->tot_len = htons(skb->len - network);
	ip->frag_off = htons(IP_DF);
	ip->ttl = 64;
	ip->protocol = IPPROTO_TCP;
	ip->saddr = (__force __be32)prandom_u32_state(rnd);
	ip->daddr = (__force __be32)prandom_u32_state(rnd);
	ip_send_check(ip);

	tcp = tcp_hdr(skb);
	prandom_bytes_state(rnd, tcp, tcp_len);
	tcp->seq = htonl(shape->seq);
	tcp_flag_word(tcp) = htonl((tcp_len / 4) << 28) | TCP_FLAG_ACK |
			     shape->flags | htonl(shape->mss);
	tcp->check = ~tcp_v4_check(skb->len - transport, ip->saddr, ip->daddr,
				   0);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_headroom(skb) + transport;
	skb->csum_offset = offsetof(struct tcphdr, check);

	skb_shinfo(skb)->gso_size = shape->mss;
	skb_shinfo(skb)->gso_segs = DIV_ROUND_UP(skb->len - transport - tcp_len,
						 shape->mss);
	skb_shinfo(skb)->gso_type = SKB_GSO_TCPV4;
	if (shape->flags & TCP_FLAG_CWR)
		skb_shinfo(skb)->gso_type |= SKB_GSO_TCP_ECN;
	return skb;
}

/* Inserts a checksum as the hardware does */
static void cut_insert(u8 *frame, unsigned int len, u32 word)
{
	unsigned int start, place;
	__sum16 check;

	if (!(word & MODERATO_DESC_TX_CHECKSUM_INSERT))
		return;
	start = FIELD_GET(MODERATO_DESC_TX_CHECKSUM_START, word);
	place = FIELD_GET(MODERATO_DESC_TX_CHECKSUM_PLACE, word);
	check = csum_fold(csum_partial(frame + start, len - start, 0));
	put_unaligned(check ?: CSUM_MANGLED_0, (__sum16 *)(frame + place));
}

/* The next frame, in @frame at @offset, with what is inserted into it, and
 * nothing around it
 */
static unsigned int cut_next(struct kunit *test, struct moderato_cut *cut,
			     u8 *frame, unsigned int *offset)
{
	unsigned int len = moderato_cut_len(cut);
	u32 word = moderato_cut_insertion(cut);

	*offset = 4 + moderato_cut_offset(cut);
	KUNIT_ASSERT_LE(test, *offset + len + 4, CUT_FRAME);
	memset(frame, CUT_GUARD, CUT_FRAME);
	moderato_cut_next(cut, frame + *offset);
	KUNIT_EXPECT_EQ(test, frame[*offset - 1], CUT_GUARD);
	KUNIT_EXPECT_EQ(test, frame[*offset + len], CUT_GUARD);
	cut_insert(frame + *offset, len, word);
	return len;
}

static void cut_compare_gso(struct kunit *test, int layout, int shape,
			    bool inserts)
{
	u8 *frames = kunit_kmalloc(test, 64 * CUT_FRAME, GFP_KERNEL);
	unsigned int offset[64], len[64], count, i = 0;
	struct sk_buff *skb, *segs, *seg, *next;
	struct moderato_cut cut;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, frames);
	prandom_seed_state(&rnd, layout * 100 + shape);
	skb = cut_tcp(test, &cut_layouts[layout], &cut_shapes[shape], &rnd);
	count = moderato_cut_start(&cut, skb, inserts);
	KUNIT_EXPECT_EQ(test, !!moderato_cut_insertion(&cut), inserts);
	KUNIT_ASSERT_EQ(test, count, skb_shinfo(skb)->gso_segs);
	KUNIT_ASSERT_LE(test, count, ARRAY_SIZE(len));
	for (i = 0; i < count; i++)
		len[i] = cut_next(test, &cut, frames + i * CUT_FRAME,
				  &offset[i]);
	KUNIT_EXPECT_EQ(test, cut.rest, 0);

	segs = skb_gso_segment(skb, 0);
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR_OR_NULL(segs),
			       "layout %d, shape %d: %ld", layout, shape,
			       PTR_ERR(segs));
	i = 0;
	skb_list_walk_safe(segs, seg, next) {
		const u8 *frame = frames + i * CUT_FRAME + offset[i];

		KUNIT_EXPECT_TRUE(test,
				  seg->ip_summed == CHECKSUM_NONE);
		KUNIT_EXPECT_EQ_MSG(test, seg->len, len[i],
				    "layout %d, shape %d, frame %u", layout,
				    shape, i);
		KUNIT_EXPECT_MEMEQ_MSG(test, seg->data, frame, len[i],
				       "layout %d, shape %d, frame %u", layout,
				       shape, i);
		consume_skb(seg);
		i++;
	}
	KUNIT_EXPECT_EQ(test, i, count);
	kunit_kfree(test, frames);
}

static void cut_gso(struct kunit *test)
{
	for (int layout = 0; layout < ARRAY_SIZE(cut_layouts); layout++)
		for (int shape = 0; shape < ARRAY_SIZE(cut_shapes); shape++)
			cut_compare_gso(test, layout, shape, false);
}

static void cut_gso_inserts(struct kunit *test)
{
	for (int layout = 0; layout < ARRAY_SIZE(cut_layouts); layout++)
		for (int shape = 0; shape < ARRAY_SIZE(cut_shapes); shape++)
			cut_compare_gso(test, layout, shape, true);
}

/* Payloads of exactly N frames, and of one octet more or less */
static void cut_gso_boundary(struct kunit *test)
{
	const struct cut_shape *shape = &cut_shapes[0];
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 1);
	for (int more = -1; more <= 1; more++) {
		struct cut_layout layout = { .head = 3 * shape->mss + more };
		struct moderato_cut cut;
		struct sk_buff *skb;

		skb = cut_tcp(test, &layout, shape, &rnd);
		KUNIT_EXPECT_EQ(test, moderato_cut_start(&cut, skb, false),
				more > 0 ? 4 : 3);
	}
}

/* Nothing that the features do not ask for gets past their absence */
static void cut_gso_refused(struct kunit *test)
{
	struct moderato_cut cut;
	struct rnd_state rnd;
	struct sk_buff *skb;

	prandom_seed_state(&rnd, 2);
	skb = cut_tcp(test, &cut_layouts[0], &cut_shapes[0], &rnd);
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	KUNIT_EXPECT_EQ(test, moderato_cut_start(&cut, skb, false), 0);

	/* Headers that are not all in the linear part */
	skb = cut_tcp(test, &cut_layouts[2], &cut_shapes[0], &rnd);
	tcp_hdr(skb)->doff = 15;
	KUNIT_EXPECT_EQ(test, moderato_cut_start(&cut, skb, false), 0);
}

static void cut_compare_whole(struct kunit *test, struct sk_buff *skb,
			      bool inserts)
{
	u8 *frame = kunit_kmalloc(test, CUT_FRAME, GFP_KERNEL);
	struct sk_buff *copy = skb_copy(skb, GFP_KERNEL);
	struct moderato_cut cut;
	unsigned int offset;

	KUNIT_ASSERT_NOT_NULL(test, frame);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		KUNIT_EXPECT_EQ(test, 0, skb_checksum_help(copy));
	KUNIT_EXPECT_EQ(test, moderato_cut_start(&cut, skb, inserts), 1);
	KUNIT_EXPECT_EQ(test, cut_next(test, &cut, frame, &offset), skb->len);
	KUNIT_EXPECT_MEMEQ(test, copy->data, frame + offset, skb->len);
	kfree_skb(copy);
	kunit_kfree(test, frame);
}

static const struct cut_layout cut_short_layouts[] = {
	{ .head = 1 },
	{ .head = 18 },
	{ .head = 1471 },
	{ .frags = { 1472 } },
	{ .head = 5, .frags = { 800, 333 }, .offsets = { 3, 1 } },
	{ .head = 1, .frags = { 1, 1, 1, 1, 2, 1, 1 },
	  .offsets = { 1, 2, 3, 4, 5, 6, 7 } },
};

/* Checksums that start anywhere, also in a fragment's middle and at odd octets;
 * with 1 at the end, none at all. The hardware inserts at even octets only.
 */
static void cut_whole(struct kunit *test)
{
	const unsigned int header = ETH_HLEN + 20 + sizeof(struct udphdr);
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 3);
	for (int i = 0; i < ARRAY_SIZE(cut_short_layouts); i++)
		for (unsigned int start = 30; start < 39; start++) {
			struct sk_buff *skb;

			skb = cut_skb(test, header, &cut_short_layouts[i],
				      &rnd);
			prandom_bytes_state(&rnd, skb->data, header);
			if (start < 38) {
				skb->ip_summed = CHECKSUM_PARTIAL;
				skb->csum_start = skb_headroom(skb) + start;
				skb->csum_offset = 2;
			}
			cut_compare_whole(test, skb, false);
			if (start % 2 == 0)
				cut_compare_whole(test, skb, true);
		}
}

/* A sum that leaves 0 is sent as 0xffff: 0 would mean that there is none */
static void cut_udp_zero(struct kunit *test)
{
	const struct cut_layout layout = { .head = 100 };
	const unsigned int start = ETH_HLEN + 20;
	unsigned int offset, check = start + 6;
	struct moderato_cut cut;
	struct rnd_state rnd;
	struct sk_buff *skb;
	u8 frame[256];

	prandom_seed_state(&rnd, 4);
	skb = cut_skb(test, start + 8, &layout, &rnd);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_headroom(skb) + start;
	skb->csum_offset = 6;
	memset(skb->data + start + 8, 0, 2);
	moderato_cut_start(&cut, skb, false);
	offset = 4 + moderato_cut_offset(&cut);
	moderato_cut_next(&cut, frame + offset);

	/* Adds what the sum lacks to all ones */
	memcpy(skb->data + start + 8, frame + offset + check, 2);
	moderato_cut_start(&cut, skb, false);
	moderato_cut_next(&cut, frame + offset);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(frame + offset + check),
			0xffff);
	cut_compare_whole(test, skb, false);
	cut_compare_whole(test, skb, true);
}

static void cut_copy_sum(struct kunit *test)
{
	u8 from[160], to[160];
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 5);
	prandom_bytes_state(&rnd, from, sizeof(from));
	/* Sums that carry */
	memset(from + 40, 0xff, 32);
	for (unsigned int a = 0; a < 4; a++)
		for (unsigned int b = 0; b < 4; b++)
			for (unsigned int len = 0; len < 140; len++) {
				__wsum sum, want;

				memset(to, CUT_GUARD, sizeof(to));
				sum = moderato_copy_sum(to + 4 + b, from + a,
							len);
				want = csum_partial(from + a, len, 0);
				KUNIT_EXPECT_EQ(test, csum_fold(sum),
						csum_fold(want));
				KUNIT_EXPECT_MEMEQ(test, to + 4 + b, from + a,
						   len);
				KUNIT_EXPECT_EQ(test, to[3 + b], CUT_GUARD);
				KUNIT_EXPECT_EQ(test, to[4 + b + len],
						CUT_GUARD);
			}
}

/* Where payload lies does not matter: frames start so that it is copied in
 * words
 */
static void cut_offset(struct kunit *test)
{
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 6);
	for (unsigned int at = 0; at < 4; at++) {
		struct cut_layout layout = { .frags = { 2896 },
					     .offsets = { at } };
		struct moderato_cut cut;
		struct sk_buff *skb;

		skb = cut_tcp(test, &layout, &cut_shapes[0], &rnd);
		moderato_cut_start(&cut, skb, false);
		KUNIT_EXPECT_EQ(test, (moderato_cut_offset(&cut) + 66) % 4, at);
		skb_shinfo(skb)->gso_size = 0;
		moderato_cut_start(&cut, skb, false);
		KUNIT_EXPECT_EQ(test, (moderato_cut_offset(&cut) + 66) % 4, at);
	}
}

static struct kunit_case moderato_cut_cases[] = {
	KUNIT_CASE(cut_copy_sum),
	KUNIT_CASE(cut_offset),
	KUNIT_CASE(cut_gso),
	KUNIT_CASE(cut_gso_inserts),
	KUNIT_CASE(cut_gso_boundary),
	KUNIT_CASE(cut_gso_refused),
	KUNIT_CASE(cut_whole),
	KUNIT_CASE(cut_udp_zero),
	{}
};

static struct kunit_suite moderato_cut_suite = {
	.name = "moderato_cut",
	.test_cases = moderato_cut_cases,
};

kunit_test_suite(moderato_cut_suite);
