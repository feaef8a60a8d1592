// SPDX-License-Identifier: GPL-2.0-only
/* Two queues: the number in use (ethtool -l), and the queue of a received
 * frame, which a hash of its flow selects from a table.
 */

#include <linux/bitfield.h>
#include <linux/ethtool.h>
#include <linux/platform_device.h>

#include "moderato_channels.h"
#include "moderato_variants.h"

static_assert(MODERATO_RSS_TABLE_1 - MODERATO_RSS_TABLE_0 == 4);
static_assert(MODERATO_RSS_KEY_1 - MODERATO_RSS_KEY_0 == 4);

/* Spreading ----------------------------------------------------------------- */

static void moderato_channels_apply_table(struct moderato_priv *priv)
{
	for (int i = 0; i < MODERATO_RSS_TABLE_WORDS; i++)
		writel(priv->rss->table[i],
		       priv->regs + MODERATO_RSS_TABLE_0 + 4 * i);
}

/* Writes the registers, which a reset has cleared */
void moderato_channels_apply(struct moderato_priv *priv)
{
	if (!priv->rss)
		return;

	for (int i = 0; i < MODERATO_RSS_KEY_WORDS; i++)
		writel(get_unaligned_le32(priv->rss->key + 4 * i),
		       priv->regs + MODERATO_RSS_KEY_0 + 4 * i);
	moderato_channels_apply_table(priv);
	writel(priv->rss->types, priv->regs + MODERATO_RSS_TYPES);
}

void moderato_channels_set_entry(struct moderato_priv *priv, unsigned int entry,
				 u32 queue)
{
	u32 *word = &priv->rss->table[entry / 32];
	u32 bit = BIT(entry % 32);

	*word = queue ? *word | bit : *word & ~bit;
}

static void moderato_channels_default_table(struct moderato_priv *priv)
{
	for (int i = 0; i < MODERATO_RSS_TABLE; i++)
		moderato_channels_set_entry(priv, i,
					    ethtool_rxfh_indir_default(i, priv->used));
}

/* Each queue has a CPU of its own, if several are used */
static const struct cpumask *moderato_queue_cpu(const struct moderato_queue *q)
{
	return cpumask_of(cpumask_local_spread(q->index, NUMA_NO_NODE));
}

/* Sets the affinity hint while the interrupts are requested */
void moderato_channels_hint(struct moderato_queue *q, bool on)
{
	const struct cpumask *mask = NULL;

	if (on && q->priv->count > 1)
		mask = moderato_queue_cpu(q);
	irq_update_affinity_hint(q->rx_irq, mask);
	irq_update_affinity_hint(q->tx_irq, mask);
}

/* Binds each queue's interrupts and transmissions to its CPU whenever the
 * number of queues changes; the user may change that afterwards.
 */
void moderato_channels_spread(struct moderato_priv *priv)
{
	struct moderato_queue *q;

	if (priv->used == 1)
		return;

	for (q = priv->queue; q < moderato_used_end(priv); q++) {
		const struct cpumask *mask = moderato_queue_cpu(q);

		/* Failure costs speed only */
		irq_set_affinity(q->rx_irq, mask);
		irq_set_affinity(q->tx_irq, mask);
		netif_set_xps_queue(priv->ndev, mask, q->index);
	}
}

/* Transmission ---------------------------------------------------------------- */

/* A sender that bypasses the stack (pktgen, packet sockets) may have chosen a
 * queue that is no longer used and has no rings. While the port runs, such a
 * queue is not stopped (moderato_start_unused()). -L waits for senders that
 * found the queue used.
 */
static netdev_tx_t moderato_channels_start_xmit(struct sk_buff *skb,
						struct net_device *ndev)
{
	const struct moderato_priv *priv = netdev_priv(ndev);

	if (likely(skb_get_queue_mapping(skb) < READ_ONCE(priv->used)))
		return moderato_start_xmit(skb, ndev);
	dev_core_stats_tx_dropped_inc(ndev);
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

/* Number ---------------------------------------------------------------------- */

static void moderato_get_channels(struct net_device *ndev,
				  struct ethtool_channels *channels)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	channels->max_combined = priv->count;
	channels->combined_count = priv->used;
}

/* Distributes frames over the used queues, unless the user has set the table */
static void moderato_channels_use(struct moderato_priv *priv, unsigned int number)
{
	WRITE_ONCE(priv->used, number);
	if (!netif_is_rxfh_configured(priv->ndev))
		moderato_channels_default_table(priv);
	moderato_channels_apply_table(priv);
}

/* Takes down the queues from @from on of a running port. If a DMA does not
 * stop, all queues go down.
 */
static int moderato_channels_remove(struct moderato_queue *from,
				    struct moderato_queue *end)
{
	struct moderato_queue *q;
	int err = 0;

