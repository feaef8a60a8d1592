/* SPDX-License-Identifier: GPL-2.0-only */
/* Scheduled transmission: shared by its files */
#ifndef MODERATO_TC_H
#define MODERATO_TC_H

#include "moderato_cbs.h"
#include "moderato_priv.h"

struct moderato_gates;
struct tc_taprio_qopt_offload;

/* Counters of ethtool -S. The hardware has those before MODERATO_TC_INVALID. */
enum {
	MODERATO_TC_LATE,
	MODERATO_TC_DROPS,
	MODERATO_TC_INVALID,
	MODERATO_TC_SHUT,
	MODERATO_TC_COUNTERS,
};

/**
 * struct moderato_tc - scheduled transmission
 * @launch: bit of each queue whose frames leave at their launch times
 * @seen: last values of the hardware's counters; guarded by RTNL
 * @total: sums since probe; the same
 * @invalid: frames dropped by the driver: the hardware cannot send them at their
 *	     launch times
 * @shut: frames of each queue dropped by the driver: no window of its gate has
 *	  time for them
 * @limit: length of the longest frame, without FCS, that each queue can send;
 *	   written with @lock held
 * @lock: guards the members from here to @octet, and their registers
 * @gates: moderato_taprio.c: the list of gates, or NULL
 * @octet: time of an octet on the link, in ns
 * @setup_tc: the replaced operation, or NULL
 * @ethtool_ops: the replaced operations
 */
struct moderato_tc {
	unsigned long launch;
	u32 seen[MODERATO_TC_INVALID];
	u64 total[MODERATO_TC_INVALID];
	atomic_t invalid;
	atomic_t shut[MODERATO_MAX_QUEUES];
	u32 limit[MODERATO_MAX_QUEUES];
	/* guards the members from here to @octet, and their registers */
	struct mutex lock;
	struct moderato_gates *gates;
	/** @cbs: moderato_cbs.c: shapers of the queues */
	struct moderato_cbs cbs[MODERATO_MAX_QUEUES];
	u32 octet;
	int (*setup_tc)(struct net_device *ndev, enum tc_setup_type type,
			void *type_data);
	struct ethtool_ops ethtool_ops;
};

int moderato_taprio_setup(struct moderato_priv *priv,
			  struct tc_taprio_qopt_offload *offload);
void moderato_taprio_rate(struct moderato_priv *priv);
bool moderato_taprio_blocks(const struct moderato_queue *q,
			    struct sk_buff *skb);
void moderato_taprio_init(struct moderato_priv *priv, struct moderato_tc *tc);

#ifdef MODERATO_TC
int moderato_tc_init(struct moderato_priv *priv);
void moderato_tc_restore(struct moderato_priv *priv);
void moderato_tc_set_speed(struct moderato_priv *priv, int speed);
int moderato_launch_plan(struct moderato_tx *tx, struct sk_buff *skb,
			 struct moderato_tx_plan *plan);
void moderato_launch_ask(struct moderato_tx *tx, struct sk_buff *skb);
void moderato_launch_choose(struct moderato_tx *tx);
void moderato_taprio_restart(struct moderato_priv *priv);

/* Called with RTNL. Frames without skbs do not wait for gates */
static inline bool moderato_taprio_on(const struct moderato_priv *priv)
{
	return priv->tc && READ_ONCE(priv->tc->gates);
}
#else
static inline int moderato_tc_init(struct moderato_priv *priv) { return 0; }
static inline void moderato_tc_restore(struct moderato_priv *priv) { }
static inline void moderato_tc_set_speed(struct moderato_priv *priv, int speed) { }
static inline int moderato_launch_plan(struct moderato_tx *tx, struct sk_buff *skb,
				       struct moderato_tx_plan *plan) { return 0; }
static inline void moderato_launch_ask(struct moderato_tx *tx, struct sk_buff *skb) { }
static inline void moderato_launch_choose(struct moderato_tx *tx) { }
static inline void moderato_taprio_restart(struct moderato_priv *priv) { }
static inline bool moderato_taprio_on(const struct moderato_priv *priv) { return false; }
#endif

#endif /* MODERATO_TC_H */
