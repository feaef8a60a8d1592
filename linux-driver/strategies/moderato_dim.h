/* SPDX-License-Identifier: GPL-2.0-only */
/* Adaptive moderation */
#ifndef MODERATO_DIM_H
#define MODERATO_DIM_H

#include "moderato_priv.h"

void moderato_moderate(struct moderato_queue *q);
void moderato_rx_moderate(struct moderato_queue *q);
void moderato_tx_moderate(struct moderato_queue *q, bool irq);
void moderato_dim_tx_event(struct moderato_queue *q);
void moderato_rx_dim_work(struct work_struct *work);
void moderato_tx_dim_work(struct work_struct *work);

#define MODERATO_PROFILES	5

extern const struct dim_cq_moder moderato_rx_profile[MODERATO_PROFILES];
extern const struct dim_cq_moder moderato_tx_profile[MODERATO_PROFILES];
struct dim_cq_moder moderato_dim_rx_profile(struct moderato_queue *q);
struct dim_cq_moder moderato_dim_tx_profile(struct moderato_queue *q);
int moderato_dim_init(struct moderato_priv *priv);
void moderato_dim_free(struct moderato_priv *priv);

#endif /* MODERATO_DIM_H */
