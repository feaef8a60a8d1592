/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of XDP that works without hardware: what it requires, metadata of
 * frames, slots, counts. Tested by kunit_xdp.c.
 */
#ifndef MODERATO_VERDICT_H
#define MODERATO_VERDICT_H

#include <linux/bitfield.h>
#include <linux/netlink.h>

#include "moderato_xdp.h"

/* The longest frame that fits a page, with all that surrounds it */
#define MODERATO_XDP_MTU						\
	ALIGN_DOWN(SKB_WITH_OVERHEAD(PAGE_SIZE) - XDP_PACKET_HEADROOM -	\
		   MODERATO_STAMP_OCTETS - MODERATO_RX_OFFSET -		\
		   MODERATO_OVERHEAD, MODERATO_RX_BUFFER_ALIGN)

#define MODERATO_XDP_COUNTERS						\
	(MODERATO_XDP_RX_COUNTERS + MODERATO_XDP_TX_COUNTERS)

/* What suits ---------------------------------------------------------------- */

/* Return: why no program can run with these settings, and what to switch; or
 * NULL
 */
static inline const char *
moderato_xdp_unsuited(const struct moderato_config *config, unsigned int mtu)
{
	if (!config->rx_ops->polled)
		return "XDP needs NAPI: ethtool --set-priv-flags rx-napi on";
	if (config->rx_ops->shared)
		return "XDP needs one poll: ethtool --set-priv-flags rx-shared off";
	/* A hard interrupt must not use a page pool */
	if (!config->tx_ops->polled && !config->tx_ops->quiet)
		return "XDP needs NAPI: ethtool --set-priv-flags tx-napi on";
	if (mtu > MODERATO_XDP_MTU)
		return "XDP needs frames in one page: ip link set mtu 3500";
	return NULL;
}

/* The same for zero-copy sockets. @room: bytes of a chunk for a frame and what
 * the hardware writes ahead of it
 */
static inline const char *
moderato_xsk_unsuited(const struct moderato_config *config, unsigned int mtu,
		      u32 room)
{
	/* Sockets need the poll to send, too */
	if (!config->tx_ops->polled)
		return "zero copy needs NAPI: ethtool --set-priv-flags tx-reclaim-on-xmit off";
	if (MODERATO_STAMP_OCTETS + MODERATO_RX_OFFSET + MODERATO_OVERHEAD +
	    mtu > room)
		return "zero copy needs frames that fit into chunks: ip link set mtu 1500";
	return NULL;
}

/* The same for other settings
 * @urgent: there are rules for urgent frames, which leave the ring out of turn
 */
static inline const char *
moderato_xdp_unsuited_too(netdev_features_t features, bool urgent)
{
	if (features & NETIF_F_GRO_HW)
		return "XDP sees no merged segments: ethtool -K rx-gro-hw off";
	if (urgent)
		return "XDP knows no urgent frames: ethtool -N delete, each rule";
	return NULL;
}

/* Return: 0 if @why is NULL, or an error that @extack explains */
static inline int moderato_xdp_refuse(const char *why,
				      struct netlink_ext_ack *extack)
{
	if (!why)
		return 0;
	NL_SET_ERR_MSG_FMT_MOD(extack, "%s", why);
	return -EOPNOTSUPP;
}

/* What the hardware says of a frame ----------------------------------------- */

/* Called before the program, which may overwrite the timestamp ahead of the
 * frame. A tag in the frame counts as received.
 */
static inline void moderato_xdp_tell(const struct moderato_rx *rx, u32 slot,
				     u32 status, struct moderato_xdp_buff *buff,
				     struct moderato_rx_done *done)
{
	const __le64 *stamp = buff->xdp.data_hard_start + rx->headroom;

	buff->status = status;
	buff->desc = &rx->ring.desc[slot];
	if (status & MODERATO_DESC_STATUS_TAGGED)
		done->bytes += VLAN_HLEN;
	if (!(status & MODERATO_DESC_STATUS_STAMPED))
		return;
	buff->stamp[0] = lower_32_bits(le64_to_cpup(stamp));
	buff->stamp[1] = upper_32_bits(le64_to_cpup(stamp));
	buff->xdp.data += MODERATO_STAMP_OCTETS;
	buff->xdp.data_meta += MODERATO_STAMP_OCTETS;
	buff->xdp.data_end += MODERATO_STAMP_OCTETS;
}

/* Return: 0, or -ENODATA if the frame has no timestamp */
static inline int moderato_xdp_stamp(const struct moderato_xdp_buff *buff,
				     u64 *timestamp)
{
	if (!(buff->status & MODERATO_DESC_STATUS_STAMPED))
		return -ENODATA;
	*timestamp = (u64)buff->stamp[1] << 32 | buff->stamp[0];
	return 0;
}

/* Return: 0, or -ENODATA if no tag was stripped */
static inline int moderato_xdp_tag(const struct moderato_xdp_buff *buff,
				   __be16 *proto, u16 *tci)
{
	if (!(buff->status & MODERATO_DESC_STATUS_TAGGED))
		return -ENODATA;
	*proto = htons(ETH_P_8021Q);
	*tci = FIELD_GET(MODERATO_DESC_RX_CHECKSUM_TCI,
			 le32_to_cpu(buff->desc->checksum));
	return 0;
}

/* The same for an skb made of the frame in @slot. The program may have changed
 * the frame, so the hardware's sum does not apply.
 */
static inline void moderato_xdp_tell_skb(struct moderato_rx *rx, u32 slot,
					 const struct moderato_xdp_buff *buff,
					 struct sk_buff *skb)
{
	struct moderato_rx_done counted = {};
	u64 stamp;

