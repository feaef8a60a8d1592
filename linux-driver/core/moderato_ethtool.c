// SPDX-License-Identifier: GPL-2.0-only
/* ethtool: moderation (-c), rings (-g), statistics (-S), and others */

#include <linux/ethtool.h>

#include "moderato_dim.h"
#include "moderato_variants.h"

#define MODERATO_ETHTOOL_COALESCE					\
	(ETHTOOL_COALESCE_USECS | ETHTOOL_COALESCE_MAX_FRAMES |		\
	 ETHTOOL_COALESCE_USE_ADAPTIVE | ETHTOOL_COALESCE_RX_PROFILE |	\
	 ETHTOOL_COALESCE_TX_PROFILE | ETHTOOL_COALESCE_USE_CQE)

/* Link --------------------------------------------------------------------- */

static int moderato_get_link_ksettings(struct net_device *ndev,
				       struct ethtool_link_ksettings *cmd)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	return phylink_ethtool_ksettings_get(priv->phylink, cmd);
}

static int moderato_set_link_ksettings(struct net_device *ndev,
				       const struct ethtool_link_ksettings *cmd)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	return phylink_ethtool_ksettings_set(priv->phylink, cmd);
}

static int moderato_nway_reset(struct net_device *ndev)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	return phylink_ethtool_nway_reset(priv->phylink);
}

static void moderato_get_pauseparam(struct net_device *ndev,
				    struct ethtool_pauseparam *pause)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	phylink_ethtool_get_pauseparam(priv->phylink, pause);
}

/* phylink rejects this if the hardware knows no pause frames */
static int moderato_set_pauseparam(struct net_device *ndev,
				   struct ethtool_pauseparam *pause)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	return phylink_ethtool_set_pauseparam(priv->phylink, pause);
}

static void moderato_get_pause_stats(struct net_device *ndev,
				     struct ethtool_pause_stats *stats)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	u64 total[MODERATO_COUNTERS];

	if (!(priv->features & MODERATO_FEATURES_PAUSE))
		return;

	moderato_stats_read(priv, total);
	stats->tx_pause_frames = total[MODERATO_TX_PAUSE];
	stats->rx_pause_frames = total[MODERATO_RX_PAUSE];
}

/* Moderation --------------------------------------------------------------- */

static int moderato_get_coalesce_of(struct moderato_queue *q,
				    struct ethtool_coalesce *ec,
				    struct kernel_ethtool_coalesce *kernel_coal)
{
	const struct moderato_config *config = &q->config;
	struct moderato_coalesce rx =
		moderato_timers_by_mode(config->rx, config->rx_cqe);
	struct moderato_coalesce tx =
		moderato_timers_by_mode(config->tx, config->tx_cqe);

	ec->rx_max_coalesced_frames = rx.frames;
	ec->rx_coalesce_usecs = rx.usecs;
	ec->use_adaptive_rx_coalesce = config->adaptive_rx;
	ec->use_adaptive_tx_coalesce = config->adaptive_tx;
	ec->tx_max_coalesced_frames = tx.frames;
	ec->tx_coalesce_usecs = tx.usecs;
	kernel_coal->use_cqe_mode_rx = config->rx_cqe;
	kernel_coal->use_cqe_mode_tx = config->tx_cqe;
	moderato_variants_get_coalesce(q, ec);
	return 0;
}

static int moderato_get_coalesce(struct net_device *ndev,
				 struct ethtool_coalesce *ec,
				 struct kernel_ethtool_coalesce *kernel_coal,
				 struct netlink_ext_ack *extack)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	return moderato_get_coalesce_of(priv->queue, ec, kernel_coal);
}

static int moderato_check_coalesce(const struct moderato_queue *q,
				   const struct moderato_coalesce *c, u8 order,
				   struct netlink_ext_ack *extack)
{
	switch (moderato_coalesce_check(c, order, q->priv->usecs_max)) {
	case MODERATO_COALESCE_OK:
		return 0;
	case MODERATO_COALESCE_NEVER:
		NL_SET_ERR_MSG_MOD(extack,
				   "frames and usecs are 0: nothing would raise an interrupt");
		return -EINVAL;
	case MODERATO_COALESCE_UNBOUNDED:
		NL_SET_ERR_MSG_MOD(extack,
				   "more than one frame per interrupt needs usecs, for the last ones");
		return -EINVAL;
	case MODERATO_COALESCE_RING:
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "frames of queue %u must not exceed %u, half of the ring",
				       q->index, moderato_size(order) / 2);
		return -EINVAL;
	case MODERATO_COALESCE_TIMER:
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "the timers reach up to %u usecs",
				       q->priv->usecs_max);
		return -ERANGE;
	}
	return -EINVAL;
}

