// SPDX-License-Identifier: GPL-2.0-only
#ifdef MODERATO_QUEUES
/* Several queues: how many there are (ethtool -l), and which one a received frame
 * goes to (-x): a hash of its flow chooses an entry of a table.
 */
#else
/* Rings that take the places of others, in both directions or in one */
#endif

#include <linux/bitfield.h>
#include <linux/ethtool.h>
#include <linux/platform_device.h>
#ifndef MODERATO_LINUX_6_1
#include <linux/unaligned.h>
#endif

#include "moderato.h"

#ifdef MODERATO_QUEUES
static_assert(MODERATO_RSS_TABLE_1 - MODERATO_RSS_TABLE_0 == 4);
static_assert(MODERATO_RSS_KEY_1 - MODERATO_RSS_KEY_0 == 4);

/* Spreading ----------------------------------------------------------------- */

static void moderato_queues_apply_table(struct moderato_priv *priv)
{
	for (int i = 0; i < MODERATO_RSS_TABLE_WORDS; i++)
		writel(priv->rss_table[i],
		       priv->regs + MODERATO_RSS_TABLE_0 + 4 * i);
}

/* What the hardware has forgotten after a reset, or never knew */
void moderato_queues_apply(struct moderato_priv *priv)
{
	if (priv->max_queues == 1)
		return;

	for (int i = 0; i < MODERATO_RSS_KEY_WORDS; i++)
		writel(get_unaligned_le32(priv->rss_key + 4 * i),
		       priv->regs + MODERATO_RSS_KEY_0 + 4 * i);
	moderato_queues_apply_table(priv);
	writel(priv->rss_types, priv->regs + MODERATO_RSS_TYPES);
}

static void moderato_queues_set_entry(struct moderato_priv *priv,
				      unsigned int entry, u32 queue)
{
	u32 *word = &priv->rss_table[entry / 32];
	u32 bit = BIT(entry % 32);

	*word = queue ? *word | bit : *word & ~bit;
}

static void moderato_queues_default_table(struct moderato_priv *priv)
{
	for (int i = 0; i < MODERATO_RSS_TABLE; i++)
		moderato_queues_set_entry(priv, i,
					  ethtool_rxfh_indir_default(i, priv->queues));
}

/* Each queue's interrupts, and what a CPU sends, at a CPU of its own where there
 * are several; only if @on
 */
void moderato_queues_spread(struct moderato_priv *q, bool on)
{
	const struct cpumask *mask;

	if (q->first->queues == 1)
		return;

	mask = cpumask_of(cpumask_local_spread(q->queue, NUMA_NO_NODE));
	if (on) {
		irq_set_affinity_and_hint(q->rx_irq, mask);
		irq_set_affinity_and_hint(q->tx_irq, mask);
		netif_set_xps_queue(q->ndev, mask, q->queue);
	} else {
		irq_update_affinity_hint(q->rx_irq, NULL);
		irq_update_affinity_hint(q->tx_irq, NULL);
	}
}

/* Life ---------------------------------------------------------------------- */

/* After the first one knows its hardware and its configuration */
int moderato_queues_init(struct moderato_priv *priv)
{
	struct platform_device *pdev = to_platform_device(priv->dev);
	struct moderato_priv *q = priv + 1;
	int irqs;

	if (!FIELD_GET(MODERATO_FEATURES_QUEUES, priv->features))
		return 0;
	/* Their controller may not be there yet */
	irqs = platform_irq_count(pdev);
	if (irqs < 0)
		return irqs;
	if (irqs < 2 * MODERATO_MAX_QUEUES)
		return 0;

	q->first = priv;
	q->queue = 1;
	q->ndev = priv->ndev;
	q->dev = priv->dev;
	q->regs = priv->regs;
	q->clock_hz = priv->clock_hz;
	q->usecs_max = priv->usecs_max;
	q->max_order = priv->max_order;
	q->has_pacing = priv->has_pacing;
	q->features = priv->features;
	q->config = priv->config;
	q->rx_irq = platform_get_irq_byname(pdev, "rx1");
	if (q->rx_irq < 0)
		return q->rx_irq;
	q->tx_irq = platform_get_irq_byname(pdev, "tx1");
	if (q->tx_irq < 0)
		return q->tx_irq;

	priv->max_queues = MODERATO_MAX_QUEUES;
	priv->queues = min_t(unsigned int, MODERATO_MAX_QUEUES,
			     num_online_cpus());
	priv->rss_types = MODERATO_RSS_TYPES_IPV4 |
			  MODERATO_RSS_TYPES_TCP_IPV4 |
			  MODERATO_RSS_TYPES_IPV6 | MODERATO_RSS_TYPES_TCP_IPV6 |
			  MODERATO_RSS_TYPES_UDP_IPV4 |
			  MODERATO_RSS_TYPES_UDP_IPV6;
	netdev_rss_key_fill(priv->rss_key, sizeof(priv->rss_key));
	moderato_queues_default_table(priv);
	moderato_queues_apply(priv);
	return 0;
}

