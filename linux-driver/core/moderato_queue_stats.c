// SPDX-License-Identifier: GPL-2.0-only
/* Statistics of each queue, for netlink */

#include <net/netdev_queues.h>

#include "moderato_priv.h"

static void moderato_get_queue_stats_rx(struct net_device *ndev, int queue,
					struct netdev_queue_stats_rx *stats)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_rx_totals rx =
		moderato_rx_totals(&priv->queue[queue].rx_stats);
	u64 total[MODERATO_COUNTERS];

	stats->packets = rx.packets;
	stats->bytes = rx.bytes;
	stats->alloc_fail = rx.alloc_failed;
	stats->hw_gro_packets = rx.merges;
	stats->hw_gro_wire_packets = rx.merged;

	moderato_stats_read(priv, total);
	if (queue) {
		stats->hw_drop_overruns = total[MODERATO_RX1_DROP_RING];
		stats->hw_drops = stats->hw_drop_overruns +
				  total[MODERATO_RX1_DROP_BUFFER];
		return;
	}
	/* The first queue counts frames lost before they had a queue */
	stats->hw_drop_overruns = total[MODERATO_RX_DROP_FIFO] +
				  total[MODERATO_RX_DROP_RING];
	stats->hw_drops = stats->hw_drop_overruns +
			  total[MODERATO_RX_DROP_BUFFER] +
			  total[MODERATO_RX_FILTERED] +
			  total[MODERATO_RX_VLAN_FILTERED] +
			  total[MODERATO_RX_FCS_ERRORS] +
			  total[MODERATO_RX_UNDERSIZE] +
			  total[MODERATO_RX_OVERSIZE];
}

static void moderato_get_queue_stats_tx(struct net_device *ndev, int queue,
					struct netdev_queue_stats_tx *stats)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_tx_totals tx =
		moderato_tx_totals(&priv->queue[queue].tx_stats);

	stats->packets = tx.packets;
	stats->bytes = tx.bytes;
}

/* Sums of the queues that are not used now */
static void moderato_get_base_stats(struct net_device *ndev,
				    struct netdev_queue_stats_rx *rx,
				    struct netdev_queue_stats_tx *tx)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (priv->used < priv->count) {
		moderato_get_queue_stats_rx(ndev, priv->used, rx);
		moderato_get_queue_stats_tx(ndev, priv->used, tx);
		return;
	}

	rx->packets = 0;
	rx->bytes = 0;
	rx->alloc_fail = 0;
	rx->hw_drops = 0;
	rx->hw_drop_overruns = 0;
	rx->hw_gro_packets = 0;
	rx->hw_gro_wire_packets = 0;
	tx->packets = 0;
	tx->bytes = 0;
}

static const struct netdev_stat_ops moderato_stat_ops = {
	.get_queue_stats_rx = moderato_get_queue_stats_rx,
	.get_queue_stats_tx = moderato_get_queue_stats_tx,
	.get_base_stats = moderato_get_base_stats,
};

int moderato_queue_stats_init(struct moderato_priv *priv)
{
	priv->ndev->stat_ops = &moderato_stat_ops;
	return 0;
}
