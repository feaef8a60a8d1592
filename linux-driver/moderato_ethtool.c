// SPDX-License-Identifier: GPL-2.0-only
/* ethtool: moderation (-c), rings (-g), statistics (-S), and what else there is */

#ifndef MODERATO_CORE
#include <linux/bitfield.h>
#endif
#include <linux/ethtool.h>

#include "moderato.h"

#ifdef MODERATO_CORE
#define MODERATO_ETHTOOL_COALESCE					\
	(ETHTOOL_COALESCE_USECS | ETHTOOL_COALESCE_MAX_FRAMES |		\
	 ETHTOOL_COALESCE_USE_ADAPTIVE | ETHTOOL_COALESCE_RX_PROFILE |	\
	 ETHTOOL_COALESCE_TX_PROFILE | ETHTOOL_COALESCE_USE_CQE)
#else
#define MODERATO_ETHTOOL_COALESCE					\
	(ETHTOOL_COALESCE_USECS | ETHTOOL_COALESCE_MAX_FRAMES |		\
	 ETHTOOL_COALESCE_USECS_LOW_HIGH | ETHTOOL_COALESCE_RX_USECS_IRQ | \
	 ETHTOOL_COALESCE_USE_ADAPTIVE | ETHTOOL_COALESCE_RX_PROFILE |	\
	 ETHTOOL_COALESCE_TX_PROFILE | ETHTOOL_COALESCE_USE_CQE)

/* The longest that rx-timer waits: what takes longer is no delay any more */
#define MODERATO_POLL_USECS_MAX		USEC_PER_SEC
#endif

/* Link --------------------------------------------------------------------- */

#ifndef MODERATO_CORE
static void moderato_get_drvinfo(struct net_device *ndev,
				 struct ethtool_drvinfo *info)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	u32 version = readl(priv->regs + MODERATO_VERSION);

	strscpy(info->driver, KBUILD_MODNAME);
	strscpy(info->bus_info, dev_name(priv->dev));
	snprintf(info->fw_version, sizeof(info->fw_version), "%lu.%lu",
		 FIELD_GET(MODERATO_VERSION_MAJOR, version),
		 FIELD_GET(MODERATO_VERSION_MINOR, version));
}

#endif
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

#if defined(MODERATO_CORE) || defined(MODERATO_OFFLOADS)
static void moderato_get_pauseparam(struct net_device *ndev,
				    struct ethtool_pauseparam *pause)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	phylink_ethtool_get_pauseparam(priv->phylink, pause);
}

/* Refused by phylink where the hardware knows no pause frames */
static int moderato_set_pauseparam(struct net_device *ndev,
				   struct ethtool_pauseparam *pause)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	return phylink_ethtool_set_pauseparam(priv->phylink, pause);
}

#endif
#ifdef MODERATO_OFFLOADS
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

#endif
/* Moderation --------------------------------------------------------------- */

/* The kernel's name for a timer that restarts with each completion is CQE mode:
 * usecs is such a one then, and usecs-low the other
 */
static struct moderato_coalesce
moderato_timers_by_mode(struct moderato_coalesce c, bool cqe)
{
	if (cqe)
		swap(c.usecs, c.usecs_low);
	return c;
}

#ifdef MODERATO_QUEUES
/* Of the queue @priv */
static int moderato_get_coalesce_of(struct moderato_priv *priv,
				    struct ethtool_coalesce *ec,
				    struct kernel_ethtool_coalesce *kernel_coal)
{
#else
static int moderato_get_coalesce(struct net_device *ndev,
				 struct ethtool_coalesce *ec,
				 struct kernel_ethtool_coalesce *kernel_coal,
				 struct netlink_ext_ack *extack)
{
	struct moderato_priv *priv = netdev_priv(ndev);
#endif
	const struct moderato_config *config = &priv->config;
	struct moderato_coalesce rx =
		moderato_timers_by_mode(config->rx, config->rx_cqe);
	struct moderato_coalesce tx =
		moderato_timers_by_mode(config->tx, config->tx_cqe);

