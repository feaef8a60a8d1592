// SPDX-License-Identifier: GPL-2.0-only
/* Frames that the hardware reads from where their pieces lie: the skb's linear
 * part and its fragments have a descriptor each.
 */

#include <linux/bitfield.h>

#include "moderato.h"

/* The skb's linear part, and its fragments */
#define MODERATO_TX_PIECES	(1 + MAX_SKB_FRAGS)

/* In descriptors */
static unsigned int moderato_tx_pieces(const struct sk_buff *skb)
{
	return 1 + skb_shinfo(skb)->nr_frags;
}

/* Whether @skb, which is not sent from one piece of memory, need not be copied
 * for that. On a short ring, some would wait for all of it.
 */
bool moderato_tx_gathers(const struct moderato_tx *tx,
			 const struct sk_buff *skb)
{
	if (!moderato_has_gather(tx->priv) || skb_is_gso(skb) ||
	    skb_has_frag_list(skb))
		return false;
	if (skb->ip_summed == CHECKSUM_PARTIAL && !moderato_tx_inserts(tx, skb))
		return false;
	return skb_headlen(skb) && skb->len <= U16_MAX &&
	       moderato_tx_pieces(skb) <= moderato_size(tx->ring.order) / 2;
}

/* A piece at @dma for the slot @index; its frame has @more beyond it */
static void moderato_tx_piece(struct moderato_tx *tx, u16 index, dma_addr_t dma,
			      unsigned int len, bool more)
{
	struct moderato_desc *desc;
	u32 control;

	desc = &tx->ring.desc[moderato_slot(index, tx->ring.order)];
	control = FIELD_PREP(MODERATO_DESC_CONTROL_LENGTH, len);
	/* Nobody waits for a part of a frame */
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

/* The first @slots of an skb whose next piece could not be mapped */
static void moderato_tx_gather_undo(struct moderato_tx *tx, u16 slots)
{
	while (slots--)
		moderato_tx_unmap(tx, moderato_tx_slot(tx, tx->ring.producer +
						       slots));
}

/* Posts @skb, or nothing. Return: its octets, or a negative error */
int moderato_tx_gather(struct moderato_tx *tx, struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	unsigned int pieces = moderato_tx_pieces(skb);
	struct moderato_ring *ring = &tx->ring;
	struct device *dev = tx->priv->dev;
	struct moderato_tx_buf *buf;
	u16 index = ring->producer;
	u16 last = index + pieces - 1;

	/* From the first one on, the queue stops while the ring could not take
	 * the longest one.
	 */
	WRITE_ONCE(tx->reserve,
		   max_t(u16, tx->reserve,
			 min(MODERATO_TX_PIECES,
			     moderato_size(ring->order) / 2)));
	if (unlikely(moderato_tx_space(tx) < pieces))
		return -EBUSY;

	buf = moderato_tx_slot(tx, index);
	buf->len = skb_headlen(skb);
	buf->dma = dma_map_single(dev, skb->data, buf->len, DMA_TO_DEVICE);
	if (unlikely(dma_mapping_error(dev, buf->dma)))
		return -ENOMEM;
	buf->skb = skb;
	buf->more = pieces - 1;
	buf->accounted = tx->prompt;
	buf->page = false;
	moderato_tx_piece(tx, index, buf->dma, buf->len, index != last);
	ring->desc[moderato_slot(index, ring->order)].checksum =
		cpu_to_le32(moderato_tx_insertion(skb));

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
		buf->more = 0;
		buf->page = true;
		moderato_tx_piece(tx, index, buf->dma, buf->len, index != last);
	}
	ring->producer = last + 1;
	return skb->len;
}
