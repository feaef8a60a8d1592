/* SPDX-License-Identifier: GPL-2.0-only */
/* Arithmetic of interrupt moderation: checks what ethtool -C requests, and
 * converts it for the hardware
 */
#ifndef MODERATO_COALESCE_H
#define MODERATO_COALESCE_H

#include <linux/math64.h>
#include <linux/time64.h>

#include "moderato_ring.h"

/* A sent skb is freed promptly if it is freed within this time: TCP small
 * queues keeps about 1 ms of data per socket below the stack, and byte queue
 * limits learn from completions.
 */
#define MODERATO_PROMPT_USECS	1000

/* Longest delay that the hardware may choose, unless the user sets one */
#define MODERATO_PACING_USECS	250

/**
 * struct moderato_coalesce - conditions for an interrupt of one direction
 * @frames: FRAMES: number of unreported completions; 0: any number
 * @usecs: ABSOLUTE_TIMER: time since the first of them; 0: off
 * @packet_usecs: PACKET_TIMER: time since the last of them; 0: off. Decides at
 *		  low packet rates.
 * @gap_usecs: GAP: shortest time between two interrupts; 0: none. Decides at
 *	       high packet rates.
 */
struct moderato_coalesce {
	u32 frames;
	u32 usecs;
	u32 packet_usecs;
	u32 gap_usecs;
};

/* In CQE mode, ethtool's usecs restart with each completion: the packet timer
 * and the absolute timer swap.
 */
static inline struct moderato_coalesce
moderato_timers_by_mode(struct moderato_coalesce c, bool cqe)
{
	if (cqe)
		swap(c.usecs, c.packet_usecs);
	return c;
}

enum moderato_coalesce_verdict {
	MODERATO_COALESCE_OK,
	MODERATO_COALESCE_NEVER,	/* no condition at all */
	MODERATO_COALESCE_UNBOUNDED,	/* nothing reports the last frames */
	MODERATO_COALESCE_RING,		/* the ring may fill before FRAMES */
	MODERATO_COALESCE_TIMER,	/* beyond the width of the timers */
};

/* Rounds up: a time above 0 never becomes 0, which is off */
static inline u32 moderato_usecs_to_clocks(u32 usecs, u32 clock_hz)
{
	return DIV_ROUND_UP_ULL((u64)usecs * clock_hz, USEC_PER_SEC);
}

/* Rounds down, and so inverts the above from 1 MHz on */
static inline u32 moderato_clocks_to_usecs(u32 clocks, u32 clock_hz)
{
	return div_u64((u64)clocks * USEC_PER_SEC, clock_hz);
}

static inline u32 moderato_usecs_max(u8 timer_bits, u32 clock_hz)
{
	return moderato_clocks_to_usecs(GENMASK(timer_bits - 1, 0), clock_hz);
}

static inline enum moderato_coalesce_verdict
moderato_coalesce_check(const struct moderato_coalesce *c, u8 order,
			u32 usecs_max)
{
	if (max3(c->usecs, c->packet_usecs, c->gap_usecs) > usecs_max)
		return MODERATO_COALESCE_TIMER;
	if (!c->frames && !c->usecs && !c->packet_usecs)
		return MODERATO_COALESCE_NEVER;
	if (c->frames != 1 && !c->usecs && !c->packet_usecs)
		return MODERATO_COALESCE_UNBOUNDED;
	/* Half of the ring: the other half takes frames until the interrupt is
	 * served
	 */
	if (c->frames > moderato_size(order) / 2)
		return MODERATO_COALESCE_RING;
	return MODERATO_COALESCE_OK;
}

/* Adapts @c to a shorter ring or shorter timers; one frame per interrupt always
 * works.
 */
static inline void moderato_coalesce_fit(struct moderato_coalesce *c, u8 order,
					 u32 usecs_max)
{
	c->frames = min(c->frames, moderato_size(order) / 2);
	c->usecs = min(c->usecs, usecs_max);
	c->packet_usecs = min(c->packet_usecs, usecs_max);
	c->gap_usecs = min(c->gap_usecs, usecs_max);
	if (moderato_coalesce_check(c, order, usecs_max))
		c->frames = 1;
}

/* Whether sent skbs are freed promptly at any packet rate: the last frame waits
 * for the shorter timer, or for the gap.
 */
static inline bool moderato_tx_prompt(const struct moderato_coalesce *c)
{
	u32 wait = min_not_zero(c->usecs, c->packet_usecs);

	if (c->frames == 1)
		wait = 0;
	return max(wait, c->gap_usecs) <= MODERATO_PROMPT_USECS;
}

#endif /* MODERATO_COALESCE_H */
