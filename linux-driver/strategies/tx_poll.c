// SPDX-License-Identifier: GPL-2.0-only
/* Transmission within NAPI: the hard interrupt masks itself and schedules the
 * poll, as the Rx interrupt does. The poll frees what was sent after it received.
 * Under load neither direction interrupts.
 */

#include "moderato_dim.h"

static void moderato_tx_poll_handle(struct moderato_tx *tx)
{
	struct moderato_queue *q = tx->queue;

	moderato_disarm(&tx->ring);
	WRITE_ONCE(tx->masked, true);
	READ_ONCE(q->config.rx_ops)->schedule(q);
}

/* Asked again under the queue's lock, which keeps transmissions out, and a
 * change of the ring or of who frees
 */
static bool moderato_tx_is_polled(const struct moderato_tx *tx)
{
	return READ_ONCE(tx->ops)->polled && !READ_ONCE(tx->draining);
}

/* Frees all that was sent: no more than a ring, so that the budget, which is
 * of received frames, need not bound it.
 * @budget: of the poll; 0 for netpoll, with interrupts off
 *
 * Return: how many frames
 */
unsigned int moderato_tx_poll(struct moderato_tx *tx, int budget)
{
	struct moderato_tx_done done = {};
	struct sk_buff *skb;

	if (!moderato_tx_is_polled(tx))
		return 0;
	/* netpoll may have come out of a transmission on this very CPU */
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

/* After the poll's end. What was sent since moderato_tx_poll() counts as
 * unreported, and raises the interrupt. A poll that had nothing to do with the
 * ring leaves it armed as it is.
 * @freed: frames that the last poll freed
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