	if (!moderato_xdp_stamp(buff, &stamp))
		skb_hwtstamps(skb)->hwtstamp = ns_to_ktime(stamp);
	moderato_rx_tell(rx, slot,
			 buff->status & ~MODERATO_DESC_STATUS_STAMPED, skb,
			 &counted);
	skb->ip_summed = CHECKSUM_NONE;
}

/* Frames on the ring that skbs leave by -------------------------------------- */

/* Slots reserved for skbs. A stopped queue wakes with this many, and frames
 * without skbs leave as many free: otherwise skbs would wait as long as there
 * are such frames.
 */
static inline u32 moderato_xdp_space(const struct moderato_tx *tx)
{
	u32 keep = moderato_tx_wake_threshold(tx);
	u32 space = moderato_tx_space(tx);

	return space > keep ? space - keep : 0;
}

/* Posts a frame without an skb. The slot at the producer index must be free.
 * Return: the slot, whose owner the caller sets
 */
static inline struct moderato_tx_buf *
moderato_xdp_post(struct moderato_tx *tx, dma_addr_t dma, u32 len, u8 flags)
{
	struct moderato_ring *ring = &tx->ring;
	u32 slot = moderato_slot(ring->producer, ring->order);
	struct moderato_desc *desc = &ring->desc[slot];
	struct moderato_tx_buf *buf = &tx->buf[slot];

	buf->dma = dma;
	buf->len = len;
	buf->segs = 1;
	buf->more = 0;
	buf->flags = flags | MODERATO_TX_PLANNED;
	desc->address = cpu_to_le32(dma);
	desc->control = cpu_to_le32(FIELD_PREP(MODERATO_DESC_CONTROL_LENGTH,
					       len));
	/* Such a frame requests nothing else */
	if (tx->asks) {
		moderato_tx_put_status(ring, ring->producer, 0);
		desc->checksum = 0;
	}
	ring->producer++;
	return buf;
}

static inline void moderato_xdp_post_frame(struct moderato_tx *tx,
					   struct xdp_frame *frame,
					   dma_addr_t dma, u8 flags)
{
	moderato_xdp_post(tx, dma, frame->len,
			  flags | MODERATO_TX_FRAME)->frame = frame;
}

/* Return: the slot of the oldest frame, counted in @done; NULL if it is not
 * completed, or is an skb
 */
static inline struct moderato_tx_buf *
moderato_xdp_left(struct moderato_tx *tx, struct moderato_tx_done *done)
{
	struct moderato_ring *ring = &tx->ring;
	struct moderato_tx_buf *buf;
	u32 status;

	if (!moderato_ring_completed(ring, &status))
		return NULL;
	buf = &tx->buf[moderato_slot(ring->consumer, ring->order)];
	if (!(buf->flags & MODERATO_TX_FRAME))
		return NULL;
	done->frames++;
	if (likely(!(status & MODERATO_DESC_STATUS_ERROR))) {
		done->packets++;
		done->bytes += max_t(u32, buf->len, ETH_ZLEN);
	}
	return buf;
}

/* Counts --------------------------------------------------------------------- */

/* Counts @frames, of which @sent were taken; a negative @sent means none. The
 * others are lost.
 * Return: number of frames taken
 */
static inline unsigned int moderato_xdp_count_sent(unsigned int *count,
						   unsigned int frames, int sent)
{
	sent = max(sent, 0);
	count[MODERATO_XDP_SENT] += sent;
	count[MODERATO_XDP_SEND_FAILED] += frames - sent;
	return sent;
}

/* Adds a poll's counts */
static inline void moderato_xdp_count_rx(struct moderato_xdp_stats *stats,
					 const unsigned int *count)
{
	u64_stats_update_begin(&stats->rx_syncp);
	for (int i = 0; i < MODERATO_XDP_RX_COUNTERS; i++)
		u64_stats_add(&stats->rx[i], count[i]);
	u64_stats_update_end(&stats->rx_syncp);
}

/* Counts frames of another device, as moderato_xdp_count_sent() does */
static inline void moderato_xdp_count_tx(struct moderato_xdp_stats *stats,
					 int frames, int sent)
{
	sent = max(sent, 0);
	u64_stats_update_begin(&stats->tx_syncp);
	u64_stats_add(&stats->tx[MODERATO_XDP_XMIT], sent);
	u64_stats_add(&stats->tx[MODERATO_XDP_XMIT_FAILED], frames - sent);
	u64_stats_update_end(&stats->tx_syncp);
}

/* Adds one queue's to @data, in the order of the names */
static inline void moderato_xdp_sum(const struct moderato_xdp_stats *stats,
				    u64 *data)
{
	u64 rx[MODERATO_XDP_RX_COUNTERS], tx[MODERATO_XDP_TX_COUNTERS];
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&stats->rx_syncp);
		for (int i = 0; i < MODERATO_XDP_RX_COUNTERS; i++)
			rx[i] = u64_stats_read(&stats->rx[i]);
	} while (u64_stats_fetch_retry(&stats->rx_syncp, start));
	do {
		start = u64_stats_fetch_begin(&stats->tx_syncp);
		for (int i = 0; i < MODERATO_XDP_TX_COUNTERS; i++)
			tx[i] = u64_stats_read(&stats->tx[i]);
	} while (u64_stats_fetch_retry(&stats->tx_syncp, start));

	for (int i = 0; i < MODERATO_XDP_RX_COUNTERS; i++)
		data[i] += rx[i];
	for (int i = 0; i < MODERATO_XDP_TX_COUNTERS; i++)
		data[MODERATO_XDP_RX_COUNTERS + i] += tx[i];
}

#endif /* MODERATO_VERDICT_H */
