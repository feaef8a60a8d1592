/* SPDX-License-Identifier: GPL-2.0-only */
/* Shapers of the Tx queues (IEEE 802.1Qav) */
#ifndef MODERATO_CBS_H
#define MODERATO_CBS_H

#include <linux/math64.h>
#include <linux/minmax.h>

#include "moderato_regs.h"

struct moderato_priv;
struct tc_cbs_qopt_offload;

/**
 * struct moderato_cbs - a queue's credit-based shaper
 * @on: it limits the queue
 * @idle: idle slope in kb/s
 * @high: highest credit in octets
 * @low: lowest credit in octets, without sign
 */
struct moderato_cbs {
	bool on;
	u32 idle;
	u16 high;
	u16 low;
};

/* IDLE_SLOPE or SEND_SLOPE, of @kbps, with a clock of @hz */
static inline u32 moderato_cbs_slope(u32 kbps, u32 hz)
{
	u64 octets = (u64)kbps * (1000 / BITS_PER_BYTE);

	octets = (octets << MODERATO_TX_SLOPE_FRACTION_BITS) + hz / 2;
	return min_t(u64, div_u64(octets, hz), MODERATO_TX_SLOPE_MAX);
}

/* The rate of a link with octets of @octet ns, in kb/s */
static inline u32 moderato_cbs_link(u32 octet)
{
	return BITS_PER_BYTE * USEC_PER_SEC / octet;
}

int moderato_cbs_setup(struct moderato_priv *priv,
		       const struct tc_cbs_qopt_offload *offload);
void moderato_cbs_apply(struct moderato_priv *priv);
void moderato_cbs_restart(struct moderato_priv *priv);

#endif /* MODERATO_CBS_H */
