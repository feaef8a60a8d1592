/* SPDX-License-Identifier: GPL-2.0-only */
/* Statistics */
#ifndef MODERATO_STATS_H
#define MODERATO_STATS_H

#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>

#include "moderato_regs.h"

struct moderato_priv;

/* Counters of the hardware */
enum moderato_counter {
	MODERATO_RX_INTERRUPTS,
	MODERATO_RX_INTERRUPTS_FRAMES,
	MODERATO_RX_INTERRUPTS_PACKET,
	MODERATO_RX_INTERRUPTS_ABSOLUTE,
	MODERATO_RX_INTERRUPTS_REQUEST,
	MODERATO_RX_INTERRUPTS_HALTED,
	MODERATO_TX_INTERRUPTS,
	MODERATO_TX_INTERRUPTS_FRAMES,
	MODERATO_TX_INTERRUPTS_PACKET,
	MODERATO_TX_INTERRUPTS_ABSOLUTE,
	MODERATO_TX_INTERRUPTS_REQUEST,
	MODERATO_TX_INTERRUPTS_HALTED,
	MODERATO_RX_FILTERED,
	MODERATO_TX_DROP_LENGTH,
	MODERATO_DMA_ERRORS,
	MODERATO_RX_VLAN_FILTERED,
	MODERATO_RX1_INTERRUPTS,
	MODERATO_TX1_INTERRUPTS,
	MODERATO_RX1_DROP_RING,
	MODERATO_RX1_DROP_BUFFER,
	MODERATO_TX1_DROP_LENGTH,
	MODERATO_RX_FLOW_FRAMES,
	MODERATO_RX_FLOW_DROPS,
	/* ethtool -S has the counters above; those below are in its standard
	 * groups only
	 */
	MODERATO_PRIVATE_COUNTERS,
	MODERATO_RX_DROP_FIFO = MODERATO_PRIVATE_COUNTERS,
	MODERATO_RX_DROP_RING,
	MODERATO_RX_DROP_BUFFER,
	MODERATO_RX_FRAMES,
	MODERATO_RX_OCTETS,
	MODERATO_RX_FCS_ERRORS,
	MODERATO_RX_UNDERSIZE,
	MODERATO_RX_OVERSIZE,
	MODERATO_TX_FRAMES,
	MODERATO_TX_OCTETS,
	/* Optional */
	MODERATO_RX_PAUSE,
	MODERATO_RX_CONTROL_UNKNOWN,
	MODERATO_TX_PAUSE,
	MODERATO_RX_FRAGMENTS,
	MODERATO_RX_JABBERS,
	MODERATO_RX_MULTICAST,
	MODERATO_RX_BROADCAST,
	MODERATO_TX_MULTICAST,
	MODERATO_TX_BROADCAST,
	MODERATO_RX_LENGTHS,
	MODERATO_TX_LENGTHS = MODERATO_RX_LENGTHS + MODERATO_RMON_RANGES,
	MODERATO_COUNTERS = MODERATO_TX_LENGTHS + MODERATO_RMON_RANGES,
};

extern const char moderato_counter_names[][ETH_GSTRING_LEN];

/**
 * struct moderato_hw_stats - the hardware's counters, 32 bits wide, as 64 bits
 * @lock: guards @last and @total
 * @last: what the counters read last
 * @total: sums since probe
 * @work: reads the counters before they wrap
 */
struct moderato_hw_stats {
	/* guards @last and @total */
	spinlock_t lock;
	u32 last[MODERATO_COUNTERS];
	u64 total[MODERATO_COUNTERS];
	struct delayed_work work;
};

/* One context at a time writes each of these: mostly a softirq, but also code with
 * interrupts off. So interrupts are off whenever the sequence counter is written.
 */
struct moderato_rx_stats {
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t errors;
	u64_stats_t alloc_failed;
	u64_stats_t merged;
	u64_stats_t merges;
	struct u64_stats_sync syncp;
};

struct moderato_tx_stats {
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t errors;
	struct u64_stats_sync syncp;
};

/* A consistent copy of these */
struct moderato_rx_totals {
	u64 packets;
	u64 bytes;
	u64 errors;
	u64 alloc_failed;
	u64 merged;
	u64 merges;
};

struct moderato_tx_totals {
	u64 packets;
	u64 bytes;
	u64 errors;
};

struct moderato_rx_totals
moderato_rx_totals(const struct moderato_rx_stats *rx);
struct moderato_tx_totals
moderato_tx_totals(const struct moderato_tx_stats *tx);
void moderato_stats_init(struct moderato_priv *priv);
void moderato_stats_resync(struct moderato_priv *priv);
void moderato_stats_look(struct moderato_priv *priv);
void moderato_stats_start(struct moderato_priv *priv);
void moderato_stats_stop(struct moderato_priv *priv);
void moderato_stats_read(struct moderato_priv *priv,
			 u64 total[MODERATO_COUNTERS]);
u64 moderato_stats_alloc_failed(struct moderato_priv *priv);
int moderato_queue_stats_init(struct moderato_priv *priv);
void moderato_get_stats64(struct net_device *ndev,
			  struct rtnl_link_stats64 *stats);

#endif /* MODERATO_STATS_H */
