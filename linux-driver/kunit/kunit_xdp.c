// SPDX-License-Identifier: GPL-2.0-only
/* KUnit tests of moderato_verdict.h: rings and frames are in memory, without
 * hardware
 */

#include <kunit/test.h>

#include "moderato_verdict.h"

#define XDP_ORDER	3
#define XDP_SIZE	BIT(XDP_ORDER)
#define XDP_HEAD	512

/* What suits ---------------------------------------------------------------- */

static const struct moderato_rx_ops xdp_polled = { .polled = true };
static const struct moderato_rx_ops xdp_shared = {
	.polled = true, .shared = true,
};

static const struct moderato_rx_ops xdp_rx_irq = {};
static const struct moderato_tx_ops xdp_tx_polled = { .polled = true };
static const struct moderato_tx_ops xdp_tx_quiet = { .quiet = true };
static const struct moderato_tx_ops xdp_tx_irq = {};

/* @says: what is to be switched; NULL: it suits */
static const struct xdp_choice {
	const struct moderato_rx_ops *rx;
	const struct moderato_tx_ops *tx;
	unsigned int mtu;
	netdev_features_t features;
	bool urgent;
	const char *says;
} xdp_choices[] = {
	{ &xdp_polled, &xdp_tx_polled, ETH_DATA_LEN },
	{ &xdp_polled, &xdp_tx_quiet, ETH_DATA_LEN, NETIF_F_GRO },
	{ &xdp_polled, &xdp_tx_polled, MODERATO_XDP_MTU },
	{ &xdp_polled, &xdp_tx_polled, MODERATO_XDP_MTU + 1, .says = "mtu " },
	{ &xdp_rx_irq, &xdp_tx_polled, ETH_DATA_LEN, .says = "rx-napi on" },
	{ &xdp_shared, &xdp_tx_polled, ETH_DATA_LEN, .says = "rx-shared off" },
	{ &xdp_polled, &xdp_tx_irq, ETH_DATA_LEN, .says = "tx-napi on" },
	{ &xdp_polled, &xdp_tx_polled, ETH_DATA_LEN,
	  NETIF_F_GRO | NETIF_F_GRO_HW, .says = "rx-gro-hw off" },
	{ &xdp_polled, &xdp_tx_polled, ETH_DATA_LEN, .urgent = true,
	  .says = "-N delete" },
	/* One after the other, as they are to be switched */
	{ &xdp_rx_irq, &xdp_tx_irq, 9000, NETIF_F_GRO_HW, true, "rx-napi on" },
	{ &xdp_polled, &xdp_tx_irq, 9000, NETIF_F_GRO_HW, true, "tx-napi on" },
	{ &xdp_polled, &xdp_tx_quiet, 9000, NETIF_F_GRO_HW, true, "mtu " },
	{ &xdp_polled, &xdp_tx_quiet, 1280, NETIF_F_GRO_HW, true, "gro-hw" },
};

static void xdp_refused(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(xdp_choices); i++) {
		const struct xdp_choice *c = &xdp_choices[i];
		struct moderato_config config = {
			.rx_ops = c->rx,
			.tx_ops = c->tx,
		};
		struct netlink_ext_ack extack = {};
		const char *why;
		int err;

		why = moderato_xdp_unsuited(&config, c->mtu) ?:
		      moderato_xdp_unsuited_too(c->features, c->urgent);
		err = moderato_xdp_refuse(why, &extack);
		if (!c->says) {
			KUNIT_EXPECT_NULL_MSG(test, why, "%d", i);
			KUNIT_EXPECT_EQ_MSG(test, err, 0, "%d", i);
			KUNIT_EXPECT_NULL_MSG(test, extack._msg, "%d", i);
			continue;
		}
		KUNIT_EXPECT_EQ_MSG(test, err, -EOPNOTSUPP, "%d", i);
		KUNIT_ASSERT_NOT_NULL_MSG(test, extack._msg, "%d", i);
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(extack._msg, c->says),
					  "%d: %s", i, extack._msg);
		/* The message names XDP, and is complete */
		KUNIT_EXPECT_NOT_NULL(test, strstr(extack._msg, ": XDP "));
		KUNIT_ASSERT_GT(test, strlen(extack._msg), strlen(why));
		KUNIT_EXPECT_STREQ(test, why, extack._msg +
				   strlen(extack._msg) - strlen(why));
	}
	/* Nobody listens */
	KUNIT_EXPECT_EQ(test, moderato_xdp_refuse("why", NULL), -EOPNOTSUPP);
}

