// SPDX-License-Identifier: GPL-2.0-only
/* AF_XDP without copies: frames are sent from the memory of a socket's owner. Only
 * the poll posts them, behind what it freed. They leave by the ring that skbs leave
 * by, of which a part is left to these.
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

/* What the sockets' owners have asked for, as far as there is room for it. Who has
 * asked for more need not ask again: something completes, and the poll comes.
 */
void moderato_xsk_send(struct moderato_tx *tx)
{
	const struct xdp_desc *descs;
	u32 space, count = 0;

	/* Without a link, too: they wait on the ring, as they would elsewhere, and
	 * leave by it when there is one, without anybody's asking again.
	 */
	if (!READ_ONCE(tx->pool))
		return;

	__netif_tx_lock(tx->txq, smp_processor_id());
	/* Pairs with moderato_tx_up() */
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
	/* The queue did not stand still if skbs had to wait for these */
	txq_trans_cond_update(tx->txq);
	moderato_tx_ring_doorbell(tx);
unlock:
	__netif_tx_unlock(tx->txq);
}

/* Takes what the hardware is done with off the ring, up to what is none of these.
 * The owners learn of all at once, in the order in which they asked. Return: how many
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

/* In the place of moderato_xdp_take(): the owners' frames and those of programs may
 * take turns on the ring
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

/* In the place of moderato_xdp_drop(). Its owner has it back, too. */
void moderato_xsk_drop(struct moderato_tx_buf *buf)
{
	if (buf->flags & MODERATO_TX_XSK)
		xsk_tx_completed(buf->pool, 1);
	else
		moderato_xdp_drop(buf);
}
