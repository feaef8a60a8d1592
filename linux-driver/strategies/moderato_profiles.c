// SPDX-License-Identifier: GPL-2.0-only
/* DIM's profiles, kept by the kernel, which changes them for ethtool -C
 * rx-profile and tx-profile.
 */

#include <linux/dim.h>
#include <linux/rtnetlink.h>

#include "moderato_dim.h"

struct dim_cq_moder moderato_dim_rx_profile(struct moderato_queue *q)
{
	return net_dim_get_rx_irq_moder(q->priv->ndev, &q->rx_dim);
}

struct dim_cq_moder moderato_dim_tx_profile(struct moderato_queue *q)
{
	return net_dim_get_tx_irq_moder(q->priv->ndev, &q->tx_dim);
}

static void moderato_dim_init_one(struct moderato_queue *q, struct dim *dim,
				  bool is_tx)
{
	net_dim_setting(q->priv->ndev, dim, is_tx);
	dim->priv = q;
	dim->profile_ix = NET_DIM_DEF_PROFILE_EQE;
}

/* Before the net device is registered */
int moderato_dim_init(struct moderato_priv *priv)
{
	struct dim_irq_moder *moder;
	struct moderato_queue *q;
	int err;

	err = net_dim_init_irq_moder(priv->ndev,
				     DIM_PROFILE_RX | DIM_PROFILE_TX,
				     DIM_COALESCE_USEC | DIM_COALESCE_PKTS,
				     DIM_CQ_PERIOD_MODE_START_FROM_EQE,
				     DIM_CQ_PERIOD_MODE_START_FROM_EQE,
				     moderato_rx_dim_work,
				     moderato_tx_dim_work);
	if (err)
		return err;

	moder = priv->ndev->irq_moder;
	memcpy(rcu_dereference_protected(moder->rx_profile, true),
	       moderato_rx_profile, sizeof(moderato_rx_profile));
	memcpy(rcu_dereference_protected(moder->tx_profile, true),
	       moderato_tx_profile, sizeof(moderato_tx_profile));
	for (q = priv->queue; q < moderato_queues_end(priv); q++) {
		moderato_dim_init_one(q, &q->rx_dim, false);
		moderato_dim_init_one(q, &q->tx_dim, true);
	}
	return 0;
}

/* After it was unregistered */
void moderato_dim_free(struct moderato_priv *priv)
{
	rtnl_lock();
	net_dim_free_irq_moder(priv->ndev);
	rtnl_unlock();
}
