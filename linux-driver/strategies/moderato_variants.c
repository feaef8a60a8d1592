// SPDX-License-Identifier: GPL-2.0-only
/* Strategies of the literature, for comparison. Private flags select them, and
 * ethtool -C has additional settings for them. Also their netpoll, which cannot
 * rely on a poll.
 */

#include <linux/bitfield.h>

#include "moderato_dim.h"
#include "moderato_variants.h"

/* As in the patch: one poll receives a full ring */
#define MODERATO_RX_TIMER_WEIGHT	256

/* Longest time between two polls of rx-timer */
#define MODERATO_POLL_USECS_MAX		USEC_PER_SEC

#define MODERATO_VARIANTS_COALESCE					\
	(ETHTOOL_COALESCE_USECS_LOW_HIGH | ETHTOOL_COALESCE_RX_USECS_IRQ)

/* @flags: private flags, as the user set them
 * @get_sset_count, @get_strings, @get_stats: the replaced operations
 */
struct moderato_variants {
	u32 flags;
	int (*get_sset_count)(struct net_device *ndev, int sset);
	void (*get_strings)(struct net_device *ndev, u32 sset, u8 *data);
	void (*get_stats)(struct net_device *ndev, struct ethtool_stats *stats,
			  u64 *data);
};

/* Strategies --------------------------------------------------------------- */

enum {
	MODERATO_FLAG_RX_NAPI,
	MODERATO_FLAG_TX_RECLAIM_ON_XMIT,
	MODERATO_FLAG_RX_TIMER,
	MODERATO_FLAG_TX_NAPI,
	MODERATO_FLAG_RX_DIM,
	MODERATO_FLAG_RX_SHARED,
	/* rx-shared needs several CPUs */
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

static const struct moderato_rx_ops *moderato_rx_variant(u32 flags)
{
	if (!(flags & BIT(MODERATO_FLAG_RX_NAPI)))
		return &moderato_rx_irq_ops;
	if (flags & BIT(MODERATO_FLAG_RX_TIMER))
		return &moderato_rx_timer_ops;
	return IS_ENABLED(CONFIG_SMP) && flags & BIT(MODERATO_FLAG_RX_SHARED) ?
		       &moderato_rx_shared_ops : &moderato_rx_napi_ops;
}

static const struct moderato_tx_ops *moderato_tx_variant(u32 flags)
{
	if (flags & BIT(MODERATO_FLAG_TX_RECLAIM_ON_XMIT))
		return &moderato_tx_none_ops;
	return flags & BIT(MODERATO_FLAG_RX_NAPI) &&
	       flags & BIT(MODERATO_FLAG_TX_NAPI) ?
		       &moderato_tx_poll_ops : &moderato_tx_irq_ops;
}

static u32 moderato_get_priv_flags(struct net_device *ndev)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	return priv->variants->flags;
}

static int moderato_set_priv_flags(struct net_device *ndev, u32 flags)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_config config = priv->queue[0].config;
	bool with_rx = false;
	struct moderato_queue *q;
	int err;

	config.rx_ops = moderato_rx_variant(flags);
	config.tx_ops = moderato_tx_variant(flags);
	config.paces = priv->has_pacing && !(flags & BIT(MODERATO_FLAG_RX_DIM));

	/* Rx strategies use different kinds of buffers: a change needs new
	 * rings
	 */
	if (netif_running(ndev))
		with_rx = config.rx_ops != priv->queue[0].rx->ops;
	err = moderato_change(priv, &config, ndev->mtu, with_rx, false);
	if (err)
		return err;

	priv->variants->flags = flags;
	for (q = priv->queue; q < moderato_used_end(priv); q++)
		moderato_moderate(q);
	return 0;
}

/* Polls -------------------------------------------------------------------- */

/* Selects the poll and its weight. With rules for urgent frames the weight is
 * low: an urgent frame waits for the others of one round, and for as many
 * frames of another port.
 */
void moderato_rx_choose_poll(struct moderato_queue *q)
{
	const struct moderato_rx_ops *ops = q->config.rx_ops;
	bool urgent = moderato_rules_urgent(q->priv);
	int weight = ops == &moderato_rx_timer_ops ? MODERATO_RX_TIMER_WEIGHT :
						     MODERATO_NAPI_WEIGHT;

	if (urgent)
		weight = min(weight, MODERATO_URGENT_WEIGHT);
	WRITE_ONCE(q->napi.weight, weight);
	WRITE_ONCE(q->napi.poll, ops->shared ? moderato_shared_poll :
				 urgent ? moderato_urgent_poll :
					  moderato_napi_poll);
}

/* netpoll sends with interrupts off, perhaps for ever, as in a panic, and calls
 * this when the queue is stopped. All others that take frames off the ring are
 * locked out: a transmission and the timer by the queue's lock, a change of the
 * ring by @draining, the interrupt by disable. netpoll may have interrupted one
 * of them, here or on a stopped CPU, and does not wait for it.
 */
static void moderato_tx_netpoll(struct moderato_tx *tx)
{
	if (READ_ONCE(tx->in_irq) || READ_ONCE(tx->txq->xmit_lock_owner) >= 0)
		return;

	__netif_tx_lock(tx->txq, smp_processor_id());
	if (!tx->draining) {
		if (disable_hardirq(tx->queue->tx_irq))
			moderato_tx_reclaim(tx);
		enable_irq(tx->queue->tx_irq);
	}
	__netif_tx_unlock(tx->txq);
}

