// SPDX-License-Identifier: GPL-2.0-only
/* Receive strategy with NAPI: the hard interrupt masks itself and schedules
 * the poll, which receives in a softirq until the ring is empty. Under
 * overload the poll never completes, interrupts stay off, and the surplus is
 * dropped by the hardware at the ring.
 */

#include <net/busy_poll.h>

#include "moderato.h"

static void moderato_rx_napi_handle(struct moderato_rx *rx)
{
	moderato_disarm(&rx->ring);
	napi_schedule_irqoff(&rx->priv->napi);
}

int moderato_napi_poll(struct napi_struct *napi, int budget)
{
	struct moderato_priv *priv =
		container_of(napi, struct moderato_priv, napi);
	struct moderato_rx *rx = priv->rx;
	bool gro = napi->dev->features & NETIF_F_GRO;
	struct moderato_rx_done done = {};
	LIST_HEAD(list);
	int work = 0;
	u32 status;

	/* Tx is not polled, so that a budget of 0 leaves nothing to do: what
	 * netpoll needs is moderato_tx_netpoll(), also where NAPI is off.
	 */
	while (work < budget && moderato_ring_completed(&rx->ring, &status)) {
		struct sk_buff *skb = moderato_rx_take(rx, status, &done);

		if (likely(skb)) {
			if (gro) {
				napi_gro_receive(napi, skb);
			} else {
				/* Each layer's code is fetched once for all */
				skb_mark_napi_id(skb, napi);
				list_add_tail(&skb->list, &list);
			}
		}
		work++;
	}
	netif_receive_skb_list(&list);
	if (done.taken)
		moderato_rx_finish(rx, &done);

	if (work < budget && napi_complete_done(napi, work))
		moderato_rearm_after(priv, &rx->ring, work);
	return work;
}

static void moderato_rx_napi_start(struct moderato_rx *rx)
{
	napi_enable(&rx->priv->napi);
}

static void moderato_rx_napi_stop(struct moderato_rx *rx)
{
	struct napi_struct *napi = &rx->priv->napi;

	/* A last round: the poll ends when the ring is empty */
	local_bh_disable();
	napi_schedule(napi);
	local_bh_enable();
	napi_synchronize(napi);
	napi_disable(napi);

	/* A poll that has completed may still be about to re-arm, on another
	 * CPU: it may not find the ring freed, nor may its index reach the
	 * ring that comes next. Polls run with softirqs off, and so end within
	 * a grace period.
	 */
	synchronize_net();
}

const struct moderato_rx_ops moderato_rx_napi_ops = {
	.pooled = true,
	.start = moderato_rx_napi_start,
	.stop = moderato_rx_napi_stop,
	.irq = moderato_rx_napi_handle,
};
