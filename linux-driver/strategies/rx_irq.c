// SPDX-License-Identifier: GPL-2.0-only
/* Receive strategy without NAPI: the hard interrupt itself turns completed
 * descriptors into skbs and puts them on the CPU's backlog queue. With
 * rx-frames 1, each interrupt serves one frame, as drivers did before NAPI.
 */

#include "moderato_budget.h"
#include "moderato_variants.h"

/* Return: number of descriptors taken, at most @budget */
static u32 moderato_rx_irq_receive(struct moderato_rx *rx, u32 budget)
{
	struct moderato_rx_done done = {};
	u32 status;

	while (budget-- && moderato_ring_completed(&rx->ring, &status)) {
		u16 index = moderato_rx_next(rx, &done);
		struct sk_buff *skb = moderato_rx_take(rx, index, status,
						       &done);

		if (likely(skb))
			netif_rx(skb);
	}
	moderato_rx_finish(rx, &done);
	return done.taken;
}

static void moderato_rx_irq_handle(struct moderato_rx *rx)
{
	u32 budget = moderato_budget(&rx->queue->config.rx, rx->ring.order);
	u32 taken = moderato_rx_irq_receive(rx, budget);

	moderato_rearm_after(rx->queue, &rx->ring, taken);
}

static void moderato_rx_irq_stop(struct moderato_rx *rx)
{
	local_bh_disable();
	moderato_rx_irq_receive(rx, moderato_size(rx->ring.order));
	local_bh_enable();
}

const struct moderato_rx_ops moderato_rx_irq_ops = {
	.stop = moderato_rx_irq_stop,
	.irq = moderato_rx_irq_handle,
	.schedule = moderato_rx_napi_schedule,
};
