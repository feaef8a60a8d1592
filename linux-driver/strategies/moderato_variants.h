/* SPDX-License-Identifier: GPL-2.0-only */
/* What the strategies of the literature, and urgent frames, share: they are for
 * comparison, and not part of what goes into the kernel.
 */
#ifndef MODERATO_VARIANTS_H
#define MODERATO_VARIANTS_H

#include "moderato_priv.h"

/* Frames that one call of the poll may receive, with all strategies but
 * rx_timer.c's; and while there are rules for urgent ones
 */
#define MODERATO_NAPI_WEIGHT	32
#define MODERATO_URGENT_WEIGHT	8

/* Of polls by the clock */
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

void moderato_poll_controller(struct net_device *ndev);

/* Where the kernel has netpoll */
static inline void moderato_set_poll_controller(struct moderato_priv *priv)
{
#ifdef CONFIG_NET_POLL_CONTROLLER
	priv->netdev_ops.ndo_poll_controller = moderato_poll_controller;
#endif
}

#endif /* MODERATO_VARIANTS_H */
