/* SPDX-License-Identifier: GPL-2.0-only */
/* Arithmetic of gates (IEEE 802.1Qbv): when a list begins, and which frames its
 * windows have time for. An entry is as in GATE_ENTRY.
 */
#ifndef MODERATO_GATES_H
#define MODERATO_GATES_H

#include <linux/bitfield.h>
#include <linux/if_ether.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "moderato_regs.h"

/* Limits of the hardware, in ns */
#define MODERATO_GATES_CYCLE_LEAST	1000
#define MODERATO_GATES_MOST		FIELD_MAX(MODERATO_GATE_ENTRY_INTERVAL)

/* Octets of a window besides a frame's own: preamble, FCS, gap and a tag, and
 * the time until the hardware has seen that the wire is free
 */
#define MODERATO_GATES_RESERVE	84

/* The first begin of a cycle after @now, or @base if that is later */
static inline u64 moderato_gates_begin(u64 base, u32 cycle, u64 now)
{
	if (base > now)
		return base;
	return base + (div_u64(now - base, cycle) + 1) * cycle;
}

/* Return: the longest time for which the gate of @queue is open, in ns; U32_MAX:
 * it is always open. The last entry lasts until the end of the cycle.
 */
static inline u32 moderato_gates_window(const u32 *entry, unsigned int count,
					u32 cycle, unsigned int queue)
{
	u32 longest = 0, open = 0;

	/* Twice, since a gate may stay open from one cycle into the next */
	for (unsigned int n = 0, left = cycle; n < 2 * count; n++) {
		unsigned int index = n % count;
		u32 span = FIELD_GET(MODERATO_GATE_ENTRY_INTERVAL,
				     entry[index]);

		if (!index)
			left = cycle;
		span = index == count - 1 ? left : min(span, left);
		left -= span;
		if (FIELD_GET(MODERATO_GATE_ENTRY_OPEN, entry[index]) >> queue & 1)
			open += span;
		else if (span)
			open = 0;
		longest = max(longest, open);
	}
	return longest == 2 * cycle ? U32_MAX : longest;
}

/* Return: the longest frame, without FCS, that a window has time for, on a link
 * with octets of @octet ns; 0: for no frame at all
 */
static inline u32 moderato_gates_frame(u32 window, u32 octet)
{
	u32 octets = window / octet;

	if (window == U32_MAX)
		return U32_MAX;
	return octets >= ETH_ZLEN + MODERATO_GATES_RESERVE ?
		       octets - MODERATO_GATES_RESERVE : 0;
}

#endif /* MODERATO_GATES_H */
