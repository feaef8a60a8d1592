// SPDX-License-Identifier: GPL-2.0-only
/* Reception with NAPI: the hard interrupt masks itself and schedules
 * the poll, which receives in a softirq until the ring is empty. Under
 * overload the poll never completes, interrupts stay off, and the surplus is
 * dropped by the hardware at the ring. The poll also frees what was sent: see
 * tx_poll.c.
 */

#include <net/busy_poll.h>

#include "moderato_priv.h"

void moderato_rx_napi_schedule(struct moderato_queue *q)
{
	napi_schedule_irqoff(&q->napi);
}

void moderato_rx_napi_handle(struct moderato_rx *rx)
{
	struct moderato_queue *q = rx->queue;

	moderato_disarm(&rx->ring);
	moderato_tx_poll_comes(READ_ONCE(q->tx));
	napi_schedule_irqoff(&q->napi);
}

/* Passes up to @budget frames to the stack.
 *
 * Return: number of descriptors taken
 */
int moderato_rx_receive(struct moderato_rx *rx, struct napi_struct *napi,
			int budget, struct moderato_rx_done *done)
{
	bool gro = napi->dev->features & NETIF_F_GRO;
	LIST_HEAD(list);
	int work = 0;
	u32 status;

	while (work < budget && moderato_ring_completed(&rx->ring, &status)) {
		u16 index = moderato_rx_next(rx, done);
		struct sk_buff *skb = moderato_rx_take(rx, index, status, done);

		if (likely(skb)) {
			if (gro) {
				napi_gro_receive(napi, skb);
			} else {
				/* A list: the CPU fetches each layer's code
				 * once for all frames
				 */
				skb_mark_napi_id(skb, napi);
				list_add_tail(&skb->list, &list);
			}
		}
		work++;
	}
	/* The hardware gets new buffers before the stack starts its work */
	if (done->taken)
		moderato_rx_finish(rx, done);
	netif_receive_skb_list(&list);
	return work;
}

int moderato_napi_poll(struct napi_struct *napi, int budget)
{
	struct moderato_queue *q = container_of(napi, struct moderato_queue,
						napi);
	struct moderato_tx *tx = READ_ONCE(q->tx);
	struct moderato_rx_done done = {};
	struct moderato_rx *rx = q->rx;
	unsigned int freed;
	int work;

	work = rx->receive(rx, napi, budget, &done);
	/* Tx after Rx, since freeing can wait and frames cannot. For netpoll,
	 * whose budget is 0, this is all.
	 */
	freed = moderato_tx_poll(tx, budget);

	if (work < budget && napi_complete_done(napi, work))
		moderato_napi_end(rx, tx, work, freed);
	return work;
}

/* Before the net device is registered */
void moderato_napi_add(struct moderato_queue *q)
{
	netif_napi_add(q->priv->ndev, &q->napi, moderato_napi_poll);
	netif_napi_set_irq(&q->napi, q->rx_irq);
}

static void moderato_napi_name(struct moderato_queue *q,
			       struct napi_struct *napi)
{
	netif_queue_set_napi(q->priv->ndev, q->index, NETDEV_QUEUE_TYPE_RX,
			     napi);
	netif_queue_set_napi(q->priv->ndev, q->index, NETDEV_QUEUE_TYPE_TX,
			     napi);
}

static void moderato_napi_once(struct napi_struct *napi)
{
	local_bh_disable();
	napi_schedule(napi);
	local_bh_enable();
}

void moderato_rx_napi_up(struct moderato_rx *rx)
{
	struct moderato_queue *q = rx->queue;

	napi_enable(&q->napi);
	moderato_napi_name(q, &q->napi);
	/* A Tx interrupt may have come while the poll was disabled */
	if (q->config.tx_ops->polled)
		moderato_napi_once(&q->napi);
}

void moderato_rx_napi_stop(struct moderato_rx *rx)
{
	struct moderato_queue *q = rx->queue;

	/* A last round until the ring is empty */
	moderato_napi_once(&q->napi);
	napi_synchronize(&q->napi);
	napi_disable(&q->napi);
	moderato_napi_name(q, NULL);

	/* A completed poll may still be about to re-arm on another CPU. It must
	 * not use a freed ring, and its index must not reach the next ring.
	 * Polls run with softirqs off, and so end within a grace period.
	 */
	synchronize_net();
}

const struct moderato_rx_ops moderato_rx_napi_ops = {
	.pooled = true,
	.polled = true,
	.start = moderato_rx_napi_up,
	.stop = moderato_rx_napi_stop,
	.irq = moderato_rx_napi_handle,
	.schedule = moderato_rx_napi_schedule,
};
