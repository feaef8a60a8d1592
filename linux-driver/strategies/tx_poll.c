// SPDX-License-Identifier: GPL-2.0-only
/* Transmit strategy with NAPI: the hard interrupt masks itself and schedules
 * the poll, as the Rx interrupt does. The poll frees sent skbs after it has
 * received. Under load, neither direction interrupts.
 */

#include "moderato_dim.h"

static void moderato_tx_poll_handle(struct moderato_tx *tx)
{
	struct moderato_queue *q = tx->queue;

	moderato_disarm(&tx->ring);
	WRITE_ONCE(tx->masked, true);
	READ_ONCE(q->config.rx_ops)->schedule(q);
}

/* Checked again under the queue's lock, which keeps out transmissions, a change
 * of the ring, and a change of the strategy
 */
static bool moderato_tx_is_polled(const struct moderato_tx *tx)
{
	return READ_ONCE(tx->ops)->polled && !READ_ONCE(tx->draining);
}

/* Frees all sent skbs. There is at most a ring of them, so the budget, which
 * limits received frames, need not limit them.
 * @budget: of the poll; 0 for netpoll, with interrupts off
 *
 * Return: number of frames
 */
unsigned int moderato_tx_poll(struct moderato_tx *tx, int budget)
{
	struct moderato_tx_done done = {};
	struct sk_buff *skb;

	if (!moderato_tx_is_polled(tx))
		return 0;
	/* netpoll may have interrupted a transmission on this CPU */
	if (!budget && READ_ONCE(tx->txq->xmit_lock_owner) >= 0)
		return 0;

	__netif_tx_lock(tx->txq, smp_processor_id());
	if (moderato_tx_is_polled(tx)) {
		while ((skb = moderato_tx_take(tx, &done)))
			napi_consume_skb(skb, budget);
		moderato_tx_finish(tx, &done);
	}
	__netif_tx_unlock(tx->txq);
	return done.frames;
}

/* Ends the poll. Frames completed since moderato_tx_poll() count as unreported,
 * and raise the interrupt. A poll that was not for this ring leaves it armed.
 * @freed: number of frames that the last poll freed
 */
void moderato_tx_poll_end(struct moderato_tx *tx, unsigned int freed)
{
	if (!freed && !READ_ONCE(tx->masked))
		return;
	if (!moderato_tx_is_polled(tx))
		return;

	__netif_tx_lock(tx->txq, smp_processor_id());
	if (moderato_tx_is_polled(tx)) {
		WRITE_ONCE(tx->masked, false);
		moderato_rearm_after(tx->queue, &tx->ring, freed);
		if (moderato_tx_adapts(&tx->queue->config))
			moderato_dim_tx_event(tx->queue);
	}
	__netif_tx_unlock(tx->txq);
}

const struct moderato_tx_ops moderato_tx_poll_ops = {
	.polled = true,
	.irq = moderato_tx_poll_handle,
};
