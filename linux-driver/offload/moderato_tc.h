/* SPDX-License-Identifier: GPL-2.0-only */
/* Scheduled transmission: shared by its files */
#ifndef MODERATO_TC_H
#define MODERATO_TC_H

#include "moderato_priv.h"

/* Counters of ethtool -S. The hardware has those before MODERATO_TC_INVALID. */
enum {
	MODERATO_TC_LATE,
	MODERATO_TC_DROPS,
	MODERATO_TC_INVALID,
	MODERATO_TC_COUNTERS,
};

/**
 * struct moderato_tc - scheduled transmission
 * @launch: bit of each queue whose frames leave at their launch times
 * @seen: last values of the hardware's counters; guarded by RTNL
 * @total: sums since probe; the same
 * @invalid: frames dropped by the driver: the hardware cannot send them at their
 *	     launch times
 * @setup_tc: the replaced operation, or NULL
 * @ethtool_ops: the replaced operations
 */
struct moderato_tc {
	unsigned long launch;
	u32 seen[MODERATO_TC_INVALID];
	u64 total[MODERATO_TC_INVALID];
	atomic_t invalid;
	int (*setup_tc)(struct net_device *ndev, enum tc_setup_type type,
			void *type_data);
	struct ethtool_ops ethtool_ops;
};

#ifdef MODERATO_TC
int moderato_tc_init(struct moderato_priv *priv);
void moderato_tc_restore(struct moderato_priv *priv);
void moderato_tc_set_speed(struct moderato_priv *priv, int speed);
int moderato_launch_plan(struct moderato_tx *tx, struct sk_buff *skb,
			 struct moderato_tx_plan *plan);
void moderato_launch_ask(struct moderato_tx *tx, struct sk_buff *skb);
void moderato_launch_choose(struct moderato_tx *tx);
#else
static inline int moderato_tc_init(struct moderato_priv *priv) { return 0; }
static inline void moderato_tc_restore(struct moderato_priv *priv) { }
static inline void moderato_tc_set_speed(struct moderato_priv *priv, int speed) { }
static inline int moderato_launch_plan(struct moderato_tx *tx, struct sk_buff *skb,
				       struct moderato_tx_plan *plan) { return 0; }
static inline void moderato_launch_ask(struct moderato_tx *tx, struct sk_buff *skb) { }
static inline void moderato_launch_choose(struct moderato_tx *tx) { }
#endif

#endif /* MODERATO_TC_H */
