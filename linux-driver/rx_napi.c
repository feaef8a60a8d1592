// SPDX-License-Identifier: GPL-2.0-only
/* Reception with NAPI: the hard interrupt masks itself and schedules
 * the poll, which receives in a softirq until the ring is empty. Under
 * overload the poll never completes, interrupts stay off, and the surplus is
 * dropped by the hardware at the ring. The poll also frees what was sent: see
 * tx_poll.c.
 */

#include <net/busy_poll.h>

#include "moderato.h"

void moderato_rx_napi_handle(struct moderato_rx *rx)
{
	moderato_disarm(&rx->ring);
	moderato_tx_poll_comes(READ_ONCE(rx->priv->tx));
	napi_schedule_irqoff(&rx->priv->napi);
}

int moderato_napi_poll(struct napi_struct *napi, int budget)
{
	struct moderato_priv *priv =
		container_of(napi, struct moderato_priv, napi);
	struct moderato_rx *rx = priv->rx;
	struct moderato_tx *tx = READ_ONCE(priv->tx);
#ifndef MODERATO_CORE
	bool gro = napi->dev->features & NETIF_F_GRO;
#endif
	struct moderato_rx_done done = {};
#ifndef MODERATO_CORE
	LIST_HEAD(list);
#endif
	unsigned int freed;
	int work = 0;
	u32 status;

#ifndef MODERATO_CORE
	if (moderato_rx_is_shared(rx))
		return moderato_shared_poll(rx, budget);
	/* Polled again, but after another port that may have urgent frames, too */
	if (READ_ONCE(priv->urgent) && moderato_rx_urgent(rx, budget))
		return budget;
#endif
#ifdef MODERATO_MERGING
	if (napi->dev->features & NETIF_F_GRO)
		done.gro = napi;
#endif
	while (work < budget && moderato_ring_completed(&rx->ring, &status)) {
		u16 index = moderato_rx_next(rx, &done);
		struct sk_buff *skb;

#ifdef MODERATO_MERGING
		if (rx->merge.segs) {
			if (status & MODERATO_DESC_STATUS_CONTINUES &&
			    moderato_merge(rx, index, status, &done)) {
				work++;
				continue;
			}
			moderato_merge_end(rx, napi);
		}
#endif
		skb = moderato_rx_take(rx, index, status, &done);
#ifdef MODERATO_CORE
		if (likely(skb) && !moderato_rx_is_paged(skb, &done))
			napi_gro_receive(napi, skb);
#else
		if (likely(skb) && !moderato_rx_is_paged(skb, &done)) {
			if (gro) {
				napi_gro_receive(napi, skb);
			} else {
				/* Each layer's code is fetched once for all */
				skb_mark_napi_id(skb, napi);
				list_add_tail(&skb->list, &list);
			}
		}
#endif
		work++;
	}
#ifdef MODERATO_MERGING
	if (rx->merge.segs)
		moderato_merge_end(rx, napi);
#endif
#ifndef MODERATO_CORE
	/* The hardware has new buffers before the stack takes its time */
#endif
	if (done.taken)
		moderato_rx_finish(rx, &done);
#ifndef MODERATO_CORE
	netif_receive_skb_list(&list);
#endif
	/* Behind, for what was sent can wait, and what was received cannot. With
	 * a budget of 0, netpoll's, that is all.
	 */
	freed = moderato_tx_poll(tx, budget);

	if (work < budget && napi_complete_done(napi, work))
		moderato_napi_end(rx, tx, work, freed);
	return work;
}

#ifndef MODERATO_CORE
/* Where frames are urgent, a poll takes few of the others: one that comes waits
 * for them, and for as many of another port.
 */
void moderato_rx_napi_weigh(struct moderato_rx *rx)
{
	struct moderato_priv *priv = rx->priv;

	WRITE_ONCE(priv->napi.weight,
		   priv->urgent ? min(rx->ops->weight, MODERATO_URGENT_WEIGHT) :
				  rx->ops->weight);
}

#endif
void moderato_rx_napi_up(struct moderato_rx *rx)
{
	struct moderato_priv *priv = rx->priv;
	struct napi_struct *napi = &priv->napi;

#ifndef MODERATO_CORE
	moderato_rx_napi_weigh(rx);
#endif
	napi_enable(napi);
#ifdef MODERATO_OFFLOADS
#ifndef MODERATO_LINUX_6_1
	netif_queue_set_napi(priv->ndev, priv->queue, NETDEV_QUEUE_TYPE_RX,
			     napi);
	netif_queue_set_napi(priv->ndev, priv->queue, NETDEV_QUEUE_TYPE_TX,
			     napi);
#endif
#endif
	/* A Tx interrupt may have come while the poll was disabled */
#ifdef MODERATO_CORE
	local_bh_disable();
	napi_schedule(napi);
	local_bh_enable();
#else
	if (priv->config.tx_napi) {
		local_bh_disable();
		napi_schedule(napi);
		local_bh_enable();
	}
#endif
}

void moderato_rx_napi_stop(struct moderato_rx *rx)
{
	struct napi_struct *napi = &rx->priv->napi;

	/* A last round: the poll ends when the ring is empty */
	local_bh_disable();
	napi_schedule(napi);
	local_bh_enable();
	napi_synchronize(napi);
	napi_disable(napi);
#ifdef MODERATO_OFFLOADS
#ifndef MODERATO_LINUX_6_1
	netif_queue_set_napi(rx->priv->ndev, rx->priv->queue,
			     NETDEV_QUEUE_TYPE_RX, NULL);
	netif_queue_set_napi(rx->priv->ndev, rx->priv->queue,
			     NETDEV_QUEUE_TYPE_TX, NULL);
#endif
#endif

	/* A poll that has completed may still be about to re-arm, on another
	 * CPU: it may not find the ring freed, nor may its index reach the
	 * ring that comes next. Polls run with softirqs off, and so end within
	 * a grace period.
	 */
	synchronize_net();
}

#ifndef MODERATO_CORE
const struct moderato_rx_ops moderato_rx_napi_ops = {
	.pooled = true,
	.weight = MODERATO_NAPI_WEIGHT,
	.start = moderato_rx_napi_up,
	.stop = moderato_rx_napi_stop,
	.irq = moderato_rx_napi_handle,
};
#endif