/* Rounds to the hardware's clock, so that ethtool -c shows the real values */
static void moderato_round_coalesce(struct moderato_priv *priv,
				    struct moderato_coalesce *c)
{
	u32 *usecs[] = { &c->usecs, &c->packet_usecs, &c->gap_usecs };
	u32 hz = priv->clock_hz;

	for (int i = 0; i < ARRAY_SIZE(usecs); i++)
		*usecs[i] = moderato_clocks_to_usecs(moderato_usecs_to_clocks(*usecs[i],
									      hz),
						     hz);
}

/* Copies the request to @config, if it suits the rings, which have the same
 * length in all queues
 */
static int
moderato_parse_coalesce(struct moderato_queue *q,
			struct moderato_config *config,
			const struct ethtool_coalesce *ec,
			const struct kernel_ethtool_coalesce *kernel_coal,
			struct netlink_ext_ack *extack)
{
	struct moderato_config asked = *config;
	bool rx_cqe = kernel_coal->use_cqe_mode_rx;
	bool tx_cqe = kernel_coal->use_cqe_mode_tx;
	struct moderato_coalesce rx, tx;
	int err;

	asked.rx = (struct moderato_coalesce) {
		.frames = ec->rx_max_coalesced_frames,
		.usecs = ec->rx_coalesce_usecs,
	};
	asked.tx = (struct moderato_coalesce) {
		.frames = ec->tx_max_coalesced_frames,
		.usecs = ec->tx_coalesce_usecs,
	};
	err = moderato_variants_set_coalesce(&asked, ec, extack);
	if (err)
		return err;

	if ((rx_cqe && ec->use_adaptive_rx_coalesce) ||
	    (tx_cqe && ec->use_adaptive_tx_coalesce)) {
		NL_SET_ERR_MSG_MOD(extack,
				   "adaptive moderation knows no CQE mode");
		return -EINVAL;
	}
	rx = moderato_timers_by_mode(asked.rx, rx_cqe);
	tx = moderato_timers_by_mode(asked.tx, tx_cqe);
	err = moderato_check_coalesce(q, &rx, config->rx_order, extack);
	if (err)
		return err;
	err = moderato_check_coalesce(q, &tx, config->tx_order, extack);
	if (err)
		return err;

	moderato_round_coalesce(q->priv, &rx);
	moderato_round_coalesce(q->priv, &tx);
	*config = asked;
	config->rx = rx;
	config->tx = tx;
	config->rx_cqe = rx_cqe;
	config->tx_cqe = tx_cqe;
	config->adaptive_rx = ec->use_adaptive_rx_coalesce;
	config->adaptive_tx = ec->use_adaptive_tx_coalesce;
	return 0;
}

/* Takes effect at once, or when the queue comes up */
void moderato_moderate(struct moderato_queue *q)
{
	if (!netif_running(q->priv->ndev) || !moderato_is_used(q))
		return;
	moderato_rx_moderate(q);
	moderato_tx_switch(q->tx);
}

static int moderato_set_coalesce(struct net_device *ndev,
				 struct ethtool_coalesce *ec,
				 struct kernel_ethtool_coalesce *kernel_coal,
				 struct netlink_ext_ack *extack)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_config config = priv->queue[0].config;
	struct moderato_queue *q;
	int err;

	err = moderato_parse_coalesce(priv->queue, &config, ec, kernel_coal, extack);
	if (err)
		return err;

	for (q = priv->queue; q < moderato_queues_end(priv); q++) {
		q->config = config;
		moderato_moderate(q);
	}
	return 0;
}

static int moderato_get_per_queue_coalesce(struct net_device *ndev, u32 queue,
					   struct ethtool_coalesce *ec)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct kernel_ethtool_coalesce kernel_coal;

	if (queue >= priv->used)
		return -EINVAL;
	return moderato_get_coalesce_of(priv->queue + queue, ec, &kernel_coal);
}

/* Per-queue requests do not know CQE mode */
static int moderato_set_per_queue_coalesce(struct net_device *ndev, u32 queue,
					   struct ethtool_coalesce *ec)
{
	struct kernel_ethtool_coalesce kernel_coal = {};
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_config config;
	struct moderato_queue *q;
	int err;

	if (queue >= priv->used)
		return -EINVAL;
	q = priv->queue + queue;
	config = q->config;
	kernel_coal.use_cqe_mode_rx = config.rx_cqe;
	kernel_coal.use_cqe_mode_tx = config.tx_cqe;
	err = moderato_parse_coalesce(q, &config, ec, &kernel_coal, NULL);
	if (err)
		return err;

	q->config = config;
	moderato_moderate(q);
	return 0;
}

/* Rings -------------------------------------------------------------------- */

