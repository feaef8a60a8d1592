// SPDX-License-Identifier: GPL-2.0-only
/* Transmit strategy with moderated interrupts: the hardware counts tx-frames
 * completions, or waits for tx-usecs, and the hard interrupt then frees all
 * their skbs, however many, with interrupts off.
 */

#include "moderato.h"

static void moderato_tx_count_handle(struct moderato_tx *tx)
{
	u32 budget = moderato_budget(&tx->priv->config.tx, tx->ring.order);
	struct moderato_tx_done done = {};

	while (budget--) {
		struct sk_buff *skb = moderato_tx_take(tx, &done);

		if (!skb)
			break;
		dev_consume_skb_irq(skb);
	}
	moderato_tx_finish(tx, &done);
	moderato_rearm_after(tx->priv, &tx->ring, done.frames);
}

const struct moderato_tx_ops moderato_tx_count_ops = {
	.irq = moderato_tx_count_handle,
};