/* Before the net device is registered */
int moderato_queues_publish(struct moderato_priv *priv)
{
	netif_set_real_num_tx_queues(priv->ndev, priv->queues);
	return netif_set_real_num_rx_queues(priv->ndev, priv->queues);
}

/* Number ---------------------------------------------------------------------- */

void moderato_get_channels(struct net_device *ndev,
			   struct ethtool_channels *channels)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	channels->max_combined = priv->max_queues;
	channels->combined_count = priv->queues;
}

/* With another number the interface begins anew */
int moderato_set_channels(struct net_device *ndev,
			  struct ethtool_channels *channels)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	const struct net_device_ops *ops = ndev->netdev_ops;
	unsigned int before = priv->queues;
	bool running = netif_running(ndev);
	int err;

	if (channels->combined_count == before)
		return 0;
#ifndef MODERATO_CORE
	/* See moderato_flow_insert() */
	if (channels->combined_count > 1 && moderato_flows_used(priv))
		return -EBUSY;
#endif

	if (running)
		ops->ndo_stop(ndev);
	priv->queues = channels->combined_count;
	err = netif_set_real_num_queues(ndev, priv->queues, priv->queues);
	if (err)
		priv->queues = before;
	if (!netif_is_rxfh_configured(ndev))
		moderato_queues_default_table(priv);
	moderato_queues_apply_table(priv);
	return running ? ops->ndo_open(ndev) ?: err : err;
}

/* Hash and table -------------------------------------------------------------- */

u32 moderato_get_rxfh_indir_size(struct net_device *ndev)
{
	const struct moderato_priv *priv = netdev_priv(ndev);

	return priv->max_queues == 1 ? 0 : MODERATO_RSS_TABLE;
}

u32 moderato_get_rxfh_key_size(struct net_device *ndev)
{
	const struct moderato_priv *priv = netdev_priv(ndev);

	return priv->max_queues == 1 ? 0 : sizeof(priv->rss_key);
}

#ifndef MODERATO_LINUX_6_1
int moderato_get_rxfh(struct net_device *ndev, struct ethtool_rxfh_param *rxfh)
{
	const struct moderato_priv *priv = netdev_priv(ndev);

	rxfh->hfunc = ETH_RSS_HASH_TOP;
	if (rxfh->key)
		memcpy(rxfh->key, priv->rss_key, sizeof(priv->rss_key));
	for (int i = 0; rxfh->indir && i < MODERATO_RSS_TABLE; i++)
		rxfh->indir[i] = priv->rss_table[i / 32] >> i % 32 & 1;
	return 0;
}

/* Takes effect at once: a flow that moves may be out of order for a moment */
int moderato_set_rxfh(struct net_device *ndev, struct ethtool_rxfh_param *rxfh,
		      struct netlink_ext_ack *extack)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (priv->max_queues == 1)
		return -EOPNOTSUPP;
	if (rxfh->hfunc != ETH_RSS_HASH_NO_CHANGE &&
	    rxfh->hfunc != ETH_RSS_HASH_TOP) {
		NL_SET_ERR_MSG_MOD(extack, "the hash is Toeplitz' (toeplitz)");
		return -EOPNOTSUPP;
	}

	if (rxfh->key)
		memcpy(priv->rss_key, rxfh->key, sizeof(priv->rss_key));
	for (int i = 0; rxfh->indir && i < MODERATO_RSS_TABLE; i++)
		moderato_queues_set_entry(priv, i, rxfh->indir[i]);
	moderato_queues_apply(priv);
	return 0;
}
#endif

/* What of a frame the hash is made of: all that it can be (RSS_TYPES) */
int moderato_get_rxfh_fields(const struct moderato_priv *priv,
			     struct ethtool_rxnfc *cmd)
{
	if (priv->max_queues == 1)
		return -EOPNOTSUPP;

