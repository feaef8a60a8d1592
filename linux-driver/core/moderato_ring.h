/* SPDX-License-Identifier: GPL-2.0-only */
/* Arithmetic of a descriptor ring. Indices run modulo 2^16; the slot is the
 * index modulo the ring's size, a power of two.
 */
#ifndef MODERATO_RING_H
#define MODERATO_RING_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "moderato_regs.h"

static inline u32 moderato_size(u8 order)
{
	return BIT(order);
}

static inline u32 moderato_slot(u16 index, u8 order)
{
	return index & (moderato_size(order) - 1);
}

/* Number of free descriptors. Modulo the ring's size, the indices of an empty
 * and a full ring are equal; modulo 2^16 they differ.
 */
static inline u32 moderato_space(u16 producer, u16 consumer, u8 order)
{
	return moderato_size(order) - (u16)(producer - consumer);
}

/* Whether @status is completed. The phase bit that the hardware writes flips
 * with every pass over the ring, and is 1 in the first pass, so that zeroed
 * memory reads as not completed.
 */
static inline bool moderato_completed(u32 status, u16 index, u8 order)
{
	return !!(status & MODERATO_DESC_STATUS_PHASE) ==
	       !((index >> order) & 1);
}

/* The order of the smallest ring that holds @size descriptors */
static inline u8 moderato_order(u32 size)
{
	return order_base_2(max_t(u32, size, BIT(MODERATO_MIN_RING_ORDER)));
}

/* A stopped Tx queue wakes when a quarter of the ring is free, to avoid
 * stopping again at once, and not before the space it stopped for.
 */
static inline u32 moderato_wake_threshold(u8 order, u32 reserve)
{
	return max(moderato_size(order) / 4, reserve);
}

/* Most segments of a GSO skb. One fits into half of each ring that is not very
 * short, and more would hardly save work in the stack.
 */
#define MODERATO_TSO_SEGS	32U

/* Most segments with a ring of this size */
static inline u32 moderato_tso_segs(u8 order)
{
	return min(MODERATO_TSO_SEGS, moderato_size(order) / 2);
}

/* The phase bit of a descriptor at @index that is not completed */
static inline u32 moderato_pending(u16 index, u8 order)
{
	return (index >> order) & 1 ? MODERATO_DESC_STATUS_PHASE : 0;
}

/* The Tx descriptor's request for a checksum over all from octet @start on, at
 * octet @place; both are even
 */
static inline u32 moderato_insertion(unsigned int start, unsigned int place)
{
	return MODERATO_DESC_TX_CHECKSUM_INSERT |
	       FIELD_PREP(MODERATO_DESC_TX_CHECKSUM_START, start) |
	       FIELD_PREP(MODERATO_DESC_TX_CHECKSUM_PLACE, place);
}

/* Increment of the PTP clock per clock of @hz, in 2^-32 ns */
static inline u64 moderato_increment(u32 hz)
{
	return DIV_ROUND_CLOSEST_ULL((u64)NSEC_PER_SEC << 32, hz);
}

/* The time with the lower word @stamp, shortly before @now */
static inline u64 moderato_stamp(u64 now, u32 stamp)
{
	return now - (u32)((u32)now - stamp);
}

/* The first time from @now on at which an output with this @start and @period
 * rises
 */
static inline u64 moderato_next_start(u64 start, u32 period, u64 now)
{
	if (start >= now)
		return start;
	return start + DIV64_U64_ROUND_UP(now - start, period) * period;
}

/* Octet times of preamble and interpacket gap */
#define MODERATO_WIRE_OVERHEAD	20

/* Time in which @octets on the wire leave at @mbps, with a margin of an eighth
 * and a millisecond; 0 without a link
 */
static inline u32 moderato_drain_usecs(u32 octets, u32 mbps)
{
	u32 usecs;

	if (!mbps)
		return 0;
	usecs = octets / mbps * 8 + octets % mbps * 8 / mbps;
	return usecs + usecs / 8 + 1000;
}

/* Clocks of @hz in 512 bit times at @mbps, the unit of pause times; rounded up,
 * so that no pause is too short
 */
static inline u32 moderato_quantum(u32 hz, u32 mbps)
{
	return min_t(u32, DIV_ROUND_UP_ULL(512ULL * hz, mbps * 1000000U),
		     U16_MAX);
}

/* PAUSE_RING: the link partner pauses while a quarter of the ring or less is
 * left, until half of it is. A ring hardly longer than the hardware's prefetch
 * requests no pause.
 */
static inline u32 moderato_pause_ring(u8 order)
{
	u32 size = moderato_size(order);

	return order < 5 ? 0 : (size / 2) << 16 | size / 4;
}

/* PAUSE_FIFO, for a FIFO of @fifo bytes: pause at half. Frames longer than a
 * quarter would reach this mark all the time; they get three quarters, which
 * leaves less room than may be needed.
 */
static inline u32 moderato_pause_fifo(u32 fifo, u32 frame)
{
	u32 stop = frame > fifo / 4 ? fifo / 4 : fifo / 2;

	return (stop + fifo / 8) << 16 | stop;
}

#endif /* MODERATO_RING_H */
