// SPDX-License-Identifier: GPL-2.0-only
/* Receive strategy with NAPI, of one ring that two CPUs share (mode 1 of Yao et
 * al., 2014): the CPU that took the interrupt polls. When more frames wait than
 * it takes at once, it wakes another CPU through an IPI, whose poll receives from
 * the same ring until that is empty.
 *
 * One of them at a time takes frames off the ring; the stack has them without a
 * lock. So frames of one flow may overtake each other, by as many as are taken
 * at once. Receive packet steering keeps them in order.
 */

#include <linux/cpumask.h>
#include <net/busy_poll.h>

#include "moderato.h"

/* On the CPU that is woken */
static void moderato_shared_ipi(void *data)
{
	struct moderato_helper *helper = data;

	napi_schedule_irqoff(&helper->napi);
}

static void moderato_shared_wake(struct moderato_helper *helper)
{
	int cpu;

	if (atomic_read(&helper->busy) || atomic_xchg(&helper->busy, true))
		return;
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	/* None, or it is about to go offline */
	if (cpu >= nr_cpu_ids ||
	    smp_call_function_single_async(cpu, &helper->csd))
		atomic_set(&helper->busy, false);
}

/* Up to @budget at once, so that each layer's code is fetched once for all of
 * them
 *
 * Return: how many descriptors were taken
 */
static int moderato_shared_receive(struct moderato_rx *rx,
				   struct napi_struct *napi, int budget)
{
	struct moderato_helper *helper = &rx->priv->helper;
	bool gro = napi->dev->features & NETIF_F_GRO;
	struct moderato_ring *ring = &rx->ring;
	struct moderato_rx_done done = {};
	struct sk_buff *skb, *next;
	LIST_HEAD(list);
	bool waiting;
	u32 status;

	/* For netpoll */
	if (!budget)
		return 0;

	spin_lock(&helper->lock);
	while (done.taken < budget && moderato_ring_completed(ring, &status)) {
		u16 index = moderato_rx_next(rx, &done);

		skb = moderato_rx_take(rx, index, status, &done);
		if (likely(skb))
			list_add_tail(&skb->list, &list);
	}
	if (done.taken)
		moderato_rx_finish(rx, &done);
	waiting = moderato_ring_completed_at(ring, ring->consumer + budget,
					     &status);
	spin_unlock(&helper->lock);

	if (waiting)
		moderato_shared_wake(helper);
	list_for_each_entry_safe(skb, next, &list, list) {
		skb_mark_napi_id(skb, napi);
		if (gro) {
			skb_list_del_init(skb);
			napi_gro_receive(napi, skb);
		}
	}
	netif_receive_skb_list(&list);
	return done.taken;
}

int moderato_shared_poll(struct moderato_rx *rx, int budget)
{
	struct moderato_priv *priv = rx->priv;
	struct moderato_helper *helper = &priv->helper;
	struct moderato_tx *tx = READ_ONCE(priv->tx);
	unsigned int freed;
	int work;

	if (READ_ONCE(priv->urgent) && budget) {
		bool any;

		spin_lock(&helper->lock);
		any = moderato_rx_urgent(rx, budget);
		spin_unlock(&helper->lock);
		if (any)
			return budget;
	}
	work = moderato_shared_receive(rx, &priv->napi, budget);
	freed = moderato_tx_poll(tx, budget);

	if (work < budget && napi_complete_done(&priv->napi, work)) {
		/* With the index of the other CPU's last frame */
		spin_lock(&helper->lock);
		moderato_napi_end(rx, tx, work, freed);
		spin_unlock(&helper->lock);
	}
	return work;
}

/* The other CPU's */
static int moderato_helper_poll(struct napi_struct *napi, int budget)
{
	struct moderato_helper *helper =
		container_of(napi, struct moderato_helper, napi);
	struct moderato_priv *priv =
		container_of(helper, struct moderato_priv, helper);
	int work = moderato_shared_receive(priv->rx, napi, budget);

	if (work < budget && napi_complete_done(napi, work))
		atomic_set(&helper->busy, false);
	return work;
}

void moderato_shared_init(struct moderato_priv *priv)
{
	struct moderato_helper *helper = &priv->helper;

	spin_lock_init(&helper->lock);
	INIT_CSD(&helper->csd, moderato_shared_ipi, helper);
	netif_napi_add_weight(priv->ndev, &helper->napi, moderato_helper_poll,
			      MODERATO_NAPI_WEIGHT);
}

static void moderato_shared_up(struct moderato_rx *rx)
{
	struct moderato_helper *helper = &rx->priv->helper;

	atomic_set(&helper->busy, false);
	napi_enable(&helper->napi);
	moderato_rx_napi_up(rx);
}

/* Once the first poll is disabled, nobody wakes the other any more, and the grace
 * period that its end waits for has any IPI behind it.
 */
static void moderato_shared_stop(struct moderato_rx *rx)
{
	moderato_rx_napi_stop(rx);
	napi_disable(&rx->priv->helper.napi);
}

const struct moderato_rx_ops moderato_rx_shared_ops = {
	.pooled = true,
	.shared = true,
	.weight = MODERATO_NAPI_WEIGHT,
	.start = moderato_shared_up,
	.stop = moderato_shared_stop,
	.irq = moderato_rx_napi_handle,
};