	cmd->data = 0;
	switch (cmd->flow_type) {
	case TCP_V4_FLOW:
	case TCP_V6_FLOW:
	case UDP_V4_FLOW:
	case UDP_V6_FLOW:
		cmd->data |= RXH_L4_B_0_1 | RXH_L4_B_2_3;
		fallthrough;
	case SCTP_V4_FLOW:
	case SCTP_V6_FLOW:
	case AH_ESP_V4_FLOW:
	case AH_ESP_V6_FLOW:
	case IPV4_FLOW:
	case IPV6_FLOW:
		cmd->data |= RXH_IP_SRC | RXH_IP_DST;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

#ifdef MODERATO_CORE
int moderato_get_rxnfc(struct net_device *ndev, struct ethtool_rxnfc *cmd,
		       u32 *locations)
{
	const struct moderato_priv *priv = netdev_priv(ndev);

	switch (cmd->cmd) {
	case ETHTOOL_GRXRINGS:
		cmd->data = priv->queues;
		return 0;
	case ETHTOOL_GRXFH:
		return moderato_get_rxfh_fields(priv, cmd);
	default:
		return -EOPNOTSUPP;
	}
}

#endif
#endif
/* Rings ----------------------------------------------------------------------- */

/* Those that do not go into the place of another one */
static void moderato_spare_destroy(struct moderato_spare *spare)
{
	for (int i = 0; i < MODERATO_MAX_QUEUES; i++) {
		if (spare->rx[i])
			moderato_rx_destroy(spare->rx[i]);
		if (spare->tx[i])
			moderato_tx_destroy(spare->tx[i]);
	}
}

/* Return: 0, or an error, and there are none */
int moderato_spare_create(struct moderato_priv *priv,
			  struct moderato_spare *spare,
			  const struct moderato_config *config,
			  unsigned int mtu, bool with_rx, bool with_tx)
{
	struct moderato_priv *q;
	struct moderato_rx *rx;
	struct moderato_tx *tx;

	memset(spare, 0, sizeof(*spare));
	for (q = moderato_first(priv); q < moderato_used_end(priv); q++) {
		if (with_rx) {
#ifdef MODERATO_CORE
			rx = moderato_rx_create(q, config->rx_order, mtu);
#else
			rx = moderato_rx_create(q, config->rx_order, mtu,
						moderato_rx_ops(config));
#endif
			if (IS_ERR(rx)) {
				moderato_spare_destroy(spare);
				return PTR_ERR(rx);
			}
			spare->rx[q->queue] = rx;
		}
		if (with_tx) {
			tx = moderato_tx_create(q, config->tx_order);
			if (IS_ERR(tx)) {
				moderato_spare_destroy(spare);
				return PTR_ERR(tx);
			}
			spare->tx[q->queue] = tx;
		}
	}
	return 0;
}

/* In place of the running ones. After an error, that the hardware does not let
 * go of one, nothing is started any more.
 */
int moderato_spare_install_rx(struct moderato_priv *priv,
			      struct moderato_spare *spare)
{
	struct moderato_priv *q;
	int err = 0;

	for (q = moderato_first(priv); q < moderato_used_end(priv); q++) {
		struct moderato_rx *rx = spare->rx[q->queue];

		spare->rx[q->queue] = NULL;
		if (rx && err)
			moderato_rx_destroy(rx);
		else if (rx)
			err = moderato_rx_install(q, rx);
	}
	if (err)
		moderato_spare_destroy(spare);
	return err;
}

int moderato_spare_install_tx(struct moderato_priv *priv,
			      struct moderato_spare *spare)
{
	struct moderato_priv *q;
	int err = 0;

	for (q = moderato_first(priv); q < moderato_used_end(priv); q++) {
		struct moderato_tx *tx = spare->tx[q->queue];

		spare->tx[q->queue] = NULL;
		if (tx && err)
			moderato_tx_destroy(tx);
		else if (tx)
			err = moderato_tx_install(q, tx);
	}
	return err;
}

#ifdef MODERATO_QUEUES
/* What is not of each queue, as the first one's configuration has it now */
void moderato_queues_configure(struct moderato_priv *priv)
{
	struct moderato_priv *q;

	for (q = moderato_first(priv); q < moderato_used_end(priv); q++) {
		struct moderato_config config = priv->config;

		if (q == priv)
			continue;
		config.rx = q->config.rx;
		config.tx = q->config.tx;
		config.rx_cqe = q->config.rx_cqe;
		config.tx_cqe = q->config.tx_cqe;
		config.adaptive_rx = q->config.adaptive_rx;
		config.adaptive_tx = q->config.adaptive_tx;
		q->config = config;
	}
}
#endif
