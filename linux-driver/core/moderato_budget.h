/* SPDX-License-Identifier: GPL-2.0-only */
/* Arithmetic of strategies that complete frames in the hard interrupt */
#ifndef MODERATO_BUDGET_H
#define MODERATO_BUDGET_H

#include "moderato_coalesce.h"

/* Completions that one interrupt serves. The hardware counts completions after
 * the re-armed index, so serving exactly FRAMES gives one interrupt per FRAMES.
 * With a gap there are too few interrupts for that: serve the whole ring.
 */
static inline u32 moderato_budget(const struct moderato_coalesce *c, u8 order)
{
	return c->frames && !c->gap_usecs ? c->frames : moderato_size(order);
}

#endif /* MODERATO_BUDGET_H */
