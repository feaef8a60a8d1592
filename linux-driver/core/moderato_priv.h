/* SPDX-License-Identifier: GPL-2.0-only */
/* Device, queues and settings */
#ifndef MODERATO_PRIV_H
#define MODERATO_PRIV_H

#include <linux/dim.h>
#include <linux/ethtool.h>
#include <linux/interrupt.h>
#include <linux/phylink.h>

#include "moderato_coalesce.h"
#include "moderato_rx.h"
#include "moderato_stats.h"
#include "moderato_tx.h"

#define MODERATO_DEFAULT_ORDER	8
#define MODERATO_MAX_QUEUES	2

/* VLANs of one register of the filter */
#define MODERATO_VLAN_ROW	16

/**
 * struct moderato_config - settings, kept while the interface is down
 * @rx: moderation of receive interrupts
 * @tx: moderation of transmit interrupts
 * @rx_order: binary logarithm of the receive ring's size
 * @tx_order: binary logarithm of the transmit ring's size
 * @rx_ops: receive strategy
 * @tx_ops: transmit strategy
 * @paces: the hardware adapts Rx moderation; otherwise DIM does
 * @adaptive_rx: adaptive-rx of ethtool -C; works with polls only
 * @adaptive_tx: adaptive-tx; works with polls only
 * @rx_cqe: ethtool shows the packet timer as rx-usecs, see
 *	    moderato_timers_by_mode()
 * @tx_cqe: the same for tx-usecs
 */
struct moderato_config {
	struct moderato_coalesce rx;
	struct moderato_coalesce tx;
	u8 rx_order;
	u8 tx_order;
	const struct moderato_rx_ops *rx_ops;
	const struct moderato_tx_ops *tx_ops;
	bool paces;
	bool adaptive_rx;
	bool adaptive_tx;
	bool rx_cqe;
	bool tx_cqe;
	/** @poll_usecs: rx_timer.c: time between two polls */
	u32 poll_usecs;
};

/* Bits of struct moderato_priv's @resets, see struct moderato_direction */
enum {
	MODERATO_RESET_RX,
	MODERATO_RESET_TX,
	MODERATO_RESET_RX1,
	MODERATO_RESET_TX1,
};

/**
 * struct moderato_queue - a ring of each direction, and their interrupts
 * @priv: the device
 * @rx: receive ring; exists while the queue is used and the interface is up
 * @tx: transmit ring; the same
 * @index: number of the queue
 * @config: its settings
 * @rx_stats: what the driver counts of received frames
 * @tx_stats: what the driver counts of sent frames
 * @napi: the poll
 * @rx_dim: DIM of receive interrupts
 * @tx_dim: DIM of transmit interrupts
 * @rx_irq: number of the receive interrupt
 * @tx_irq: number of the transmit interrupt
 * @rx_irq_name: its name in /proc/interrupts
 * @tx_irq_name: the same
 */
struct moderato_queue {
	struct moderato_priv *priv;
	struct moderato_rx *rx;
	struct moderato_tx *tx;
	u8 index;
	struct moderato_config config;
	struct moderato_rx_stats rx_stats;
	struct moderato_tx_stats tx_stats;
	struct napi_struct napi;
	struct dim rx_dim;
	struct dim tx_dim;
	int rx_irq;
	int tx_irq;
	char rx_irq_name[IFNAMSIZ + 4];
	char tx_irq_name[IFNAMSIZ + 4];
	/** @delay: rx_timer.c: timers of the polls */
	struct moderato_delay *delay;
	/** @helper: rx_shared.c: the poll on the other CPU */
	struct moderato_helper *helper;
} ____cacheline_aligned;

/**
 * struct moderato_priv - device
 * @regs: its registers
 * @ndev: its net device
 * @dev: the device
 * @features: what FEATURES reads; 0 with register maps that do not have it
 * @ctrl_lock: guards @ctrl and the register
 * @ctrl: what CTRL holds
 * @clock_hz: the hardware's clock
 * @usecs_max: longest time that the timers hold
 * @max_order: binary logarithm of the largest ring
 * @has_pacing: the hardware can adapt its moderation
 * @used: number of queues in use
 * @count: number of queues that the hardware has
 * @copy_mtu: the MTU for which the latest Tx ring came up
 * @speed: of the link in Mb/s; 0 without a link
 * @phylink: the link
 * @phylink_config: its configuration
 * @hw_stats: the hardware's counters
 * @netdev_ops: operations of all hardware, and those that options add
 * @ethtool_ops: the same
 * @vlans: members of each row of the VLAN filter; guarded by RTNL
 * @reset_task: resets rings
 * @resets: rings that @reset_task has to reset
 * @reset_next: earliest time of the next reset, in jiffies
 * @halts: halted rings that @reset_task found; guarded by RTNL
 * @suits: optional: whether a configuration and an MTU may come into effect;
 *	   reports why not
 * @queue: the queues
 */
struct moderato_priv {
	void __iomem *regs;
	struct net_device *ndev;
	struct device *dev;
	u32 features;

	/* guards @ctrl and the register */
	spinlock_t ctrl_lock;
	u32 ctrl;
	u32 clock_hz;
	u32 usecs_max;
	u8 max_order;
	bool has_pacing;
	u8 used;
	u8 count;
	unsigned int copy_mtu;

