// SPDX-License-Identifier: GPL-2.0-only
/* Transmit strategy without a poll: the hardware counts tx-frames completions,
 * or waits for tx-usecs; the hard interrupt then frees all their skbs with
 * interrupts off. With tx-frames 1 it frees the one skb that it reports:
 * further completions count as unreported at the re-arm, and raise the next
 * interrupt.
 */

#include "moderato_budget.h"
#include "moderato_variants.h"

static void moderato_tx_irq_handle(struct moderato_tx *tx)
{
	struct moderato_queue *q = tx->queue;
	u32 budget = moderato_budget(&q->config.tx, tx->ring.order);
	struct moderato_tx_done done = {};
	struct sk_buff *skb;

	WRITE_ONCE(tx->in_irq, true);
	do {
		skb = moderato_tx_take(tx, &done);
		if (!skb)
			break;
		dev_consume_skb_irq(skb);
	} while (--budget);
	moderato_tx_finish(tx, &done);
	moderato_rearm_after(q, &tx->ring, done.frames);
	WRITE_ONCE(tx->in_irq, false);
}

const struct moderato_tx_ops moderato_tx_irq_ops = {
	.irq = moderato_tx_irq_handle,
};
