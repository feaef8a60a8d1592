// SPDX-License-Identifier: GPL-2.0-only
/* Scheduled transmission: requests of qdiscs (tc), the link's rate, counters */

#include <net/pkt_sched.h>

#include "moderato_dim.h"
#include "moderato_launch.h"
#include "moderato_tc.h"

/* Requests ----------------------------------------------------------------- */

/* Frames with launch times that are in the hardware stay there */
static int moderato_tc_etf(struct moderato_priv *priv,
			   const struct tc_etf_qopt_offload *etf)
{
	if (!(priv->features & MODERATO_FEATURES_LAUNCH))
		return -EOPNOTSUPP;
	if (etf->queue < 0 || etf->queue >= priv->count)
		return -EINVAL;

	assign_bit(etf->queue, &priv->tc->launch, etf->enable);
	if (netif_device_present(priv->ndev))
		moderato_moderate(&priv->queue[etf->queue]);
	return 0;
}

/* Lists of gates name queues, not traffic classes */
static int moderato_tc_caps(struct net_device *ndev,
			    struct tc_query_caps_base *base)
{
	const struct moderato_priv *priv = netdev_priv(ndev);
	const struct moderato_tc *tc = priv->tc;
	struct tc_taprio_caps *caps = base->caps;

	if (base->type != TC_SETUP_QDISC_TAPRIO)
		return tc->setup_tc ? tc->setup_tc(ndev, TC_QUERY_CAPS, base) :
				      -EOPNOTSUPP;
	caps->gate_mask_per_txq = true;
	return 0;
}

static int moderato_tc_setup(struct net_device *ndev, enum tc_setup_type type,
			     void *type_data)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_tc *tc = priv->tc;

	switch (type) {
	case TC_QUERY_CAPS:
		return moderato_tc_caps(ndev, type_data);
	case TC_SETUP_QDISC_ETF:
		return moderato_tc_etf(priv, type_data);
	case TC_SETUP_QDISC_TAPRIO:
		return moderato_taprio_setup(priv, type_data);
	case TC_SETUP_QDISC_CBS:
		return moderato_cbs_setup(priv, type_data);
	default:
		return tc->setup_tc ? tc->setup_tc(ndev, type, type_data) :
				      -EOPNOTSUPP;
	}
}

/* Link --------------------------------------------------------------------- */

/* Writes the rate of the link, in Mb/s, to the hardware */
void moderato_tc_set_speed(struct moderato_priv *priv, int speed)
{
	bool rates;
	u32 octet;

	if (!priv->tc || speed <= 0)
		return;
	octet = moderato_link_octet(speed);
	mutex_lock(&priv->tc->lock);
	priv->tc->octet = octet;
	rates = readl(priv->regs + MODERATO_CAPABILITY) &
		MODERATO_CAPABILITY_RATES;
	writel(octet, priv->regs + MODERATO_LINK_OCTET);
	writel(moderato_launch_ahead(octet, rates),
	       priv->regs + MODERATO_LAUNCH_AHEAD);
	moderato_taprio_rate(priv);
	moderato_cbs_apply(priv);
	mutex_unlock(&priv->tc->lock);
}

/* Counters ----------------------------------------------------------------- */

static const char moderato_tc_names[][ETH_GSTRING_LEN] = {
	[MODERATO_TC_LATE] = "launch_late",
	[MODERATO_TC_DROPS] = "launch_drops",
	[MODERATO_TC_INVALID] = "launch_invalid",
	[MODERATO_TC_SHUT] = "gate_drops",
};

static_assert(ARRAY_SIZE(moderato_tc_names) == MODERATO_TC_COUNTERS);

static const u16 moderato_tc_offsets[MODERATO_TC_INVALID] = {
	[MODERATO_TC_LATE] = MODERATO_STAT_TX_LAUNCH_LATE,
	[MODERATO_TC_DROPS] = MODERATO_STAT_TX_LAUNCH_DROPS,
};

/* Extends the hardware's counters, or only notes their values. They count less
 * than 2^32 frames in 48 minutes at 1 Gb/s.
 */
static void moderato_tc_look(struct moderato_priv *priv, bool count)
{
	struct moderato_tc *tc = priv->tc;

	for (int i = 0; i < MODERATO_TC_INVALID; i++) {
		u32 now = readl(priv->regs + moderato_tc_offsets[i]);

		if (count)
			tc->total[i] += (u32)(now - tc->seen[i]);
		tc->seen[i] = now;
	}
}

static int moderato_tc_get_sset_count(struct net_device *ndev, int sset)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	int count = priv->tc->ethtool_ops.get_sset_count(ndev, sset);

	return sset == ETH_SS_STATS ? count + MODERATO_TC_COUNTERS : count;
}

static void moderato_tc_get_strings(struct net_device *ndev, u32 sset, u8 *data)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (sset == ETH_SS_STATS)
		for (int i = 0; i < MODERATO_TC_COUNTERS; i++)
			ethtool_puts(&data, moderato_tc_names[i]);
	priv->tc->ethtool_ops.get_strings(ndev, sset, data);
}

static void moderato_tc_get_stats(struct net_device *ndev,
				  struct ethtool_stats *stats, u64 *data)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_tc *tc = priv->tc;

	/* A suspended device may have no power to answer */
	if (netif_device_present(ndev))
		moderato_tc_look(priv, true);
	memcpy(data, tc->total, sizeof(tc->total));
	data[MODERATO_TC_INVALID] = atomic_read(&tc->invalid);
	data[MODERATO_TC_SHUT] = 0;
	for (int i = 0; i < priv->count; i++)
		data[MODERATO_TC_SHUT] += atomic_read(&tc->shut[i]);
	tc->ethtool_ops.get_ethtool_stats(ndev, stats,
					  data + MODERATO_TC_COUNTERS);
}

/* Life --------------------------------------------------------------------- */

/* The hardware was reset */
void moderato_tc_restore(struct moderato_priv *priv)
{
	struct moderato_tc *tc = priv->tc;

	if (!tc)
		return;
	moderato_tc_look(priv, false);
	moderato_cbs_restart(priv);
	moderato_taprio_restart(priv);
}

/* Called after all other parts that have operations of the same kind. Launch
 * times are those of the PTP clock, which does not exist without the kernel's.
 */
int moderato_tc_init(struct moderato_priv *priv)
{
	struct moderato_tc *tc;

	if (!(priv->features & MODERATO_FEATURES_LAUNCH) || !priv->ptp)
		return 0;

	tc = devm_kzalloc(priv->dev, sizeof(*tc), GFP_KERNEL);
	if (!tc)
		return -ENOMEM;
	tc->setup_tc = priv->netdev_ops.ndo_setup_tc;
	tc->ethtool_ops = priv->ethtool_ops;
	moderato_taprio_init(priv, tc);
	/* The PTP clock exists: it may be set already */
	smp_store_release(&priv->tc, tc);
	moderato_cbs_restart(priv);
	moderato_tc_look(priv, false);

	priv->netdev_ops.ndo_setup_tc = moderato_tc_setup;
	priv->ethtool_ops.get_sset_count = moderato_tc_get_sset_count;
	priv->ethtool_ops.get_strings = moderato_tc_get_strings;
	priv->ethtool_ops.get_ethtool_stats = moderato_tc_get_stats;
	return 0;
}
