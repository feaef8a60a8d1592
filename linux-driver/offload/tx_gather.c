// SPDX-License-Identifier: GPL-2.0-only
/* Scatter-gather and segmentation by the hardware: the skb's linear part and
 * each fragment have a descriptor. A GSO skb has one more for its headers, if
 * data follows them.
 */

#include <linux/bitfield.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "moderato_priv.h"

/* Headers, data after them in the linear part, and fragments */
#define MODERATO_TX_PIECES	(2 + MAX_SKB_FRAGS)

#define MODERATO_TX_GSO		(SKB_GSO_TCPV4 | SKB_GSO_TCPV6)

/* Whether the hardware segments @skb. Headers of skbs from outside the stack
 * may be anywhere, and too long.
 */
static bool moderato_tx_segments(const struct moderato_priv *priv,
				 const struct sk_buff *skb)
{
	unsigned int most = ETH_HLEN + VLAN_HLEN + priv->copy_mtu;
	const struct skb_shared_info *info = skb_shinfo(skb);
	unsigned int start = skb_transport_offset(skb);
	unsigned int header = start + sizeof(struct tcphdr);

	if (!(priv->features & MODERATO_FEATURES_SEGMENT) ||
	    !(info->gso_type & MODERATO_TX_GSO) ||
	    info->gso_type & ~(MODERATO_TX_GSO | SKB_GSO_TCP_ECN |
			       SKB_GSO_DODGY) ||
	    skb->ip_summed != CHECKSUM_PARTIAL || header > skb_headlen(skb) ||
	    (start | skb_network_offset(skb)) & 1)
		return false;

	header = start + tcp_hdrlen(skb);
	return header <= min(skb_headlen(skb), MODERATO_TX_HEADER_BYTES) &&
	       header + info->gso_size <= most &&
	       skb->len > header && skb->len - header <= U16_MAX;
}

/* The stack segments what the hardware cannot */
static netdev_features_t
moderato_features_check(struct sk_buff *skb, struct net_device *ndev,
			netdev_features_t features)
{
	const struct moderato_priv *priv = netdev_priv(ndev);

	if (skb_is_gso(skb) && !moderato_tx_segments(priv, skb))
		features &= ~NETIF_F_GSO_MASK;
	return vlan_features_check(skb, features);
}

/* Number of descriptors */
static unsigned int moderato_tx_pieces(const struct sk_buff *skb)
{
	unsigned int pieces = 1 + skb_shinfo(skb)->nr_frags;

	if (skb_is_gso(skb) && skb_headlen(skb) > skb_tcp_all_headers(skb))
		pieces++;
	return pieces;
}

/* Whether an skb in pieces can be gathered, rather than copied. On a short
 * ring, pieces would wait for the whole ring.
 */
static bool moderato_tx_gathers(const struct moderato_tx *tx,
				const struct sk_buff *skb,
				struct moderato_tx_plan *plan)
{
	if (skb_has_frag_list(skb))
		return false;
	if (skb_is_gso(skb)) {
		if (!moderato_tx_segments(tx->queue->priv, skb))
			return false;
	} else if ((skb->ip_summed == CHECKSUM_PARTIAL && !plan->inserts) ||
		   !skb_headlen(skb) || skb->len > U16_MAX) {
		return false;
	}
	plan->pieces = moderato_tx_pieces(skb);
	return plan->pieces <= moderato_size(tx->ring.order) / 2;
}

static struct moderato_desc *moderato_tx_desc(struct moderato_tx *tx, u16 index)
{
	return &tx->ring.desc[moderato_slot(index, tx->ring.order)];
}

/* Posts a piece at @dma in the slot @index; @more pieces follow */
static void moderato_tx_piece(struct moderato_tx *tx, u16 index, dma_addr_t dma,
			      unsigned int len, bool more)
{
	struct moderato_desc *desc = moderato_tx_desc(tx, index);
	u32 control;

	control = FIELD_PREP(MODERATO_DESC_CONTROL_LENGTH, len);
	/* Only the last piece of a frame may raise an interrupt */
	if (more)
		control |= MODERATO_DESC_CONTROL_MORE |
			   MODERATO_DESC_CONTROL_NO_INTERRUPT;
	desc->address = cpu_to_le32(dma);
	desc->control = cpu_to_le32(control);
}

static struct moderato_tx_buf *moderato_tx_slot(struct moderato_tx *tx,
						u16 index)
{
	return &tx->buf[moderato_slot(index, tx->ring.order)];
}

/* Takes back the first @slots of an skb whose next piece could not be mapped */
static void moderato_tx_gather_undo(struct moderato_tx *tx, u16 slots)
{
	while (slots--)
		moderato_tx_unmap(tx, moderato_tx_slot(tx, tx->ring.producer +
						       slots));
}

/* The hardware adds each segment's length to the sum of the pseudo-header, and
 * writes all header fields that differ, without reading them. So the headers
 * must not be shared, as with a tap.
 */
static int moderato_tx_pseudo(struct sk_buff *skb)
{
	if (unlikely(skb_cow_head(skb, 0)))
		return -ENOMEM;
	if (skb_shinfo(skb)->gso_type & SKB_GSO_TCPV6)
		tcp_v6_gso_csum_prep(skb);
	else
		tcp_hdr(skb)->check = ~tcp_v4_check(0, ip_hdr(skb)->saddr,
						    ip_hdr(skb)->daddr, 0);
	return 0;
}