static void
moderato_get_ringparam(struct net_device *ndev, struct ethtool_ringparam *ring,
		       struct kernel_ethtool_ringparam *kernel_ring,
		       struct netlink_ext_ack *extack)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	ring->rx_max_pending = moderato_size(priv->max_order);
	ring->tx_max_pending = moderato_size(priv->max_order);
	ring->rx_pending = moderato_size(priv->queue[0].config.rx_order);
	ring->tx_pending = moderato_size(priv->queue[0].config.tx_order);
}

static int
moderato_set_ringparam(struct net_device *ndev, struct ethtool_ringparam *ring,
		       struct kernel_ethtool_ringparam *kernel_ring,
		       struct netlink_ext_ack *extack)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	const struct moderato_config *now = &priv->queue[0].config;
	struct moderato_config config = *now;
	struct moderato_queue *q;
	int err;

	/* Rounds up to a power of two, so that ethtool -g shows the real size
	 */
	config.rx_order = moderato_order(ring->rx_pending);
	config.tx_order = moderato_order(ring->tx_pending);

	/* Unused queues, too */
	for (q = priv->queue; q < moderato_queues_end(priv); q++) {
		err = moderato_check_coalesce(q, &q->config.rx, config.rx_order,
					      extack);
		if (err)
			return err;
		err = moderato_check_coalesce(q, &q->config.tx, config.tx_order,
					      extack);
		if (err)
			return err;
	}

	err = moderato_change(priv, &config, ndev->mtu,
			      config.rx_order != now->rx_order,
			      config.tx_order != now->tx_order);
	if (err)
		return err;
	/* TSO needs a ring that is long enough */
	netdev_update_features(ndev);
	return 0;
}

/* Queues ------------------------------------------------------------------- */

int moderato_get_rxnfc(struct net_device *ndev, struct ethtool_rxnfc *cmd,
		       u32 *locations)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (cmd->cmd != ETHTOOL_GRXRINGS)
		return -EOPNOTSUPP;
	cmd->data = priv->used;
	return 0;
}

/* Statistics --------------------------------------------------------------- */

/* The driver's own statistics, after the hardware's */
enum {
	MODERATO_OWN_HALTS,
	MODERATO_OWN_COUNTERS,
};

static const char moderato_own_names[MODERATO_OWN_COUNTERS][ETH_GSTRING_LEN] = {
	[MODERATO_OWN_HALTS] = "ring_halts",
};

static int moderato_get_sset_count(struct net_device *ndev, int sset)
{
	switch (sset) {
	case ETH_SS_STATS:
		return MODERATO_PRIVATE_COUNTERS + MODERATO_OWN_COUNTERS;
	default:
		return -EOPNOTSUPP;
	}
}

static void moderato_get_strings(struct net_device *ndev, u32 sset, u8 *data)
{
	switch (sset) {
	case ETH_SS_STATS:
		for (int i = 0; i < MODERATO_PRIVATE_COUNTERS; i++)
			ethtool_puts(&data, moderato_counter_names[i]);
		for (int i = 0; i < MODERATO_OWN_COUNTERS; i++)
			ethtool_puts(&data, moderato_own_names[i]);
		break;
	}
}

static void moderato_get_ethtool_stats(struct net_device *ndev,
				       struct ethtool_stats *stats, u64 *data)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	u64 total[MODERATO_COUNTERS];

	moderato_stats_read(priv, total);
	memcpy(data, total, MODERATO_PRIVATE_COUNTERS * sizeof(*data));
	data += MODERATO_PRIVATE_COUNTERS;
	data[MODERATO_OWN_HALTS] = priv->halts;
}

static void moderato_get_eth_mac_stats(struct net_device *ndev,
				       struct ethtool_eth_mac_stats *stats)
{
	/* IEEE 802.3 counts octets of data and padding only */
	const unsigned int header = ETH_HLEN + ETH_FCS_LEN;
	struct moderato_priv *priv = netdev_priv(ndev);
	u64 total[MODERATO_COUNTERS];