/* Zero-copy sockets: @room is what a chunk has for the hardware */
static void xdp_sockets_refused(struct kunit *test)
{
	static const u32 around = MODERATO_STAMP_OCTETS + MODERATO_RX_OFFSET +
				  MODERATO_OVERHEAD;
	struct moderato_config config = {
		.rx_ops = &xdp_polled,
		.tx_ops = &xdp_tx_polled,
	};
	const char *why;

	KUNIT_EXPECT_NULL(test, moderato_xsk_unsuited(&config, ETH_DATA_LEN,
						      ETH_DATA_LEN + around));
	why = moderato_xsk_unsuited(&config, ETH_DATA_LEN + 1,
				    ETH_DATA_LEN + around);
	KUNIT_ASSERT_NOT_NULL(test, why);
	KUNIT_EXPECT_NOT_NULL(test, strstr(why, "mtu "));
	config.tx_ops = &xdp_tx_quiet;
	why = moderato_xsk_unsuited(&config, ETH_DATA_LEN, PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, why);
	KUNIT_EXPECT_NOT_NULL(test, strstr(why, "tx-reclaim-on-xmit off"));
}

/* Bytes of a buffer for an MTU, as moderato_rx.c lays it out, stamp and all */
static size_t xdp_truesize(unsigned int mtu)
{
	return SKB_HEAD_ALIGN(XDP_PACKET_HEADROOM + MODERATO_STAMP_OCTETS +
			      ALIGN(MODERATO_RX_OFFSET + MODERATO_OVERHEAD +
				    mtu, MODERATO_RX_BUFFER_ALIGN));
}

static void xdp_longest(struct kunit *test)
{
	KUNIT_EXPECT_LE(test, xdp_truesize(MODERATO_XDP_MTU), PAGE_SIZE);
	KUNIT_EXPECT_GT(test, xdp_truesize(MODERATO_XDP_MTU + SMP_CACHE_BYTES),
			PAGE_SIZE);
}

/* What the hardware says of a frame ----------------------------------------- */