	ec->rx_max_coalesced_frames = rx.frames;
	ec->rx_coalesce_usecs = rx.usecs;
#ifndef MODERATO_CORE
	ec->rx_coalesce_usecs_low = rx.usecs_low;
	ec->rx_coalesce_usecs_high = rx.usecs_high;
	ec->rx_coalesce_usecs_irq = config->poll_usecs;
#endif
	ec->use_adaptive_rx_coalesce = config->adaptive_rx;
	ec->use_adaptive_tx_coalesce = config->adaptive_tx;
	ec->tx_max_coalesced_frames = tx.frames;
	ec->tx_coalesce_usecs = tx.usecs;
#ifndef MODERATO_CORE
	ec->tx_coalesce_usecs_low = tx.usecs_low;
	ec->tx_coalesce_usecs_high = tx.usecs_high;
#endif
	kernel_coal->use_cqe_mode_rx = config->rx_cqe;
	kernel_coal->use_cqe_mode_tx = config->tx_cqe;
	return 0;
}

#ifdef MODERATO_QUEUES
static int moderato_get_coalesce(struct net_device *ndev,
				 struct ethtool_coalesce *ec,
				 struct kernel_ethtool_coalesce *kernel_coal,
				 struct netlink_ext_ack *extack)
{
	return moderato_get_coalesce_of(netdev_priv(ndev), ec, kernel_coal);
}

#endif

static int moderato_check_coalesce(struct moderato_priv *priv,
				   const struct moderato_coalesce *c, u8 order,
				   struct netlink_ext_ack *extack)
{
	switch (moderato_coalesce_check(c, order, priv->usecs_max)) {
	case MODERATO_COALESCE_OK:
		return 0;
	case MODERATO_COALESCE_NEVER:
#ifdef MODERATO_CORE
		NL_SET_ERR_MSG_MOD(extack,
				   "frames and usecs are 0: nothing would raise an interrupt");
#else
		NL_SET_ERR_MSG_MOD(extack,
				   "frames, usecs and usecs-low are all 0: nothing would raise an interrupt");
#endif
		return -EINVAL;
	case MODERATO_COALESCE_UNBOUNDED:
#ifdef MODERATO_CORE
		NL_SET_ERR_MSG_MOD(extack,
				   "more than one frame per interrupt needs usecs, for the last ones");
#else
		NL_SET_ERR_MSG_MOD(extack,
				   "more than one frame per interrupt needs usecs or usecs-low, for the last ones");
#endif
		return -EINVAL;
	case MODERATO_COALESCE_RING:
#ifdef MODERATO_OFFLOADS
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "frames of queue %u must not exceed %u, half of the ring",
				       priv->queue, moderato_size(order) / 2);
#else
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "frames must not exceed %u, half of the ring",
				       moderato_size(order) / 2);
#endif
		return -EINVAL;
	case MODERATO_COALESCE_TIMER:
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "the timers reach up to %u usecs",
				       priv->usecs_max);
		return -ERANGE;
	}
	return -EINVAL;
}

/* As the hardware's clock counts it, which ethtool -c then shows */
static void moderato_round_coalesce(struct moderato_priv *priv,
				    struct moderato_coalesce *c)
{
	u32 *usecs[] = { &c->usecs, &c->usecs_low, &c->usecs_high };
	u32 hz = priv->clock_hz;

	for (int i = 0; i < ARRAY_SIZE(usecs); i++)
		*usecs[i] = moderato_clocks_to_usecs(moderato_usecs_to_clocks(*usecs[i],
									      hz),
						     hz);
}

/* Puts what is asked for into @config, if it suits that one's rings. Those are of
 * the same length in all queues.
 */
static int
moderato_parse_coalesce(struct moderato_priv *priv,
			struct moderato_config *config,
			const struct ethtool_coalesce *ec,
			const struct kernel_ethtool_coalesce *kernel_coal,
			struct netlink_ext_ack *extack)
{
	struct moderato_coalesce rx = {
		.frames = ec->rx_max_coalesced_frames,
		.usecs = ec->rx_coalesce_usecs,
#ifndef MODERATO_CORE
		.usecs_low = ec->rx_coalesce_usecs_low,
		.usecs_high = ec->rx_coalesce_usecs_high,
#endif
	};
	struct moderato_coalesce tx = {
		.frames = ec->tx_max_coalesced_frames,
		.usecs = ec->tx_coalesce_usecs,
#ifndef MODERATO_CORE
		.usecs_low = ec->tx_coalesce_usecs_low,
		.usecs_high = ec->tx_coalesce_usecs_high,
#endif
	};
	bool rx_cqe = kernel_coal->use_cqe_mode_rx;
	bool tx_cqe = kernel_coal->use_cqe_mode_tx;
	int err;

