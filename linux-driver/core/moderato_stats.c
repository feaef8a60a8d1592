// SPDX-License-Identifier: GPL-2.0-only
/* Statistics: the hardware's 32-bit counters extended to 64 bits, and the
 * driver's own.
 */

#include "moderato_priv.h"

/* Octets at 1 Gb/s wrap in 34 s; see also moderato_rx_finish() */
#define MODERATO_STATS_PERIOD	(10 * HZ)

#define MODERATO_RX_REG(name)	(MODERATO_RX_BASE + MODERATO_DIR_##name)
#define MODERATO_TX_REG(name)	(MODERATO_TX_BASE + MODERATO_DIR_##name)

static const u16 moderato_counter_offsets[MODERATO_COUNTERS] = {
	[MODERATO_RX_INTERRUPTS] = MODERATO_RX_REG(INTERRUPTS),
	[MODERATO_RX_INTERRUPTS_FRAMES] = MODERATO_RX_REG(INTERRUPTS_FRAMES),
	[MODERATO_RX_INTERRUPTS_PACKET] = MODERATO_RX_REG(INTERRUPTS_PACKET),
	[MODERATO_RX_INTERRUPTS_ABSOLUTE] = MODERATO_RX_REG(INTERRUPTS_ABSOLUTE),
	[MODERATO_RX_INTERRUPTS_REQUEST] = MODERATO_RX_REG(INTERRUPTS_REQUEST),
	[MODERATO_RX_INTERRUPTS_HALTED] = MODERATO_RX_REG(INTERRUPTS_HALTED),
	[MODERATO_TX_INTERRUPTS] = MODERATO_TX_REG(INTERRUPTS),
	[MODERATO_TX_INTERRUPTS_FRAMES] = MODERATO_TX_REG(INTERRUPTS_FRAMES),
	[MODERATO_TX_INTERRUPTS_PACKET] = MODERATO_TX_REG(INTERRUPTS_PACKET),
	[MODERATO_TX_INTERRUPTS_ABSOLUTE] = MODERATO_TX_REG(INTERRUPTS_ABSOLUTE),
	[MODERATO_TX_INTERRUPTS_REQUEST] = MODERATO_TX_REG(INTERRUPTS_REQUEST),
	[MODERATO_TX_INTERRUPTS_HALTED] = MODERATO_TX_REG(INTERRUPTS_HALTED),
	[MODERATO_RX_FILTERED] = MODERATO_STAT_RX_FILTERED,
	[MODERATO_RX_DROP_FIFO] = MODERATO_STAT_RX_DROP_FIFO,
	[MODERATO_RX_DROP_RING] = MODERATO_STAT_RX_DROP_RING,
	[MODERATO_RX_DROP_BUFFER] = MODERATO_STAT_RX_DROP_BUFFER,
	[MODERATO_TX_DROP_LENGTH] = MODERATO_STAT_TX_DROP_LENGTH,
	[MODERATO_DMA_ERRORS] = MODERATO_STAT_DMA_ERRORS,
	[MODERATO_RX_VLAN_FILTERED] = MODERATO_STAT_RX_VLAN_FILTERED,
	[MODERATO_RX1_INTERRUPTS] = MODERATO_RX1_BASE + MODERATO_DIR_INTERRUPTS,
	[MODERATO_TX1_INTERRUPTS] = MODERATO_TX1_BASE + MODERATO_DIR_INTERRUPTS,
	[MODERATO_RX1_DROP_RING] = MODERATO_STAT_RX1_DROP_RING,
	[MODERATO_RX1_DROP_BUFFER] = MODERATO_STAT_RX1_DROP_BUFFER,
	[MODERATO_TX1_DROP_LENGTH] = MODERATO_STAT_TX1_DROP_LENGTH,
	[MODERATO_RX_FLOW_FRAMES] = MODERATO_STAT_RX_FLOW_FRAMES,
	[MODERATO_RX_FLOW_DROPS] = MODERATO_STAT_RX_FLOW_DROPS,
	[MODERATO_RX_FRAMES] = MODERATO_STAT_RX_GOOD_FRAMES,
	[MODERATO_RX_OCTETS] = MODERATO_STAT_RX_GOOD_OCTETS,
	[MODERATO_RX_FCS_ERRORS] = MODERATO_STAT_RX_FCS_ERRORS,
	[MODERATO_RX_UNDERSIZE] = MODERATO_STAT_RX_UNDERSIZE,
	[MODERATO_RX_OVERSIZE] = MODERATO_STAT_RX_OVERSIZE,
	[MODERATO_TX_FRAMES] = MODERATO_STAT_TX_GOOD_FRAMES,
	[MODERATO_TX_OCTETS] = MODERATO_STAT_TX_GOOD_OCTETS,
	[MODERATO_RX_PAUSE] = MODERATO_STAT_RX_PAUSE_FRAMES,
	[MODERATO_RX_CONTROL_UNKNOWN] = MODERATO_STAT_RX_CONTROL_UNKNOWN,
	[MODERATO_TX_PAUSE] = MODERATO_STAT_TX_PAUSE_FRAMES,
	[MODERATO_RX_FRAGMENTS] = MODERATO_STAT_RX_FRAGMENTS,
	[MODERATO_RX_JABBERS] = MODERATO_STAT_RX_JABBERS,
	[MODERATO_RX_MULTICAST] = MODERATO_STAT_RX_MULTICAST,
	[MODERATO_RX_BROADCAST] = MODERATO_STAT_RX_BROADCAST,
	[MODERATO_TX_MULTICAST] = MODERATO_STAT_TX_MULTICAST,
	[MODERATO_TX_BROADCAST] = MODERATO_STAT_TX_BROADCAST,
	[MODERATO_RX_LENGTHS] = MODERATO_STAT_RX_OCTETS_64,
	MODERATO_STAT_RX_OCTETS_65, MODERATO_STAT_RX_OCTETS_128,
	MODERATO_STAT_RX_OCTETS_256, MODERATO_STAT_RX_OCTETS_512,
	MODERATO_STAT_RX_OCTETS_1024, MODERATO_STAT_RX_OCTETS_1519,
	[MODERATO_TX_LENGTHS] = MODERATO_STAT_TX_OCTETS_64,
	MODERATO_STAT_TX_OCTETS_65, MODERATO_STAT_TX_OCTETS_128,
	MODERATO_STAT_TX_OCTETS_256, MODERATO_STAT_TX_OCTETS_512,
	MODERATO_STAT_TX_OCTETS_1024, MODERATO_STAT_TX_OCTETS_1519,
};

