// SPDX-License-Identifier: GPL-2.0-only
/* Frames with a launch time (SO_TXTIME) on queues with `etf offload`. The launch
 * time has the place of the request for a checksum in the descriptor, so the CPU
 * sums these frames.
 */

#include <net/sock.h>

#include "moderato_launch.h"
#include "moderato_tc.h"

/* In deadline mode, etf sets the time to that of dequeuing: the frame leaves as
 * soon as it can.
 */
static bool moderato_launch_has_deadline(const struct sk_buff *skb)
{
	return skb->sk && sk_fullsock(skb->sk) &&
	       skb->sk->sk_txtime_deadline_mode;
}

/* Whether frames of the queue leave at their launch times */
static bool moderato_launch_on(const struct moderato_queue *q)
{
	return q->priv->tc && test_bit(q->index, &q->priv->tc->launch);
}

/* Called with the queue's lock held. Frames with timestamps complete after their
 * launch, for which they may have waited long: byte queue limits would keep the
 * next ones from the hardware until then.
 */
void moderato_launch_choose(struct moderato_tx *tx)
{
	if (moderato_launch_on(tx->queue))
		tx->prompt = false;
}

/* Plans the launch of @skb, if it has a time. Return: 0, or an error if the
 * hardware cannot send it at this time, or through the gate of its queue
 */
int moderato_launch_plan(struct moderato_tx *tx, struct sk_buff *skb,
			 struct moderato_tx_plan *plan)
{
	const struct moderato_queue *q = tx->queue;

	if (q->priv->tc && moderato_taprio_blocks(q, skb))
		return -EMSGSIZE;
	if (!moderato_launch_on(q) || !skb->tstamp ||
	    moderato_launch_has_deadline(skb))
		return 0;

	/* Segments would all have the same time */
	if (skb_is_gso(skb) ||
	    !moderato_launch_fits(skb->tstamp, ktime_get_clocktai())) {
		atomic_inc(&tx->queue->priv->tc->invalid);
		return -ERANGE;
	}
	if (skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb))
		return -EINVAL;
	if (skb_linearize(skb))
		return -ENOMEM;
	plan->way = MODERATO_TX_MAP;
	plan->flags |= MODERATO_TX_LAUNCH;
	plan->checksum = lower_32_bits(skb->tstamp);
	return 0;
}

/* Requests the launch of the frame posted last */
void moderato_launch_ask(struct moderato_tx *tx, struct sk_buff *skb)
{
	u32 slot = moderato_slot(tx->ring.producer - 1, tx->ring.order);

	tx->ring.desc[slot].control |=
		cpu_to_le32(MODERATO_DESC_CONTROL_LAUNCH |
			    MODERATO_DESC_CONTROL_DROP_LATE);
	/* The socket would mistake it for a software timestamp */
	skb->tstamp = 0;
}
