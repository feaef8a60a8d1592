// SPDX-License-Identifier: GPL-2.0-only
/* Receive strategy: two CPUs poll one ring (mode 1 of Yao et al., 2014). The
 * CPU that took the interrupt polls. When more frames wait than it takes at
 * once, it wakes another CPU by an IPI, whose poll receives from the same ring
 * until that is empty.
 *
 * Only one poll at a time takes frames off the ring; both pass them on without
 * a lock. So frames of one flow may overtake each other, by as many as a poll
 * takes at once. Receive packet steering restores their order.
 */

#include <linux/cpumask.h>
#include <net/busy_poll.h>

#include "moderato_variants.h"

/* The second CPU's poll of a shared ring
 * @lock: guards the ring while polls share it
 * @busy: woken, and not ended since
 */
struct moderato_helper {
	struct moderato_queue *queue;
	struct napi_struct napi;
	/* guards the ring */
	spinlock_t lock;
	call_single_data_t csd;
	atomic_t busy;
};

/* Runs on the woken CPU */
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
	/* No other CPU, or it is about to go offline */
	if (cpu >= nr_cpu_ids ||
	    smp_call_function_single_async(cpu, &helper->csd))
		atomic_set(&helper->busy, false);
}

/* Receives up to @budget frames at once, so that the CPU fetches each layer's
 * code once for all of them.
 *
 * Return: number of descriptors taken
 */
static int moderato_shared_receive(struct moderato_rx *rx,
				   struct napi_struct *napi, int budget)
{
	struct moderato_helper *helper = rx->queue->helper;
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

int moderato_shared_poll(struct napi_struct *napi, int budget)
{
	struct moderato_queue *q = container_of(napi, struct moderato_queue,
						napi);
	struct moderato_helper *helper = q->helper;
	struct moderato_tx *tx = READ_ONCE(q->tx);
	struct moderato_rx *rx = q->rx;
	unsigned int freed;
	int work;

	if (moderato_rules_urgent(q->priv) && budget) {
		bool any;

		spin_lock(&helper->lock);
		any = moderato_rx_urgent(rx, budget);
		spin_unlock(&helper->lock);
		if (any)
			return budget;
	}
	work = moderato_shared_receive(rx, napi, budget);
	freed = moderato_tx_poll(tx, budget);

	if (work < budget && napi_complete_done(napi, work)) {
		/* The index includes the other CPU's last frame */
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
	int work = moderato_shared_receive(helper->queue->rx, napi, budget);

	if (work < budget && napi_complete_done(napi, work))
		atomic_set(&helper->busy, false);
	return work;
}

static void moderato_shared_up(struct moderato_rx *rx)
{
	struct moderato_helper *helper = rx->queue->helper;

	atomic_set(&helper->busy, false);
	napi_enable(&helper->napi);
	moderato_rx_napi_up(rx);
}

/* After the first poll is disabled, nothing wakes the other poll any more. The
 * grace period at the first poll's end also waits for a pending IPI.
 */
static void moderato_shared_stop(struct moderato_rx *rx)
{
	moderato_rx_napi_stop(rx);
	napi_disable(&rx->queue->helper->napi);
}

const struct moderato_rx_ops moderato_rx_shared_ops = {
	.pooled = true,
	.polled = true,
	.shared = true,
	.start = moderato_shared_up,
	.stop = moderato_shared_stop,
	.irq = moderato_rx_napi_handle,
	.schedule = moderato_rx_napi_schedule,
};

int moderato_shared_init(struct moderato_priv *priv)
{
	struct moderato_queue *q;

	if (!IS_ENABLED(CONFIG_SMP))
		return 0;

	for (q = priv->queue; q < moderato_queues_end(priv); q++) {
		struct moderato_helper *helper;

		helper = devm_kzalloc(priv->dev, sizeof(*helper), GFP_KERNEL);
		if (!helper)
			return -ENOMEM;
		helper->queue = q;
		spin_lock_init(&helper->lock);
		INIT_CSD(&helper->csd, moderato_shared_ipi, helper);
		netif_napi_add_weight(priv->ndev, &helper->napi,
				      moderato_helper_poll,
				      MODERATO_NAPI_WEIGHT);
		q->helper = helper;
	}
	return 0;
}

void moderato_shared_free(struct moderato_priv *priv)
{
	struct moderato_queue *q;

	for (q = priv->queue; q < moderato_queues_end(priv); q++)
		if (q->helper)
			netif_napi_del(&q->helper->napi);
}
