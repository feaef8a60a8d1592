// SPDX-License-Identifier: GPL-2.0-only
/* XDP: sends frames without skbs, on the ring that skbs use, and frees them in
 * bulk
 */

#include <net/page_pool/helpers.h>

#include "moderato_verdict.h"

/* A frame of this device's own page pool, which keeps its pages mapped */
static void moderato_xdp_post_own(struct moderato_tx *tx,
				  struct xdp_frame *frame)
{
	struct page *page = virt_to_head_page(frame->data);
	dma_addr_t dma = page_pool_get_dma_addr(page) +
			 (frame->data - page_address(page));

	dma_sync_single_for_device(tx->dev, dma, frame->len, DMA_BIDIRECTIONAL);
	moderato_xdp_post_frame(tx, frame, dma, MODERATO_TX_POOLED);
}

/* Return: false if it cannot be mapped */
static bool moderato_xdp_post_other(struct moderato_tx *tx,
				    struct xdp_frame *frame)
{
	dma_addr_t dma = dma_map_page(tx->dev, virt_to_page(frame->data),
				      offset_in_page(frame->data), frame->len,
				      DMA_TO_DEVICE);

	if (unlikely(dma_mapping_error(tx->dev, dma)))
		return false;
	moderato_xdp_post_frame(tx, frame, dma, 0);
	return true;
}

/* Return: number of frames, or -ENETDOWN */
static int moderato_xdp_post_all(struct moderato_tx *tx,
				 struct xdp_frame **frame,
				 unsigned int frames, bool own, bool flush)
{
	unsigned int sent = 0;

	/* Without a link, frames would stay on the ring */
	if (unlikely(!netif_carrier_ok(tx->ndev) || !tx->drop_frame))
		return -ENETDOWN;
	/* Pairs with the release in moderato_tx_up() */
	if (unlikely(smp_load_acquire(&tx->draining)))
		return -ENETDOWN;

	if (tx->ops->prepare)
		tx->ops->prepare(tx);

	frames = min(frames, moderato_xdp_space(tx));
	for (; sent < frames; sent++)
		if (own)
			moderato_xdp_post_own(tx, frame[sent]);
		else if (!moderato_xdp_post_other(tx, frame[sent]))
			break;

	/* For the watchdog: the queue makes progress while skbs wait for these
	 * frames
	 */
	if (sent)
		txq_trans_cond_update(tx->txq);
	if (flush)
		moderato_tx_ring_doorbell(tx);
	if (tx->ops->posted)
		tx->ops->posted(tx);
	return sent;
}

/* Posts @frames, as many as the ring takes. They share the ring with skbs.
 * @own: they are of this device's own pool
 *
 * Return: number of frames, or -ENETDOWN
 */
int moderato_xdp_send(struct moderato_tx *tx, struct xdp_frame **frame,
		      unsigned int frames, bool own, bool flush)
{
	int sent;

	__netif_tx_lock(tx->txq, smp_processor_id());
	sent = moderato_xdp_post_all(tx, frame, frames, own, flush);
	__netif_tx_unlock(tx->txq);
	return sent;
}

/* Sends frames of other devices, in the poll of one of them */
int moderato_xdp_xmit(struct net_device *ndev, int frames,
		      struct xdp_frame **frame, u32 flags)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_queue *q;
	struct moderato_tx *tx;
	int sent;

	if (unlikely(flags & ~XDP_XMIT_FLAGS_MASK))
		return -EINVAL;
	/* Rings exist until a grace period after the port stops */
	if (unlikely(!netif_running(ndev)))
		return -ENETDOWN;

	q = priv->queue + smp_processor_id() % READ_ONCE(priv->used);
	tx = READ_ONCE(q->tx);
	/* netif_running() is true before the rings exist */
	if (unlikely(!tx))
		return -ENETDOWN;
	__netif_tx_lock(tx->txq, smp_processor_id());
	sent = moderato_xdp_post_all(tx, frame, frames, false,
				     flags & XDP_XMIT_FLUSH);
	/* Under the lock, since several CPUs may send by one queue */
	moderato_xdp_count_tx(&priv->xdp->stats[q->index], frames, sent);
	__netif_tx_unlock(tx->txq);
	return sent;
}

/* Frees completed frames in bulk, up to the next slot without one */
static __always_inline void moderato_xdp_take_bulk(struct moderato_tx *tx,
						   struct moderato_tx_done *done)
{
	struct moderato_ring *ring = &tx->ring;
	struct moderato_tx_buf *buf;
	struct xdp_frame_bulk bulk;

	xdp_frame_bulk_init(&bulk);
	rcu_read_lock();
	while ((buf = moderato_xdp_left(tx, done))) {
		if (!(buf->flags & MODERATO_TX_POOLED))
			dma_unmap_page(tx->dev, buf->dma, buf->len,
				       DMA_TO_DEVICE);
		xdp_return_frame_bulk(buf->frame, &bulk);
		/* As in moderato_tx_take() */
		smp_store_release(&ring->consumer, (u16)(ring->consumer + 1));
	}
	xdp_flush_frame_bulk(&bulk);
	rcu_read_unlock();
}

/* The same with interrupts off, perhaps for ever: netpoll in a panic. Page
 * pools are for softirqs, so these frames leave only their slots. A list links
 * them by a field that is for reception.
 */
static void moderato_xdp_set_aside(struct moderato_tx *tx,
				   struct moderato_tx_done *done)
{
	struct moderato_ring *ring = &tx->ring;
	struct moderato_tx_buf *buf;

	while ((buf = moderato_xdp_left(tx, done))) {
		if (!(buf->flags & MODERATO_TX_POOLED))
			dma_unmap_page(tx->dev, buf->dma, buf->len,
				       DMA_TO_DEVICE);
		buf->frame->dev_rx = (struct net_device *)tx->aside;
		tx->aside = buf->frame;
		/* As in moderato_tx_take() */
		smp_store_release(&ring->consumer, (u16)(ring->consumer + 1));
	}
}

/* Called in a later poll, or at the end of the ring */
void moderato_xdp_free_aside(struct moderato_tx *tx)
{
	while (tx->aside) {
		struct xdp_frame *frame = tx->aside;

		tx->aside = (struct xdp_frame *)frame->dev_rx;
		xdp_return_frame(frame);
	}
}

/* Replaces moderato_tx_take_planned(): takes frames up to the next skb, or up
 * to a socket's frame (moderato_xsk_take()). A loop, since more may complete
 * meanwhile.
 */
struct sk_buff *moderato_xdp_take(struct moderato_tx *tx,
				  struct moderato_tx_done *done)
{
	struct moderato_ring *ring = &tx->ring;
	u32 status;

	while (moderato_ring_completed(ring, &status)) {
		u32 slot = moderato_slot(ring->consumer, ring->order);
		u8 flags = tx->buf[slot].flags;

		if (!(flags & MODERATO_TX_PLANNED))
			return moderato_tx_take(tx, done);
		if (flags & MODERATO_TX_XSK)
			return NULL;
		if (!(flags & MODERATO_TX_FRAME))
			return moderato_tx_take_planned(tx, done);
		if (unlikely(irqs_disabled())) {
			moderato_xdp_set_aside(tx, done);
			continue;
		}
		moderato_xdp_take_bulk(tx, done);
		moderato_xdp_free_aside(tx);
	}
	return NULL;
}

void moderato_xdp_drop(struct moderato_tx_buf *buf)
{
	xdp_return_frame(buf->frame);
}