	for (q = from; q < end; q++) {
		err = moderato_queue_down(q) ?: err;
		moderato_queue_destroy(q);
	}
	moderato_start_unused(from->priv);
	if (err)
		moderato_give_up(from->priv);
	return err;
}

/* Starts queues before anything uses them. Return: 0, or an error; then nothing
 * has changed
 */
static int moderato_channels_more(struct moderato_priv *priv, unsigned int number)
{
	struct moderato_queue *from = moderato_used_end(priv);
	struct moderato_queue *end = from;
	int err = 0;

	while (netif_running(priv->ndev) && end < priv->queue + number) {
		err = moderato_queue_create(end);
		if (err)
			break;
		moderato_queue_up(end++);
	}
	if (!err)
		err = netif_set_real_num_queues(priv->ndev, number, number);
	if (err) {
		moderato_channels_remove(from, end);
		return err;
	}

	/* Publishes the rings before their number: netpoll may read it in any
	 * context
	 */
	synchronize_net();
	moderato_channels_use(priv, number);
	moderato_channels_spread(priv);
	return 0;
}

/* Removes queues from use before they go down. Return: 0, or an error if a DMA
 * does not stop
 */
static int moderato_channels_fewer(struct moderato_priv *priv,
				   unsigned int number)
{
	struct moderato_queue *end = moderato_used_end(priv);

	moderato_channels_use(priv, number);
	/* Never fails for fewer queues, and waits for transmissions and polls
	 */
	netif_set_real_num_queues(priv->ndev, number, number);
	if (!netif_running(priv->ndev))
		return 0;
	return moderato_channels_remove(priv->queue + number, end);
}

/* The first queue keeps running */
static int moderato_set_channels(struct net_device *ndev,
				 struct ethtool_channels *channels)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	unsigned int number = channels->combined_count;

	if (number > 1 && moderato_rxnfc_one_queue(priv))
		return -EBUSY;
	if (number > priv->used)
		return moderato_channels_more(priv, number);
	if (number < priv->used)
		return moderato_channels_fewer(priv, number);
	return 0;
}

/* Hash and table -------------------------------------------------------------- */

/* Fields of the hash: all that RSS_TYPES can select */
static int moderato_get_rxfh_fields(struct ethtool_rxnfc *cmd)
{
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

static int moderato_channels_get_rxnfc(struct net_device *ndev,
				       struct ethtool_rxnfc *cmd, u32 *locations)
{
	if (cmd->cmd == ETHTOOL_GRXFH)
		return moderato_get_rxfh_fields(cmd);
	return moderato_get_rxnfc(ndev, cmd, locations);
}

/* Life ---------------------------------------------------------------------- */

/* Called with the first queue's hardware and configuration known */
int moderato_channels_init(struct moderato_priv *priv)
{
	struct platform_device *pdev = to_platform_device(priv->dev);
	struct moderato_queue *q = priv->queue + 1;
	int irqs;

	if (!FIELD_GET(MODERATO_FEATURES_QUEUES, priv->features))
		return 0;
	priv->netdev_ops.ndo_start_xmit = moderato_channels_start_xmit;
	/* The interrupt controller may not have probed yet */
	irqs = platform_irq_count(pdev);
	if (irqs < 0)
		return irqs;
	if (irqs < 2 * MODERATO_MAX_QUEUES)
		return 0;

	q->rx_irq = platform_get_irq_byname(pdev, "rx1");
	if (q->rx_irq < 0)
		return q->rx_irq;
	q->tx_irq = platform_get_irq_byname(pdev, "tx1");
	if (q->tx_irq < 0)
		return q->tx_irq;
	priv->rss = devm_kzalloc(priv->dev, sizeof(*priv->rss), GFP_KERNEL);
	if (!priv->rss)
		return -ENOMEM;

	priv->count = MODERATO_MAX_QUEUES;
	priv->used = min_t(unsigned int, MODERATO_MAX_QUEUES,
			   num_online_cpus());
	priv->rss->types = MODERATO_RSS_TYPES_IPV4 |
			   MODERATO_RSS_TYPES_TCP_IPV4 |
			   MODERATO_RSS_TYPES_IPV6 |
			   MODERATO_RSS_TYPES_TCP_IPV6 |
			   MODERATO_RSS_TYPES_UDP_IPV4 |
			   MODERATO_RSS_TYPES_UDP_IPV6;
	netdev_rss_key_fill(priv->rss->key, sizeof(priv->rss->key));
	moderato_channels_default_table(priv);
	moderato_channels_apply(priv);

	priv->ethtool_ops.get_channels = moderato_get_channels;
	priv->ethtool_ops.set_channels = moderato_set_channels;
	priv->ethtool_ops.get_rxnfc = moderato_channels_get_rxnfc;
	return 0;
}

/* The descriptor carries the queue */
int moderato_channels_rx_create(struct moderato_rx *rx)
{
	rx->more |= rx->queue->priv->count > 1;
	return 0;
}