static void xdp_metadata(struct kunit *test)
{
	static const u64 stamp = 0x0102030405060708;
	static const u32 known[] = {
		0, MODERATO_DESC_STATUS_STAMPED, MODERATO_DESC_STATUS_TAGGED,
		MODERATO_DESC_STATUS_STAMPED | MODERATO_DESC_STATUS_TAGGED,
		~(MODERATO_DESC_STATUS_STAMPED | MODERATO_DESC_STATUS_TAGGED),
	};
	struct moderato_desc desc[XDP_SIZE] = {};
	struct moderato_rx rx = {
		.ring.desc = desc,
		.headroom = XDP_PACKET_HEADROOM,
	};
	u8 *head = kunit_kzalloc(test, XDP_HEAD, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, head);
	for (int i = 0; i < ARRAY_SIZE(known); i++) {
		bool stamped = known[i] & MODERATO_DESC_STATUS_STAMPED;
		bool tagged = known[i] & MODERATO_DESC_STATUS_TAGGED;
		u8 *data = head + XDP_PACKET_HEADROOM + MODERATO_RX_OFFSET;
		struct moderato_rx_done done = { .bytes = 64 };
		struct moderato_xdp_buff buff = {};
		u16 tci = 0xaaaa + i;
		__be16 proto = 0;
		u64 at = 0;

		desc[i].checksum = cpu_to_le32(tci << 16 | 0x5555);
		*(__le64 *)(head + XDP_PACKET_HEADROOM) = cpu_to_le64(stamp);
		xdp_prepare_buff(&buff.xdp, head, data - head, 64, true);
		moderato_xdp_tell(&rx, i, known[i], &buff, &done);
		KUNIT_EXPECT_EQ(test, done.bytes,
				tagged ? 64 + VLAN_HLEN : 64);
		/* The program takes the room ahead of the frame */
		memset(head, 0xff, XDP_PACKET_HEADROOM + MODERATO_STAMP_OCTETS);

		data += stamped ? MODERATO_STAMP_OCTETS : 0;
		KUNIT_EXPECT_PTR_EQ(test, buff.xdp.data, (void *)data);
		KUNIT_EXPECT_PTR_EQ(test, buff.xdp.data_meta, (void *)data);
		KUNIT_EXPECT_PTR_EQ(test, buff.xdp.data_end,
				    (void *)(data + 64));
		KUNIT_EXPECT_EQ(test, moderato_xdp_stamp(&buff, &at),
				stamped ? 0 : -ENODATA);
		KUNIT_EXPECT_EQ(test, at, stamped ? stamp : 0);
		tci = 0;
		KUNIT_EXPECT_EQ(test, moderato_xdp_tag(&buff, &proto, &tci),
				tagged ? 0 : -ENODATA);
		KUNIT_EXPECT_EQ(test, tci, tagged ? 0xaaaa + i : 0);
		KUNIT_EXPECT_EQ(test, ntohs(proto), tagged ? ETH_P_8021Q : 0);
	}
}

/* Frames on the ring that skbs leave by -------------------------------------- */