void moderato_poll_controller(struct net_device *ndev)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_queue *q;

	for (q = priv->queue; q < moderato_used_end(priv); q++)
		moderato_tx_netpoll(q->tx);
}

/* ethtool ------------------------------------------------------------------ */

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

/* usecs-low is the packet timer and usecs-high the gap. ethtool has no names for
 * them: by its own definition, the two are usecs at a low and a high packet rate.
 */
void moderato_variants_get_coalesce(const struct moderato_queue *q,
				    struct ethtool_coalesce *ec)
{
	const struct moderato_config *config = &q->config;
	struct moderato_coalesce rx =
		moderato_timers_by_mode(config->rx, config->rx_cqe);
	struct moderato_coalesce tx =
		moderato_timers_by_mode(config->tx, config->tx_cqe);

	ec->rx_coalesce_usecs_low = rx.packet_usecs;
	ec->rx_coalesce_usecs_high = rx.gap_usecs;
	ec->rx_coalesce_usecs_irq = config->poll_usecs;
	ec->tx_coalesce_usecs_low = tx.packet_usecs;
	ec->tx_coalesce_usecs_high = tx.gap_usecs;
}

int moderato_variants_set_coalesce(struct moderato_config *config,
				   const struct ethtool_coalesce *ec,
				   struct netlink_ext_ack *extack)
{
	if (ec->rx_coalesce_usecs_irq > MODERATO_POLL_USECS_MAX) {
		NL_SET_ERR_MSG_FMT_MOD(extack,
				       "rx-usecs-irq must not exceed %lu",
				       MODERATO_POLL_USECS_MAX);
		return -ERANGE;
	}
	config->rx.packet_usecs = ec->rx_coalesce_usecs_low;
	config->rx.gap_usecs = ec->rx_coalesce_usecs_high;
	config->poll_usecs = ec->rx_coalesce_usecs_irq;
	config->tx.packet_usecs = ec->tx_coalesce_usecs_low;
	config->tx.gap_usecs = ec->tx_coalesce_usecs_high;
	return 0;
}

/* Drops. The standard groups have them, too; here they are next to the counters
 * they are compared with
 */
static const struct {
	char name[ETH_GSTRING_LEN];
	enum moderato_counter counter;
} moderato_drops[] = {
	{ "rx_drop_fifo", MODERATO_RX_DROP_FIFO },
	{ "rx_drop_ring", MODERATO_RX_DROP_RING },
	{ "rx_drop_buffer", MODERATO_RX_DROP_BUFFER },
};

static int moderato_variants_get_sset_count(struct net_device *ndev, int sset)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (sset == ETH_SS_PRIV_FLAGS)
		return MODERATO_FLAGS;
	if (sset == ETH_SS_STATS)
		return priv->variants->get_sset_count(ndev, sset) +
		       ARRAY_SIZE(moderato_drops) + 1;
	return -EOPNOTSUPP;
}

static void moderato_variants_get_strings(struct net_device *ndev, u32 sset,
					  u8 *data)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (sset == ETH_SS_PRIV_FLAGS)
		for (int i = 0; i < MODERATO_FLAGS; i++)
			ethtool_puts(&data, moderato_flag_names[i]);
	if (sset != ETH_SS_STATS)
		return;
	for (int i = 0; i < ARRAY_SIZE(moderato_drops); i++)
		ethtool_puts(&data, moderato_drops[i].name);
	ethtool_puts(&data, "rx_alloc_failed");
	priv->variants->get_strings(ndev, sset, data);
}

static void moderato_variants_get_stats(struct net_device *ndev,
					struct ethtool_stats *stats, u64 *data)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	u64 total[MODERATO_COUNTERS];

	moderato_stats_read(priv, total);
	for (int i = 0; i < ARRAY_SIZE(moderato_drops); i++)
		*data++ = total[moderato_drops[i].counter];
	*data++ = moderato_stats_alloc_failed(priv);
	priv->variants->get_stats(ndev, stats, data);
}

/* Life --------------------------------------------------------------------- */

int moderato_variants_init(struct moderato_priv *priv)
{
	priv->variants = devm_kzalloc(priv->dev, sizeof(*priv->variants),
				      GFP_KERNEL);
	if (!priv->variants)
		return -ENOMEM;
	priv->variants->flags = BIT(MODERATO_FLAG_RX_NAPI) |
				BIT(MODERATO_FLAG_TX_NAPI);
	priv->variants->get_sset_count = priv->ethtool_ops.get_sset_count;
	priv->variants->get_strings = priv->ethtool_ops.get_strings;
	priv->variants->get_stats = priv->ethtool_ops.get_ethtool_stats;

	priv->ethtool_ops.supported_coalesce_params |=
		MODERATO_VARIANTS_COALESCE;
	priv->ethtool_ops.get_drvinfo = moderato_get_drvinfo;
	priv->ethtool_ops.get_priv_flags = moderato_get_priv_flags;
	priv->ethtool_ops.set_priv_flags = moderato_set_priv_flags;
	priv->ethtool_ops.get_sset_count = moderato_variants_get_sset_count;
	priv->ethtool_ops.get_strings = moderato_variants_get_strings;
	priv->ethtool_ops.get_ethtool_stats = moderato_variants_get_stats;
	moderato_set_poll_controller(priv);
	return 0;
}
