// SPDX-License-Identifier: GPL-2.0-only
/* Transmit strategy with one interrupt per frame: the hard interrupt frees
 * the skb of the frame that it reports.
 */

#include "moderato.h"

static void moderato_tx_irq_handle(struct moderato_tx *tx)
{
	struct moderato_tx_done done = {};
	struct sk_buff *skb;

	/* A second completed frame counts as unreported when re-arming, and
	 * raises the next interrupt.
	 */
	skb = moderato_tx_take(tx, &done);
	if (likely(skb))
		dev_consume_skb_irq(skb);
	moderato_tx_finish(tx, &done);
	moderato_rearm_after(tx->priv, &tx->ring, done.frames);
}

const struct moderato_tx_ops moderato_tx_irq_ops = {
	.irq = moderato_tx_irq_handle,
};