	if ((rx_cqe && ec->use_adaptive_rx_coalesce) ||
	    (tx_cqe && ec->use_adaptive_tx_coalesce)) {
		NL_SET_ERR_MSG_MOD(extack,
				   "adaptive moderation knows no CQE mode");
		return -EINVAL;
	}
	rx = moderato_timers_by_mode(rx, rx_cqe);
	tx = moderato_timers_by_mode(tx, tx_cqe);
	err = moderato_check_coalesce(priv, &rx, config->rx_order, extack);
	if (err)
		return err;
	err = moderato_check_coalesce(priv, &tx, config->tx_order, extack);
	if (err)
		return err;

#ifndef MODERATO_CORE
	if (ec->rx_coalesce_usecs_irq > MODERATO_POLL_USECS_MAX) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "rx-usecs-irq must not exceed %lu",
				       MODERATO_POLL_USECS_MAX);
		return -ERANGE;
	}

#endif
	moderato_round_coalesce(priv, &rx);
	moderato_round_coalesce(priv, &tx);
	config->rx = rx;
	config->tx = tx;
	config->rx_cqe = rx_cqe;
	config->tx_cqe = tx_cqe;
#ifndef MODERATO_CORE
	config->poll_usecs = ec->rx_coalesce_usecs_irq;
#endif
	config->adaptive_rx = ec->use_adaptive_rx_coalesce;
	config->adaptive_tx = ec->use_adaptive_tx_coalesce;
	return 0;
}

/* Of the queue @priv: at once, or when it comes up */
static void moderato_moderate(struct moderato_priv *priv)
{
	if (!netif_running(priv->ndev))
		return;
#ifdef MODERATO_QUEUES
	if (!moderato_is_used(priv))
		return;
#endif
	moderato_rx_moderate(priv);
	moderato_tx_switch(priv->tx);
}

static int moderato_set_coalesce(struct net_device *ndev,
				 struct ethtool_coalesce *ec,
				 struct kernel_ethtool_coalesce *kernel_coal,
				 struct netlink_ext_ack *extack)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_config config = priv->config;
	struct moderato_priv *q;
	int err;

	err = moderato_parse_coalesce(priv, &config, ec, kernel_coal, extack);
	if (err)
		return err;

	for (q = moderato_first(priv); q < moderato_queues_end(priv); q++) {
		q->config = config;
		moderato_moderate(q);
	}
	return 0;
}

#ifdef MODERATO_QUEUES
static int moderato_get_per_queue_coalesce(struct net_device *ndev, u32 queue,
					   struct ethtool_coalesce *ec)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct kernel_ethtool_coalesce kernel_coal;

	if (queue >= priv->queues)
		return -EINVAL;
	return moderato_get_coalesce_of(priv + queue, ec, &kernel_coal);
}

/* What asks for it knows no CQE mode */
static int moderato_set_per_queue_coalesce(struct net_device *ndev, u32 queue,
					   struct ethtool_coalesce *ec)
{
	struct kernel_ethtool_coalesce kernel_coal = {};
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_config config;
	int err;

	if (queue >= priv->queues)
		return -EINVAL;
	priv += queue;
	config = priv->config;
	kernel_coal.use_cqe_mode_rx = config.rx_cqe;
	kernel_coal.use_cqe_mode_tx = config.tx_cqe;
	err = moderato_parse_coalesce(priv, &config, ec, &kernel_coal, NULL);
	if (err)
		return err;

	priv->config = config;
	moderato_moderate(priv);
	return 0;
}

#endif
#ifndef MODERATO_CORE
/* Strategies --------------------------------------------------------------- */

enum {
	MODERATO_FLAG_RX_NAPI,
	MODERATO_FLAG_TX_RECLAIM_ON_XMIT,
	MODERATO_FLAG_RX_TIMER,
	MODERATO_FLAG_TX_NAPI,
	MODERATO_FLAG_RX_DIM,
	MODERATO_FLAG_RX_SHARED,
	/* The last one is offered where there are CPUs to share with */
	MODERATO_FLAGS = MODERATO_FLAG_RX_SHARED + IS_ENABLED(CONFIG_SMP),
};

