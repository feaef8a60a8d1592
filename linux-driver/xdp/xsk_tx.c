// SPDX-License-Identifier: GPL-2.0-only
/* Zero-copy AF_XDP: sends from the application's memory. Only the poll posts
 * these frames, after it has freed sent ones. They use a part of the ring that
 * skbs use.
 */

#include <net/xdp_sock_drv.h>

#include "moderato_verdict.h"

static void moderato_xsk_post(struct moderato_tx *tx,
			      const struct xdp_desc *desc)
{
	dma_addr_t dma = xsk_buff_raw_get_dma(tx->pool, desc->addr);

	xsk_buff_raw_dma_sync_for_device(tx->pool, dma, desc->len);
	moderato_xdp_post(tx, dma, desc->len, MODERATO_TX_XSK |
			  MODERATO_TX_POOLED)->pool = tx->pool;
}

/* Posts what applications have requested, as far as there is room. They need
 * not request the rest again: a completion brings the next poll.
 */
void moderato_xsk_send(struct moderato_tx *tx)
{
	const struct xdp_desc *descs;
	u32 space, count = 0;

	/* Without a link, too: they wait on the ring, and leave once there is
	 * one, without another request.
	 */
	if (!READ_ONCE(tx->pool))
		return;

	__netif_tx_lock(tx->txq, smp_processor_id());
	/* Pairs with the release in moderato_tx_up() */
	if (unlikely(!tx->pool || smp_load_acquire(&tx->draining)))
		goto unlock;

	space = moderato_xdp_space(tx);
	if (space)
		count = xsk_tx_peek_release_desc_batch(tx->pool, space);
	if (!count)
		goto unlock;

	descs = tx->pool->tx_descs;
	for (u32 i = 0; i < count; i++)
		moderato_xsk_post(tx, &descs[i]);
	/* For the watchdog: the queue makes progress while skbs wait for these
	 * frames
	 */
	txq_trans_cond_update(tx->txq);
	moderato_tx_ring_doorbell(tx);
unlock:
	__netif_tx_unlock(tx->txq);
}

/* Takes completed frames off the ring, up to the next one that is not a
 * socket's, and reports them to the application at once, in their order.
 * Return: number of frames
 */
static u32 moderato_xsk_complete(struct moderato_tx *tx,
				 struct moderato_tx_done *done)
{
	struct moderato_ring *ring = &tx->ring;
	u32 status, count = 0;

	while (moderato_ring_completed(ring, &status)) {
		u32 slot = moderato_slot(ring->consumer, ring->order);
		struct moderato_tx_buf *buf = &tx->buf[slot];

		if (!(buf->flags & MODERATO_TX_XSK))
			break;
		count++;
		if (likely(!(status & MODERATO_DESC_STATUS_ERROR))) {
			done->packets++;
			done->bytes += max_t(u32, buf->len, ETH_ZLEN);
		}
		/* As in moderato_tx_take() */
		smp_store_release(&ring->consumer, (u16)(ring->consumer + 1));
	}
	done->frames += count;
	if (count)
		xsk_tx_completed(tx->pool, count);
	return count;
}

/* Replaces moderato_xdp_take(): frames of sockets and of programs may alternate
 * on the ring
 */
struct sk_buff *moderato_xsk_take(struct moderato_tx *tx,
				  struct moderato_tx_done *done)
{
	struct sk_buff *skb;

	do {
		skb = moderato_xdp_take(tx, done);
	} while (!skb && moderato_xsk_complete(tx, done));
	return skb;
}

/* Replaces moderato_xdp_drop(), and reports the frame to the application */
void moderato_xsk_drop(struct moderato_tx_buf *buf)
{
	if (buf->flags & MODERATO_TX_XSK)
		xsk_tx_completed(buf->pool, 1);
	else
		moderato_xdp_drop(buf);
}
