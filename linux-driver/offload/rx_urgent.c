// SPDX-License-Identifier: GPL-2.0-only
/* Reception of urgent frames, which a rule of moderato_rxnfc.c marks: they
 * leave the ring ahead of earlier frames. Their descriptors stay, with a status
 * that marks the frame as gone.
 */

#include "moderato_variants.h"

/* Passes up to @budget urgent frames to the stack.
 *
 * Return: whether there were any
 */
bool moderato_rx_urgent(struct moderato_rx *rx, int budget)
{
	struct moderato_ring *ring = &rx->ring;
	struct moderato_rx_done done = {};
	LIST_HEAD(list);
	int work = 0;
	u32 status;

	/* After a time without rules, @looked may lag by more than a
	 * ring: at worst one round of frames is not searched
	 */
	if ((u16)(rx->looked - ring->consumer) > moderato_size(ring->order))
		rx->looked = ring->consumer;

	while (work < budget &&
	       moderato_ring_completed_at(ring, rx->looked, &status)) {
		u16 index = rx->looked++;
		struct sk_buff *skb;

		if (!(status & MODERATO_DESC_STATUS_URGENT))
			continue;
		skb = moderato_rx_take(rx, index, status, &done);
		if (skb)
			list_add_tail(&skb->list, &list);
		status &= ~MODERATO_DESC_STATUS_LENGTH;
		ring->desc[moderato_slot(index, ring->order)].status =
			cpu_to_le32(status);
		work++;
	}
	if (!work)
		return false;

	moderato_rx_finish(rx, &done);
	netif_receive_skb_list(&list);
	return true;
}

/* Polled again, but after another port that may have urgent frames, too */
int moderato_urgent_poll(struct napi_struct *napi, int budget)
{
	struct moderato_queue *q = container_of(napi, struct moderato_queue,
						napi);

	return moderato_rx_urgent(q->rx, budget) ?
		       budget : moderato_napi_poll(napi, budget);
}
