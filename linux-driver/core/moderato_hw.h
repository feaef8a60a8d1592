/* SPDX-License-Identifier: GPL-2.0-only */
/* Registers outside the data path, and the link */
#ifndef MODERATO_HW_H
#define MODERATO_HW_H

#include "moderato_priv.h"

unsigned int moderato_hw_queues(const void __iomem *regs);
int moderato_hw_init(struct moderato_priv *priv);
int moderato_hw_reset(struct moderato_priv *priv);
void moderato_hw_ctrl(struct moderato_priv *priv, u32 clear, u32 set);
void moderato_hw_set_address(struct moderato_priv *priv, const u8 *address);
void moderato_hw_set_hash(struct moderato_priv *priv, u64 hash);
bool moderato_hw_set_unicast(struct moderato_priv *priv);
void moderato_hw_set_pause(struct moderato_priv *priv, int speed, bool tx,
			   bool rx);
void moderato_hw_set_pause_marks(struct moderato_priv *priv, u8 order,
				 unsigned int frame);
void moderato_hw_set_mtu(struct moderato_priv *priv, unsigned int mtu);
void moderato_hw_moderate(struct moderato_priv *priv,
			  const struct moderato_direction *dir,
			  const struct moderato_coalesce *c);
void moderato_hw_pace(struct moderato_queue *q, u32 usecs);
int moderato_create_phylink(struct moderato_priv *priv);

#endif /* MODERATO_HW_H */