/* Marks the slot @index as the headers of @skb */
static void moderato_tx_headers(struct moderato_tx *tx, u16 index,
				const struct sk_buff *skb)
{
	struct moderato_desc *desc = moderato_tx_desc(tx, index);
	unsigned int payload = skb->len - skb_tcp_all_headers(skb);
	u32 mss = FIELD_PREP(MODERATO_DESC_TX_MSS_MSS,
			     skb_shinfo(skb)->gso_size);
	u32 network = skb_network_offset(skb) / 2;

	desc->control |=
		cpu_to_le32(MODERATO_DESC_CONTROL_SEGMENT |
			    FIELD_PREP(MODERATO_DESC_CONTROL_NETWORK, network));
	desc->checksum =
		cpu_to_le32(FIELD_PREP(MODERATO_DESC_TX_SEGMENT_START,
				       skb_transport_offset(skb)) |
			    FIELD_PREP(MODERATO_DESC_TX_SEGMENT_PAYLOAD,
				       payload));
	/* Keep the tag */
	WRITE_ONCE(desc->status, desc->status | cpu_to_le32(mss));
}

/* Number of segments, which the stack may not have calculated */
static unsigned int moderato_tx_segs(const struct sk_buff *skb)
{
	if (!skb_is_gso(skb))
		return 1;
	return DIV_ROUND_UP(skb->len - skb_tcp_all_headers(skb),
			    skb_shinfo(skb)->gso_size);
}

/* Posts @skb, or nothing. Return: its octets, or a negative error */
static int moderato_tx_gather(struct moderato_tx *tx, struct sk_buff *skb,
			      const struct moderato_tx_plan *plan)
{
	unsigned int pieces = plan->pieces;
	const struct skb_shared_info *info;
	struct moderato_ring *ring = &tx->ring;
	struct device *dev = tx->dev;
	struct moderato_tx_buf *buf;
	bool gso = skb_is_gso(skb);
	u16 index = ring->producer;
	u16 last = index + pieces - 1;
	unsigned int header;

	/* After the first long skb, the queue stops while the ring could not
	 * take the longest one.
	 */
	WRITE_ONCE(tx->reserve,
		   max_t(u16, tx->reserve,
			 min(MODERATO_TX_PIECES,
			     moderato_size(ring->order) / 2)));
	if (unlikely(moderato_tx_space(tx) < pieces))
		return -EBUSY;
	if (gso && moderato_tx_pseudo(skb))
		return -ENOMEM;
	/* moderato_tx_pseudo() may have replaced the head */
	info = skb_shinfo(skb);

	buf = moderato_tx_slot(tx, index);
	buf->len = skb_headlen(skb);
	buf->dma = dma_map_single(dev, skb->data, buf->len, DMA_TO_DEVICE);
	if (unlikely(dma_mapping_error(dev, buf->dma)))
		return -ENOMEM;
	buf->skb = skb;
	buf->segs = moderato_tx_segs(skb);
	buf->more = pieces - 1;
	buf->flags = plan->flags | MODERATO_TX_PLANNED |
		     (tx->prompt ? MODERATO_TX_ACCOUNTED : 0);
	header = gso ? skb_tcp_all_headers(skb) : buf->len;
	moderato_tx_piece(tx, index, buf->dma, header, index != last);
	moderato_tx_put_status(ring, index, plan->status);
	if (gso)
		moderato_tx_headers(tx, index, skb);
	else
		moderato_tx_desc(tx, index)->checksum =
			cpu_to_le32(plan->checksum);

	if (header != buf->len) {
		dma_addr_t dma = buf->dma + header;
		unsigned int len = buf->len - header;

		buf = moderato_tx_slot(tx, ++index);
		buf->skb = NULL;
		buf->len = 0;
		buf->segs = 0;
		buf->more = 0;
		buf->flags = 0;
		moderato_tx_piece(tx, index, dma, len, index != last);
	}

	for (unsigned int i = 0; i < info->nr_frags; i++) {
		const skb_frag_t *frag = &info->frags[i];

		buf = moderato_tx_slot(tx, ++index);
		buf->len = skb_frag_size(frag);
		buf->dma = skb_frag_dma_map(dev, frag, 0, buf->len,
					    DMA_TO_DEVICE);
		if (unlikely(dma_mapping_error(dev, buf->dma))) {
			moderato_tx_gather_undo(tx, index - ring->producer);
			return -ENOMEM;
		}
		buf->skb = NULL;
		buf->segs = 0;
		buf->more = 0;
		buf->flags = MODERATO_TX_PAGE;
		moderato_tx_piece(tx, index, buf->dma, buf->len, index != last);
	}
	ring->producer = last + 1;
	return skb->len;
}

static const struct moderato_gather_ops moderato_gather_ops = {
	.plans = moderato_tx_gathers,
	.post = moderato_tx_gather,
};

void moderato_gather_create(struct moderato_tx *tx)
{
	if (!(tx->queue->priv->features & MODERATO_FEATURES_GATHER))
		return;
	tx->gather = &moderato_gather_ops;
	tx->asks = true;
}

int moderato_gather_init(struct moderato_priv *priv)
{
	struct net_device *ndev = priv->ndev;

	if (priv->features & MODERATO_FEATURES_SEGMENT) {
		priv->netdev_ops.ndo_features_check = moderato_features_check;
		ndev->hw_features |= NETIF_F_TSO6;
		ndev->features |= NETIF_F_TSO6;
		ndev->vlan_features |= NETIF_F_TSO6;
	}
	return 0;
}