const char moderato_counter_names[][ETH_GSTRING_LEN] = {
	[MODERATO_RX_INTERRUPTS] = "rx_interrupts",
	[MODERATO_RX_INTERRUPTS_FRAMES] = "rx_interrupts_frames",
	[MODERATO_RX_INTERRUPTS_PACKET] = "rx_interrupts_packet_timer",
	[MODERATO_RX_INTERRUPTS_ABSOLUTE] = "rx_interrupts_absolute_timer",
	[MODERATO_RX_INTERRUPTS_REQUEST] = "rx_interrupts_request",
	[MODERATO_RX_INTERRUPTS_HALTED] = "rx_interrupts_halted",
	[MODERATO_TX_INTERRUPTS] = "tx_interrupts",
	[MODERATO_TX_INTERRUPTS_FRAMES] = "tx_interrupts_frames",
	[MODERATO_TX_INTERRUPTS_PACKET] = "tx_interrupts_packet_timer",
	[MODERATO_TX_INTERRUPTS_ABSOLUTE] = "tx_interrupts_absolute_timer",
	[MODERATO_TX_INTERRUPTS_REQUEST] = "tx_interrupts_request",
	[MODERATO_TX_INTERRUPTS_HALTED] = "tx_interrupts_halted",
	[MODERATO_RX_FILTERED] = "rx_filtered",
	[MODERATO_TX_DROP_LENGTH] = "tx_drop_length",
	[MODERATO_DMA_ERRORS] = "dma_errors",
	[MODERATO_RX_VLAN_FILTERED] = "rx_vlan_filtered",
	/* Queue 1; the counters above are of queue 0, or of the device */
	[MODERATO_RX1_INTERRUPTS] = "rx1_interrupts",
	[MODERATO_TX1_INTERRUPTS] = "tx1_interrupts",
	[MODERATO_RX1_DROP_RING] = "rx1_drop_ring",
	[MODERATO_RX1_DROP_BUFFER] = "rx1_drop_buffer",
	[MODERATO_TX1_DROP_LENGTH] = "tx1_drop_length",
	/* Frames that the hardware forwards */
	[MODERATO_RX_FLOW_FRAMES] = "rx_flow_frames",
	[MODERATO_RX_FLOW_DROPS] = "rx_flow_drops",
};

static_assert(ARRAY_SIZE(moderato_counter_names) == MODERATO_PRIVATE_COUNTERS);

/* Extends each counter, or only notes its value. Interrupts may run in between.
 */
static void moderato_stats_walk(struct moderato_priv *priv, bool count)
{
	struct moderato_hw_stats *stats = &priv->hw_stats;
	unsigned long flags;

	for (int i = 0; i < MODERATO_COUNTERS; i++) {
		u32 now;

		spin_lock_irqsave(&stats->lock, flags);
		now = readl(priv->regs + moderato_counter_offsets[i]);
		if (count)
			stats->total[i] += (u32)(now - stats->last[i]);
		stats->last[i] = now;
		spin_unlock_irqrestore(&stats->lock, flags);
	}
}

/* Works in any context */
void moderato_stats_look(struct moderato_priv *priv)
{
	/* A suspended device may have no power to answer */
	if (netif_device_present(priv->ndev))
		moderato_stats_walk(priv, true);
}

