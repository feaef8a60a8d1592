/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the strategies of the literature and urgent frames. They are for
 * comparison, and not for the kernel.
 */
#ifndef MODERATO_VARIANTS_H
#define MODERATO_VARIANTS_H

#include "moderato_priv.h"

/* Frames that one call of the poll may receive, with all strategies but
 * rx-timer; and with rules for urgent frames
 */
#define MODERATO_NAPI_WEIGHT	32
#define MODERATO_URGENT_WEIGHT	8

/* Timers of the strategy rx-timer */
struct moderato_delay {
	struct moderato_queue *queue;
	struct timer_list tick;
	struct hrtimer timer;
};

extern const struct moderato_rx_ops moderato_rx_irq_ops;
extern const struct moderato_rx_ops moderato_rx_shared_ops;
extern const struct moderato_rx_ops moderato_rx_timer_ops;
extern const struct moderato_tx_ops moderato_tx_irq_ops;
extern const struct moderato_tx_ops moderato_tx_none_ops;

int moderato_shared_poll(struct napi_struct *napi, int budget);
int moderato_urgent_poll(struct napi_struct *napi, int budget);
bool moderato_rx_urgent(struct moderato_rx *rx, int budget);
void moderato_rx_choose_poll(struct moderato_queue *q);
bool moderato_rules_urgent(const struct moderato_priv *priv);

int moderato_variants_init(struct moderato_priv *priv);
void moderato_variants_get_coalesce(const struct moderato_queue *q,
				    struct ethtool_coalesce *ec);
int moderato_variants_set_coalesce(struct moderato_config *config,
				   const struct ethtool_coalesce *ec,
				   struct netlink_ext_ack *extack);
int moderato_rx_timer_init(struct moderato_priv *priv);
void moderato_rx_timer_cancel(struct moderato_queue *q);
int moderato_shared_init(struct moderato_priv *priv);
void moderato_shared_free(struct moderato_priv *priv);
void moderato_tx_none_create(struct moderato_tx *tx);
int moderato_rxnfc_init(struct moderato_priv *priv);
void moderato_rxnfc_apply(struct moderato_priv *priv);
void moderato_rxnfc_rx_up(struct moderato_rx *rx);
bool moderato_rxnfc_one_queue(const struct moderato_priv *priv);

void moderato_poll_controller(struct net_device *ndev);

/* Does nothing in a kernel without netpoll */
static inline void moderato_set_poll_controller(struct moderato_priv *priv)
{
#ifdef CONFIG_NET_POLL_CONTROLLER
	priv->netdev_ops.ndo_poll_controller = moderato_poll_controller;
#endif
}

#endif /* MODERATO_VARIANTS_H */