static const char moderato_flag_names[][ETH_GSTRING_LEN] = {
	[MODERATO_FLAG_RX_NAPI] = "rx-napi",
	[MODERATO_FLAG_TX_RECLAIM_ON_XMIT] = "tx-reclaim-on-xmit",
	[MODERATO_FLAG_RX_TIMER] = "rx-timer",
	[MODERATO_FLAG_TX_NAPI] = "tx-napi",
	[MODERATO_FLAG_RX_DIM] = "rx-dim",
	[MODERATO_FLAG_RX_SHARED] = "rx-shared",
};

static u32 moderato_get_priv_flags(struct net_device *ndev)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	const struct moderato_config *config = &priv->config;
	u32 flags = 0;

	if (config->rx_napi)
		flags |= BIT(MODERATO_FLAG_RX_NAPI);
	if (config->tx_reclaim_on_xmit)
		flags |= BIT(MODERATO_FLAG_TX_RECLAIM_ON_XMIT);
	if (config->rx_timer)
		flags |= BIT(MODERATO_FLAG_RX_TIMER);
	if (config->tx_napi)
		flags |= BIT(MODERATO_FLAG_TX_NAPI);
	if (config->rx_dim)
		flags |= BIT(MODERATO_FLAG_RX_DIM);
	if (config->rx_shared)
		flags |= BIT(MODERATO_FLAG_RX_SHARED);
	return flags;
}

static int moderato_set_priv_flags(struct net_device *ndev, u32 flags)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_config config = priv->config;
	bool with_rx = false;
	struct moderato_priv *q;
	int err;

	config.rx_napi = flags & BIT(MODERATO_FLAG_RX_NAPI);
	config.rx_timer = flags & BIT(MODERATO_FLAG_RX_TIMER);
	config.tx_reclaim_on_xmit =
		flags & BIT(MODERATO_FLAG_TX_RECLAIM_ON_XMIT);
	config.tx_napi = flags & BIT(MODERATO_FLAG_TX_NAPI);
	config.rx_dim = flags & BIT(MODERATO_FLAG_RX_DIM);
	config.rx_shared = flags & BIT(MODERATO_FLAG_RX_SHARED);

	/* The Rx strategies need buffers of different kinds, so that a change
	 * takes new rings.
	 */
	if (netif_running(ndev))
		with_rx = moderato_rx_ops(&config) != priv->rx->ops;
	err = moderato_change(priv, &config, ndev->mtu, with_rx, false);
	if (err)
		return err;

	for (q = moderato_first(priv); q < moderato_used_end(priv); q++)
		moderato_moderate(q);
	return 0;
}

#endif
/* Rings -------------------------------------------------------------------- */

static void
moderato_get_ringparam(struct net_device *ndev, struct ethtool_ringparam *ring,
		       struct kernel_ethtool_ringparam *kernel_ring,
		       struct netlink_ext_ack *extack)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	ring->rx_max_pending = moderato_size(priv->max_order);
	ring->tx_max_pending = moderato_size(priv->max_order);
	ring->rx_pending = moderato_size(priv->config.rx_order);
	ring->tx_pending = moderato_size(priv->config.tx_order);
}

static int
moderato_set_ringparam(struct net_device *ndev, struct ethtool_ringparam *ring,
		       struct kernel_ethtool_ringparam *kernel_ring,
		       struct netlink_ext_ack *extack)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_config config = priv->config;
	struct moderato_priv *q;
	int err;

	/* Rounded up to a power of two, which ethtool -g then shows */
	config.rx_order = moderato_order(ring->rx_pending);
	config.tx_order = moderato_order(ring->tx_pending);

	/* Also of queues that are not used now */
	for (q = moderato_first(priv); q < moderato_queues_end(priv); q++) {
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
			      config.rx_order != priv->config.rx_order,
			      config.tx_order != priv->config.tx_order);
	if (err)
		return err;
	/* Only a ring that is long enough takes skbs to be cut */
	netdev_update_features(ndev);
	return 0;
}

/* Statistics --------------------------------------------------------------- */

/* The driver's own, after those of the hardware */
enum {
#ifndef MODERATO_CORE
	MODERATO_OWN_RX_ALLOC_FAILED,
#endif
	MODERATO_OWN_HALTS,
	MODERATO_OWN_COUNTERS,
};

static const char moderato_own_names[MODERATO_OWN_COUNTERS][ETH_GSTRING_LEN] = {
#ifndef MODERATO_CORE
	[MODERATO_OWN_RX_ALLOC_FAILED] = "rx_alloc_failed",
#endif
	[MODERATO_OWN_HALTS] = "ring_halts",
};

