/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MODERATO_CHANNELS_H
#define MODERATO_CHANNELS_H

#include "moderato_priv.h"

#define MODERATO_RSS_TABLE		BIT(MODERATO_RSS_TABLE_BITS)
#define MODERATO_RSS_TABLE_WORDS	(BIT(MODERATO_RSS_TABLE_BITS) / 32)

/* RSS registers: they select the queue of a received frame */
struct moderato_rss {
	u32 types;
	u32 table[MODERATO_RSS_TABLE_WORDS];
	u8 key[4 * MODERATO_RSS_KEY_WORDS];
};

int moderato_channels_init(struct moderato_priv *priv);
int moderato_channels_rx_create(struct moderato_rx *rx);
void moderato_channels_hint(struct moderato_queue *q, bool on);
void moderato_channels_spread(struct moderato_priv *priv);
void moderato_channels_apply(struct moderato_priv *priv);
void moderato_channels_set_entry(struct moderato_priv *priv, unsigned int entry,
				 u32 queue);
int moderato_rss_init(struct moderato_priv *priv);

#endif /* MODERATO_CHANNELS_H */