	int speed;
	struct phylink *phylink;
	struct phylink_config phylink_config;
	struct moderato_hw_stats hw_stats;
	struct net_device_ops netdev_ops;
	struct ethtool_ops ethtool_ops;
	/** @ptp: moderato_ptp.c: the PTP clock */
	struct moderato_ptp *ptp;
	/** @rss: moderato_channels.c: set if the hardware has two queues */
	struct moderato_rss *rss;

	u16 vlans[VLAN_N_VID / MODERATO_VLAN_ROW];
	/** @rules: moderato_rxnfc.c: rules of ethtool -N */
	struct moderato_rules *rules;
	/** @variants: moderato_variants.c: private flags */
	struct moderato_variants *variants;

	struct delayed_work reset_task;
	unsigned long resets;
	unsigned long reset_next;
	u64 halts;
	bool (*suits)(const struct moderato_priv *priv,
		      const struct moderato_config *config, unsigned int mtu);
	/** @xdp: moderato_xdp.c: XDP programs and sockets */
	struct moderato_xdp *xdp;
	/** @offload: moderato_offload.c: the flow table */
	struct moderato_offload *offload;
	/** @tc: moderato_tc.c: scheduled transmission */
	struct moderato_tc *tc;

	struct moderato_queue queue[];
};

static inline const struct moderato_direction *
moderato_rx_dir(const struct moderato_queue *q)
{
	return &moderato_rx_directions[q->index];
}

static inline const struct moderato_direction *
moderato_tx_dir(const struct moderato_queue *q)
{
	return &moderato_tx_directions[q->index];
}

/* The ends of the queues in use, and of all queues */
static inline struct moderato_queue *
moderato_used_end(struct moderato_priv *priv)
{
	return priv->queue + READ_ONCE(priv->used);
}

static inline struct moderato_queue *
moderato_queues_end(struct moderato_priv *priv)
{
	return priv->queue + priv->count;
}

static inline bool moderato_is_used(const struct moderato_queue *q)
{
	return q->index < q->priv->used;
}

static inline bool moderato_has_jumbo(const struct moderato_priv *priv)
{
	return priv->features & MODERATO_FEATURES_JUMBO;
}

static inline bool moderato_tx_adapts(const struct moderato_config *config)
{
	return config->tx_ops->polled && READ_ONCE(config->adaptive_tx);
}

/* The hardware adapts Rx moderation */
static inline bool moderato_rx_paced(const struct moderato_config *config)
{
	return config->rx_ops->polled && config->adaptive_rx && config->paces;
}

/* DIM adapts it */
static inline bool moderato_rx_dim(const struct moderato_config *config)
{
	return config->rx_ops->polled && READ_ONCE(config->adaptive_rx) &&
	       !config->paces;
}

/* The MTU for received frames. The interface's MTU limits what is sent; other
 * stations on the link may send standard frames. Hardware with small FIFOs takes
 * less.
 */
static inline unsigned int moderato_rx_mtu(const struct moderato_priv *priv,
					   unsigned int mtu)
{
	return max(mtu, min_t(unsigned int, ETH_DATA_LEN,
			      priv->ndev->max_mtu));
}

void moderato_give_up(struct moderato_priv *priv);
void moderato_start_unused(struct moderato_priv *priv);
bool moderato_reset_if_halted(struct moderato_priv *priv,
			      const struct moderato_ring *ring);

/* Re-arms after an interrupt or a poll that took @taken descriptors. To take none
 * is so rare that the driver may read a register then: a halted ring stays unarmed,
 * and is reset.
 */
static inline void moderato_rearm_after(const struct moderato_queue *q,
					const struct moderato_ring *ring,
					unsigned int taken)
{
	if (likely(taken) || !moderato_reset_if_halted(q->priv, ring))
		moderato_rearm(ring);
}

void moderato_dim_rx_event(struct moderato_queue *q);

/* Ends a poll: @work: frames that its last round received; @freed: skbs that it
 * freed
 */
static inline void moderato_napi_end(struct moderato_rx *rx,
				     struct moderato_tx *tx, int work,
				     unsigned int freed)
{
	struct moderato_queue *q = rx->queue;

	moderato_rearm_after(q, &rx->ring, work);
	if (moderato_rx_dim(&q->config))
		moderato_dim_rx_event(q);
	moderato_tx_poll_end(tx, freed);
}

int moderato_change(struct moderato_priv *priv,
		    const struct moderato_config *config, unsigned int mtu,
		    bool with_rx, bool with_tx);
int moderato_queue_create(struct moderato_queue *q);
void moderato_queue_destroy(struct moderato_queue *q);
void moderato_queue_up(struct moderato_queue *q);
int moderato_queue_down(struct moderato_queue *q);
void moderato_features_free(struct moderato_priv *priv);
int moderato_features_init(struct moderato_priv *priv);
void moderato_features_restore(struct moderato_priv *priv);
void moderato_features_queue_down(struct moderato_queue *q);
int moderato_ethtool_init(struct moderato_priv *priv);
int moderato_vlan_init(struct moderato_priv *priv);
void moderato_vlan_apply(struct moderato_priv *priv);
int moderato_gather_init(struct moderato_priv *priv);
int moderato_merge_init(struct moderato_priv *priv);
int moderato_get_rxnfc(struct net_device *ndev, struct ethtool_rxnfc *cmd,
		       u32 *locations);

#endif /* MODERATO_PRIV_H */