	moderato_stats_read(priv, total);
	stats->FramesReceivedOK = total[MODERATO_RX_FRAMES];
	stats->OctetsReceivedOK = total[MODERATO_RX_OCTETS] -
				  total[MODERATO_RX_FRAMES] * header;
	stats->FramesTransmittedOK = total[MODERATO_TX_FRAMES];
	stats->OctetsTransmittedOK = total[MODERATO_TX_OCTETS] -
				     total[MODERATO_TX_FRAMES] * header;
	stats->FrameCheckSequenceErrors = total[MODERATO_RX_FCS_ERRORS];
	stats->FramesLostDueToIntMACRcvError = total[MODERATO_RX_DROP_FIFO];
	stats->FrameTooLongErrors = total[MODERATO_RX_OVERSIZE];
	if (priv->features & MODERATO_FEATURES_PAUSE) {
		/* Control frames that the hardware consumes count as received;
		 * pause frames have the shortest length
		 */
		u64 control = total[MODERATO_RX_PAUSE] +
			      total[MODERATO_RX_CONTROL_UNKNOWN];

		stats->FramesReceivedOK += control;
		stats->OctetsReceivedOK += control * (ETH_ZLEN - ETH_HLEN);
	}
	if (priv->features & MODERATO_FEATURES_RMON) {
		stats->MulticastFramesReceivedOK = total[MODERATO_RX_MULTICAST];
		stats->BroadcastFramesReceivedOK = total[MODERATO_RX_BROADCAST];
		stats->MulticastFramesXmittedOK = total[MODERATO_TX_MULTICAST];
		stats->BroadcastFramesXmittedOK = total[MODERATO_TX_BROADCAST];
	}
}

static void moderato_get_eth_ctrl_stats(struct net_device *ndev,
					struct ethtool_eth_ctrl_stats *stats)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	u64 total[MODERATO_COUNTERS];

	if (!(priv->features & MODERATO_FEATURES_PAUSE))
		return;

	moderato_stats_read(priv, total);
	stats->MACControlFramesTransmitted = total[MODERATO_TX_PAUSE];
	stats->MACControlFramesReceived = total[MODERATO_RX_PAUSE] +
					  total[MODERATO_RX_CONTROL_UNKNOWN];
	stats->UnsupportedOpcodesReceived = total[MODERATO_RX_CONTROL_UNKNOWN];
}

/* Ranges of the counters from MODERATO_RX_LENGTHS and MODERATO_TX_LENGTHS on;
 * the last one ends with the longest frame that MAX_FRAME allows.
 */
static const struct ethtool_rmon_hist_range moderato_rmon_ranges[] = {
	{ 64, 64 },
	{ 65, 127 },
	{ 128, 255 },
	{ 256, 511 },
	{ 512, 1023 },
	{ 1024, 1518 },
	{ 1519, 16383 },
	{}
};

static_assert(ARRAY_SIZE(moderato_rmon_ranges) == MODERATO_RMON_RANGES + 1);

static void
moderato_get_rmon_stats(struct net_device *ndev,
			struct ethtool_rmon_stats *stats,
			const struct ethtool_rmon_hist_range **ranges)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	u64 total[MODERATO_COUNTERS];

	moderato_stats_read(priv, total);
	stats->undersize_pkts = total[MODERATO_RX_UNDERSIZE];
	stats->oversize_pkts = total[MODERATO_RX_OVERSIZE];
	if (!(priv->features & MODERATO_FEATURES_RMON))
		return;

	stats->fragments = total[MODERATO_RX_FRAGMENTS];
	stats->jabbers = total[MODERATO_RX_JABBERS];
	stats->undersize_pkts -= stats->fragments;
	stats->oversize_pkts -= stats->jabbers;
	for (int i = 0; i < MODERATO_RMON_RANGES; i++) {
		stats->hist[i] = total[MODERATO_RX_LENGTHS + i];
		stats->hist_tx[i] = total[MODERATO_TX_LENGTHS + i];
	}
	*ranges = moderato_rmon_ranges;
}

static const struct ethtool_ops moderato_ethtool_ops = {
	.supported_coalesce_params = MODERATO_ETHTOOL_COALESCE,
	.get_pauseparam = moderato_get_pauseparam,
	.set_pauseparam = moderato_set_pauseparam,
	.get_pause_stats = moderato_get_pause_stats,
	.get_eth_ctrl_stats = moderato_get_eth_ctrl_stats,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = moderato_get_link_ksettings,
	.set_link_ksettings = moderato_set_link_ksettings,
	.nway_reset = moderato_nway_reset,
	.get_ts_info = ethtool_op_get_ts_info,
	.get_coalesce = moderato_get_coalesce,
	.set_coalesce = moderato_set_coalesce,
	.get_per_queue_coalesce = moderato_get_per_queue_coalesce,
	.set_per_queue_coalesce = moderato_set_per_queue_coalesce,
	.get_ringparam = moderato_get_ringparam,
	.set_ringparam = moderato_set_ringparam,
	.get_rxnfc = moderato_get_rxnfc,
	.get_sset_count = moderato_get_sset_count,
	.get_strings = moderato_get_strings,
	.get_ethtool_stats = moderato_get_ethtool_stats,
	.get_eth_mac_stats = moderato_get_eth_mac_stats,
	.get_rmon_stats = moderato_get_rmon_stats,
};

int moderato_ethtool_init(struct moderato_priv *priv)
{
	priv->ethtool_ops = moderato_ethtool_ops;
	priv->ndev->ethtool_ops = &priv->ethtool_ops;
	return 0;
}