static void moderato_stats_work(struct work_struct *work)
{
	struct moderato_priv *priv = container_of(to_delayed_work(work),
						  struct moderato_priv,
						  hw_stats.work);

	moderato_stats_look(priv);
	moderato_stats_start(priv);
}

void moderato_stats_init(struct moderato_priv *priv)
{
	struct moderato_hw_stats *stats = &priv->hw_stats;
	struct moderato_queue *q;

	spin_lock_init(&stats->lock);
	INIT_DELAYED_WORK(&stats->work, moderato_stats_work);
	for (q = priv->queue; q < moderato_queues_end(priv); q++) {
		u64_stats_init(&q->rx_stats.syncp);
		u64_stats_init(&q->tx_stats.syncp);
	}
	moderato_stats_resync(priv);
}

/* Counts from now on: what the counters hold belongs to a previous user */
void moderato_stats_resync(struct moderato_priv *priv)
{
	moderato_stats_walk(priv, false);
}

void moderato_stats_start(struct moderato_priv *priv)
{
	schedule_delayed_work(&priv->hw_stats.work, MODERATO_STATS_PERIOD);
}

void moderato_stats_stop(struct moderato_priv *priv)
{
	cancel_delayed_work_sync(&priv->hw_stats.work);
	moderato_stats_look(priv);
}

void moderato_stats_read(struct moderato_priv *priv,
			 u64 total[MODERATO_COUNTERS])
{
	struct moderato_hw_stats *stats = &priv->hw_stats;
	unsigned long flags;

	moderato_stats_look(priv);
	spin_lock_irqsave(&stats->lock, flags);
	memcpy(total, stats->total, sizeof(stats->total));
	spin_unlock_irqrestore(&stats->lock, flags);
}

struct moderato_rx_totals
moderato_rx_totals(const struct moderato_rx_stats *rx)
{
	struct moderato_rx_totals totals;
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&rx->syncp);
		totals.packets = u64_stats_read(&rx->packets);
		totals.bytes = u64_stats_read(&rx->bytes);
		totals.errors = u64_stats_read(&rx->errors);
		totals.alloc_failed = u64_stats_read(&rx->alloc_failed);
		totals.merged = u64_stats_read(&rx->merged);
		totals.merges = u64_stats_read(&rx->merges);
	} while (u64_stats_fetch_retry(&rx->syncp, start));
	return totals;
}

struct moderato_tx_totals
moderato_tx_totals(const struct moderato_tx_stats *tx)
{
	struct moderato_tx_totals totals;
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&tx->syncp);
		totals.packets = u64_stats_read(&tx->packets);
		totals.bytes = u64_stats_read(&tx->bytes);
		totals.errors = u64_stats_read(&tx->errors);
	} while (u64_stats_fetch_retry(&tx->syncp, start));
	return totals;
}

u64 moderato_stats_alloc_failed(struct moderato_priv *priv)
{
	struct moderato_queue *q;
	u64 failed = 0;

	for (q = priv->queue; q < moderato_queues_end(priv); q++)
		failed += moderato_rx_totals(&q->rx_stats).alloc_failed;
	return failed;
}

void moderato_get_stats64(struct net_device *ndev,
			  struct rtnl_link_stats64 *stats)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_queue *q;
	u64 total[MODERATO_COUNTERS];
	u64 rx_errors;

	rx_errors = 0;
	for (q = priv->queue; q < moderato_queues_end(priv); q++) {
		struct moderato_rx_totals rx = moderato_rx_totals(&q->rx_stats);
		struct moderato_tx_totals tx = moderato_tx_totals(&q->tx_stats);

		stats->rx_packets += rx.packets;
		stats->rx_bytes += rx.bytes;
		rx_errors += rx.errors;
		stats->tx_packets += tx.packets;
		stats->tx_bytes += tx.bytes;
		stats->tx_errors += tx.errors;
	}

	moderato_stats_read(priv, total);
	stats->rx_dropped = moderato_stats_alloc_failed(priv) +
			    total[MODERATO_RX_FLOW_DROPS];
	stats->rx_missed_errors = total[MODERATO_RX_DROP_RING];
	stats->rx_fifo_errors = total[MODERATO_RX_DROP_FIFO];
	stats->rx_crc_errors = total[MODERATO_RX_FCS_ERRORS];
	stats->rx_over_errors = total[MODERATO_RX_DROP_BUFFER];
	stats->rx_length_errors = total[MODERATO_RX_UNDERSIZE] +
				  total[MODERATO_RX_OVERSIZE];
	stats->rx_missed_errors += total[MODERATO_RX1_DROP_RING];
	stats->rx_over_errors += total[MODERATO_RX1_DROP_BUFFER];
	/* Errors of completed descriptors: wrong length, and bus errors */
	stats->rx_errors = stats->rx_fifo_errors + stats->rx_crc_errors +
			   stats->rx_length_errors + rx_errors;
}
