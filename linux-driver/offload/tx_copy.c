// SPDX-License-Identifier: GPL-2.0-only
/* Sends what the hardware cannot send as it is: an skb in fragments, without a
 * checksum, or with GSO. The CPU has to touch each octet in any case, and does
 * so once: it copies, sums and segments it (moderato_cut.h) into buffers of the
 * ring.
 */

#include <linux/bitfield.h>
#include <linux/slab.h>

#include "moderato_cut.h"
#include "moderato_priv.h"

#define MODERATO_TX_FEATURES						\
	(NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_TSO | NETIF_F_TSO_ECN)

/* Called before register_netdev(). moderato_cut.h relies on the absence of
 * NETIF_F_HIGHDMA.
 */
void moderato_tx_features(struct net_device *ndev)
{
	const struct moderato_priv *priv = netdev_priv(ndev);

	ndev->hw_features |= MODERATO_TX_FEATURES;
	ndev->features |= MODERATO_TX_FEATURES;
	ndev->vlan_features |= MODERATO_TX_FEATURES;
	if (priv->features & MODERATO_FEATURES_RX_CHECKSUM) {
		ndev->hw_features |= NETIF_F_RXCSUM;
		ndev->features |= NETIF_F_RXCSUM;
	}
	/* Otherwise the hardware segments longer skbs */
	if (!(ndev->hw_features & NETIF_F_TSO6))
		netif_set_tso_max_segs(ndev, MODERATO_TSO_SEGS);
}

netdev_features_t moderato_fix_features(struct net_device *ndev,
					netdev_features_t features)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (moderato_tso_segs(priv->queue[0].config.tx_order) < MODERATO_TSO_SEGS)
		features &= ~NETIF_F_ALL_TSO;
	if (!(features & NETIF_F_GRO))
		features &= ~NETIF_F_GRO_HW;
	return features;
}

/* Buffers ------------------------------------------------------------------ */

/* Bytes of a copy buffer, for any alignment of the frame. All buffers of a ring
 * have one size: during a change of the MTU, another queue's old ring is still
 * up.
 */
static unsigned int moderato_copy_bytes(const struct moderato_tx *tx)
{
	return sizeof(u32) - 1 + ETH_HLEN + VLAN_HLEN + tx->copy_mtu;
}

/* A slot gets its buffer at its first copy, and keeps it: pure forwarding takes
 * no memory. Otherwise it is soon 2 KiB per slot if the Tx FIFO holds 4 KiB:
 * 512 KiB for the default ring.
 */
static u8 *moderato_copy_alloc(const struct moderato_tx *tx)
{
	return kmalloc(moderato_copy_bytes(tx), GFP_ATOMIC | __GFP_NOWARN);
}

/* The hardware may still read the buffers of a stuck ring */
void moderato_copies_free(struct moderato_tx *tx)
{
	u32 size = moderato_size(tx->ring.order);

	for (u32 slot = 0; !tx->ring.stuck && slot < size; slot++)
		kfree(tx->copies[slot]);
}

/* Data path ---------------------------------------------------------------- */

/* Return: the frame's octets, or a negative error */
static int moderato_copy_frame(struct moderato_tx *tx, u16 index,
			       struct sk_buff *skb, struct moderato_cut *cut,
			       const struct moderato_tx_plan *plan)
{
	u32 slot = moderato_slot(index, tx->ring.order);
	struct moderato_desc *desc = &tx->ring.desc[slot];
	struct moderato_tx_buf *buf = &tx->buf[slot];
	unsigned int len = moderato_cut_len(cut);
	u8 *frame;

	if (unlikely(!tx->copies[slot]))
		tx->copies[slot] = moderato_copy_alloc(tx);
	if (unlikely(!tx->copies[slot]))
		return -ENOMEM;
	frame = tx->copies[slot] + moderato_cut_offset(cut);
	moderato_cut_next(cut, frame);

	buf->dma = dma_map_single(tx->dev, frame, len, DMA_TO_DEVICE);
	if (unlikely(dma_mapping_error(tx->dev, buf->dma)))
		return -ENOMEM;
	buf->skb = skb;
	buf->len = len;
	buf->segs = 1;
	buf->more = 0;
	buf->flags = plan->flags | (tx->prompt ? MODERATO_TX_ACCOUNTED : 0);

	desc->address = cpu_to_le32(buf->dma);
	desc->control = cpu_to_le32(FIELD_PREP(MODERATO_DESC_CONTROL_LENGTH,
					       len));
	if (tx->asks) {
		moderato_tx_put_status(&tx->ring, index, plan->status);
		desc->checksum = cpu_to_le32(moderato_cut_insertion(cut));
	}
	return len;
}

/* Takes back the first @frames of an skb whose next frame could not be copied
 */
static void moderato_copies_undo(struct moderato_tx *tx, unsigned int frames)
{
	struct moderato_ring *ring = &tx->ring;

	while (frames--) {
		struct moderato_tx_buf *buf;

		buf = &tx->buf[moderato_slot(ring->producer + frames,
					     ring->order)];
		dma_unmap_single(tx->dev, buf->dma, buf->len, DMA_TO_DEVICE);
	}
}

/* Posts all frames of @skb, or none. Each descriptor holds a reference: the
 * data is not needed any more, but the socket must know how much has not left
 * (TCP small queues).
 *
 * Return: octets in these frames, or a negative error
 */
int moderato_tx_copy(struct moderato_tx *tx, struct sk_buff *skb,
		     const struct moderato_tx_plan *plan)
{
	struct moderato_ring *ring = &tx->ring;
	struct moderato_cut cut;
	unsigned int frames;
	int octets = 0;

	frames = moderato_cut_start(&cut, skb, plan->inserts);
	/* The stack knows their number and length, unless the skb comes from a
	 * packet socket or a virtual machine.
	 */
	if (unlikely(!frames || frames > moderato_size(ring->order) / 2 ||
		     moderato_cut_len(&cut) > moderato_copy_bytes(tx) -
					      (sizeof(u32) - 1)))
		return -EMSGSIZE;

	/* After the first GSO skb, the queue stops while the ring could not
	 * take the longest one.
	 */
	if (frames > 1)
		WRITE_ONCE(tx->reserve,
			   max3(frames, moderato_tso_segs(ring->order),
				(u32)tx->reserve));
	if (unlikely(moderato_tx_space(tx) < frames))
		return -EBUSY;

	for (unsigned int i = 0; i < frames; i++) {
		int len = moderato_copy_frame(tx, ring->producer + i, skb,
					      &cut, plan);

		if (unlikely(len < 0)) {
			moderato_copies_undo(tx, i);
			return len;
		}
		octets += len;
	}
	if (frames > 1)
		refcount_add(frames - 1, &skb->users);
	ring->producer += frames;
	return octets;
}