static int moderato_get_sset_count(struct net_device *ndev, int sset)
{
	switch (sset) {
	case ETH_SS_STATS:
		return MODERATO_PRIVATE_COUNTERS + MODERATO_OWN_COUNTERS;
#ifndef MODERATO_CORE
	case ETH_SS_PRIV_FLAGS:
		return MODERATO_FLAGS;
#endif
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
#ifndef MODERATO_CORE
	case ETH_SS_PRIV_FLAGS:
		for (int i = 0; i < MODERATO_FLAGS; i++)
			ethtool_puts(&data, moderato_flag_names[i]);
		break;
#endif
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
#ifndef MODERATO_CORE
	data[MODERATO_OWN_RX_ALLOC_FAILED] = moderato_stats_alloc_failed(priv);
#endif
	data[MODERATO_OWN_HALTS] = priv->halts;
}

static void moderato_get_eth_mac_stats(struct net_device *ndev,
				       struct ethtool_eth_mac_stats *stats)
{
	/* IEEE 802.3 counts the octets of data and padding only */
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
#ifdef MODERATO_OFFLOADS
	if (priv->features & MODERATO_FEATURES_PAUSE) {
		/* What the hardware keeps for itself was received, too; pause
		 * frames are of the shortest length.
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
#endif
}

#ifdef MODERATO_OFFLOADS
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

#endif
#ifdef MODERATO_OFFLOADS
/* Of the counters from MODERATO_RX_LENGTHS and MODERATO_TX_LENGTHS on; the last
 * range ends with the longest frame that MAX_FRAME can allow.
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

#endif
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
#ifdef MODERATO_OFFLOADS
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
#endif
}

const struct ethtool_ops moderato_ethtool_ops = {
	.supported_coalesce_params = MODERATO_ETHTOOL_COALESCE,
#if defined(MODERATO_CORE) || defined(MODERATO_OFFLOADS)
	.get_pauseparam = moderato_get_pauseparam,
	.set_pauseparam = moderato_set_pauseparam,
#endif
#ifdef MODERATO_OFFLOADS
	.get_pause_stats = moderato_get_pause_stats,
	.get_eth_ctrl_stats = moderato_get_eth_ctrl_stats,
#endif
#ifndef MODERATO_CORE
	.get_drvinfo = moderato_get_drvinfo,
#endif
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = moderato_get_link_ksettings,
	.set_link_ksettings = moderato_set_link_ksettings,
	.nway_reset = moderato_nway_reset,
#ifdef MODERATO_TIMESTAMPS
	.get_ts_info = moderato_get_ts_info,
#else
	.get_ts_info = ethtool_op_get_ts_info,
#endif
	.get_coalesce = moderato_get_coalesce,
	.set_coalesce = moderato_set_coalesce,
#ifdef MODERATO_QUEUES
	.get_per_queue_coalesce = moderato_get_per_queue_coalesce,
	.set_per_queue_coalesce = moderato_set_per_queue_coalesce,
	.get_channels = moderato_get_channels,
	.set_channels = moderato_set_channels,
#ifndef MODERATO_LINUX_6_1
	.get_rxfh_indir_size = moderato_get_rxfh_indir_size,
	.get_rxfh_key_size = moderato_get_rxfh_key_size,
	.get_rxfh = moderato_get_rxfh,
	.set_rxfh = moderato_set_rxfh,
#endif
#endif
#ifndef MODERATO_CORE
	.get_priv_flags = moderato_get_priv_flags,
	.set_priv_flags = moderato_set_priv_flags,
#endif
	.get_ringparam = moderato_get_ringparam,
	.set_ringparam = moderato_set_ringparam,
#ifdef MODERATO_CORE
#ifdef MODERATO_QUEUES
	.get_rxnfc = moderato_get_rxnfc,
#endif
#else
	.get_rxnfc = moderato_get_rxnfc,
	.set_rxnfc = moderato_set_rxnfc,
#endif
	.get_sset_count = moderato_get_sset_count,
	.get_strings = moderato_get_strings,
	.get_ethtool_stats = moderato_get_ethtool_stats,
	.get_eth_mac_stats = moderato_get_eth_mac_stats,
	.get_rmon_stats = moderato_get_rmon_stats,
};