static struct moderato_tx *xdp_ring(struct kunit *test, u16 index)
{
	struct moderato_tx *tx = kunit_kzalloc(test, sizeof(*tx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tx);
	tx->ring.order = XDP_ORDER;
	tx->ring.producer = index;
	tx->ring.consumer = index;
	tx->ring.desc = kunit_kcalloc(test, XDP_SIZE, sizeof(*tx->ring.desc),
				      GFP_KERNEL);
	tx->buf = kunit_kcalloc(test, XDP_SIZE, sizeof(*tx->buf), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tx->ring.desc);
	KUNIT_ASSERT_NOT_NULL(test, tx->buf);
	for (int slot = 0; slot < XDP_SIZE; slot++)
		moderato_tx_put_status(&tx->ring, index + slot, 0);
	return tx;
}

/* Completes the frame at @index as the hardware does */
static void xdp_complete(struct moderato_tx *tx, u16 index, u32 status)
{
	u32 slot = moderato_slot(index, XDP_ORDER);

	status |= moderato_pending(index, XDP_ORDER) ^
		  MODERATO_DESC_STATUS_PHASE;
	tx->ring.desc[slot].status = cpu_to_le32(status);
}

/* A quarter of the ring is for skbs, however many frames there are; or more, if an
 * skb may need it
 */
static void xdp_leaves_room_for_skbs(struct kunit *test)
{
	struct moderato_tx *tx = xdp_ring(test, 0xfffc);
	struct xdp_frame frame = { .len = ETH_ZLEN };

	for (u32 space = XDP_SIZE; space; space--) {
		tx->reserve = 1;
		KUNIT_EXPECT_EQ(test, moderato_xdp_space(tx),
				max(space, XDP_SIZE / 4) - XDP_SIZE / 4);
		tx->reserve = 5;
		KUNIT_EXPECT_EQ(test, moderato_xdp_space(tx),
				max(space, 5) - 5);
		moderato_xdp_post_frame(tx, &frame, 0, 0);
	}
	KUNIT_EXPECT_EQ(test, moderato_xdp_space(tx), 0);
}

/* Of each slot nothing is left of what was there before; of hardware that does as
 * it is asked, neither in its descriptor
 */
static void xdp_posted(struct kunit *test)
{
	struct xdp_frame frame = { .len = 1234 };

	for (int asks = 0; asks < 2; asks++) {
		struct moderato_tx *tx = xdp_ring(test, 0xfffc);

		tx->asks = asks;
		memset(tx->buf, 0xff, XDP_SIZE * sizeof(*tx->buf));
		for (int i = 0; i < XDP_SIZE; i++) {
			u8 flags = i & 1 ? MODERATO_TX_POOLED : 0;
			u16 index = tx->ring.producer;
			u32 slot = moderato_slot(index, XDP_ORDER);
			struct moderato_desc *desc = &tx->ring.desc[slot];
			struct moderato_tx_buf *buf = &tx->buf[slot];
			u32 status;

			desc->checksum = cpu_to_le32(~0);
			desc->control = cpu_to_le32(~0);
			moderato_xdp_post_frame(tx, &frame, 0x1000 + i, flags);

			KUNIT_EXPECT_EQ(test, tx->ring.producer,
					(u16)(index + 1));
			KUNIT_EXPECT_PTR_EQ(test, buf->frame, &frame);
			KUNIT_EXPECT_EQ(test, buf->dma, 0x1000 + i);
			KUNIT_EXPECT_EQ(test, buf->len, 1234);
			KUNIT_EXPECT_EQ(test, buf->segs, 1);
			KUNIT_EXPECT_EQ(test, buf->more, 0);
			KUNIT_EXPECT_EQ(test, buf->flags, flags |
					MODERATO_TX_FRAME |
					MODERATO_TX_PLANNED);
			KUNIT_EXPECT_EQ(test, le32_to_cpu(desc->address),
					0x1000 + i);
			KUNIT_EXPECT_EQ(test, le32_to_cpu(desc->control), 1234);
			KUNIT_EXPECT_EQ(test, le32_to_cpu(desc->checksum),
					asks ? 0 : ~0U);
			KUNIT_EXPECT_FALSE(test, moderato_ring_completed_at
					   (&tx->ring, index, &status));
		}
		KUNIT_EXPECT_EQ(test, moderato_tx_space(tx), 0);
	}
}

/* Two frames, an skb, three frames; one of each kind has an error */
static void xdp_left(struct kunit *test)
{
	static const u32 octets[] = { 42, 1514, 0, ETH_ZLEN, 61, 700 };
	struct moderato_tx *tx = xdp_ring(test, 0xfffd);
	struct moderato_ring *ring = &tx->ring;
	struct xdp_frame frame[ARRAY_SIZE(octets)];
	struct moderato_tx_done done = {};
	u16 first = ring->consumer;

	for (int i = 0; i < ARRAY_SIZE(octets); i++) {
		frame[i].len = octets[i];
		moderato_xdp_post_frame(tx, &frame[i], 0, 0);
	}
	tx->buf[moderato_slot(first + 2, XDP_ORDER)].flags =
		MODERATO_TX_PLANNED | MODERATO_TX_ACCOUNTED;

	KUNIT_EXPECT_NULL(test, moderato_xdp_left(tx, &done));
	for (int i = 0; i < 5; i++)
		xdp_complete(tx, first + i,
			     i == 4 ? MODERATO_DESC_STATUS_ERROR : 0);
	for (int i = 0; i < 5; i++) {
		struct moderato_tx_buf *buf = moderato_xdp_left(tx, &done);

		if (i == 2)
			KUNIT_EXPECT_NULL(test, buf);
		else if (buf)
			KUNIT_EXPECT_PTR_EQ(test, buf->frame, &frame[i]);
		else
			KUNIT_FAIL(test, "frame %d has left", i);
		ring->consumer++;
	}
	KUNIT_EXPECT_NULL(test, moderato_xdp_left(tx, &done));
	KUNIT_EXPECT_EQ(test, done.frames, 4);
	KUNIT_EXPECT_EQ(test, done.packets, 3);
	/* As they are on the wire, without the FCS */
	KUNIT_EXPECT_EQ(test, done.bytes, ETH_ZLEN + 1514 + ETH_ZLEN);
	KUNIT_EXPECT_EQ(test, done.accounted_frames, 0);
	KUNIT_EXPECT_EQ(test, done.accounted_bytes, 0);
}

/* Counts --------------------------------------------------------------------- */

static void xdp_count_sent(struct kunit *test)
{
	unsigned int count[MODERATO_XDP_RX_COUNTERS] = {};

	KUNIT_EXPECT_EQ(test, 16, moderato_xdp_count_sent(count, 16, 16));
	KUNIT_EXPECT_EQ(test, 3, moderato_xdp_count_sent(count, 16, 3));
	KUNIT_EXPECT_EQ(test, 0, moderato_xdp_count_sent(count, 5, -ENETDOWN));
	KUNIT_EXPECT_EQ(test, 0, moderato_xdp_count_sent(count, 0, 0));
	for (int i = 0; i < MODERATO_XDP_RX_COUNTERS; i++)
		KUNIT_EXPECT_EQ(test, count[i],
				i == MODERATO_XDP_SENT ? 19 :
				i == MODERATO_XDP_SEND_FAILED ? 18 : 0);
}

/* Polls of two queues, and frames of other devices: each in its place, once */
static void xdp_count_all(struct kunit *test)
{
	static const unsigned int one[] = { 1, 20, 300, 4000, 50000, 600000 };
	struct moderato_xdp_stats *stats;
	u64 data[MODERATO_XDP_COUNTERS + 1] = {};

	static_assert(ARRAY_SIZE(one) == MODERATO_XDP_RX_COUNTERS);
	stats = kunit_kcalloc(test, 2, sizeof(*stats), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, stats);
	for (int q = 0; q < 2; q++) {
		u64_stats_init(&stats[q].rx_syncp);
		u64_stats_init(&stats[q].tx_syncp);
		moderato_xdp_count_rx(&stats[q], one);
	}
	moderato_xdp_count_rx(&stats[1], one);
	moderato_xdp_count_tx(&stats[0], 16, 15);
	moderato_xdp_count_tx(&stats[1], 7, -ENETDOWN);

	for (int q = 0; q < 2; q++)
		moderato_xdp_sum(&stats[q], data);
	for (int i = 0; i < MODERATO_XDP_RX_COUNTERS; i++)
		KUNIT_EXPECT_EQ(test, data[i], 3 * one[i]);
	KUNIT_EXPECT_EQ(test, data[MODERATO_XDP_RX_COUNTERS +
				   MODERATO_XDP_XMIT], 15);
	KUNIT_EXPECT_EQ(test, data[MODERATO_XDP_RX_COUNTERS +
				   MODERATO_XDP_XMIT_FAILED], 1 + 7);
	KUNIT_EXPECT_EQ(test, data[MODERATO_XDP_COUNTERS], 0);
}

static struct kunit_case moderato_xdp_cases[] = {
	KUNIT_CASE(xdp_refused),
	KUNIT_CASE(xdp_sockets_refused),
	KUNIT_CASE(xdp_longest),
	KUNIT_CASE(xdp_metadata),
	KUNIT_CASE(xdp_leaves_room_for_skbs),
	KUNIT_CASE(xdp_posted),
	KUNIT_CASE(xdp_left),
	KUNIT_CASE(xdp_count_sent),
	KUNIT_CASE(xdp_count_all),
	{}
};

static struct kunit_suite moderato_xdp_suite = {
	.name = "moderato_xdp",
	.test_cases = moderato_xdp_cases,
};

kunit_test_suite(moderato_xdp_suite);
