/* SPDX-License-Identifier: GPL-2.0-only */
/* Arithmetic of a descriptor ring: indices run freely modulo 2^16, the slot
 * is the index modulo the ring's size, a power of two.
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

/* Descriptors that the driver may still post. Both ends may coincide modulo
 * the ring's size (empty, full); modulo 2^16 they are told apart.
 */
static inline u32 moderato_space(u16 producer, u16 consumer, u8 order)
{
	return moderato_size(order) - (u16)(producer - consumer);
}

/* The phase that hardware writes flips with every pass over the ring, and is
 * 1 in the first one, so that zeroed memory reads as not completed.
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

/* A stopped Tx queue wakes when a quarter of the ring is free, so that it
 * does not flap between full and one; and not before it has what it stopped for.
 */
static inline u32 moderato_wake_threshold(u8 order, u32 reserve)
{
	return max(moderato_size(order) / 4, reserve);
}

/* Most frames that a GSO skb may become, so that one fits into half of each ring
 * that is not very short: more would not make the stack cheaper by much.
 */
#define MODERATO_TSO_SEGS	32U

/* ... and those that a ring takes */
static inline u32 moderato_tso_segs(u8 order)
{
	return min(MODERATO_TSO_SEGS, moderato_size(order) / 2);
}

/* The phase of a descriptor at @index that is not completed */
static inline u32 moderato_pending(u16 index, u8 order)
{
	return (index >> order) & 1 ? MODERATO_DESC_STATUS_PHASE : 0;
}

/* The word of a Tx descriptor that asks for a checksum, of all from octet @start
 * on, at octet @place: both are even
 */
static inline u32 moderato_insertion(unsigned int start, unsigned int place)
{
	return MODERATO_DESC_TX_CHECKSUM_INSERT |
	       FIELD_PREP(MODERATO_DESC_TX_CHECKSUM_START, start) |
	       FIELD_PREP(MODERATO_DESC_TX_CHECKSUM_PLACE, place);
}

/* What the clock of time stamps grows by in each clock of @hz: 2^-32 ns */
static inline u64 moderato_increment(u32 hz)
{
	return DIV_ROUND_CLOSEST_ULL((u64)NSEC_PER_SEC << 32, hz);
}

/* The time of which @stamp is the lower word, and which is not long before @now */
static inline u64 moderato_stamp(u64 now, u32 stamp)
{
	return now - (u32)((u32)now - stamp);
}

/* When an output that rose at @start, and each @period since then, does so for
 * the first time from @now on
 */
static inline u64 moderato_next_start(u64 start, u32 period, u64 now)
{
	if (start >= now)
		return start;
	return start + DIV64_U64_ROUND_UP(now - start, period) * period;
}

/* Octet times that each frame takes on the wire beyond its own octets: preamble
 * and the gap between two
 */
#define MODERATO_WIRE_OVERHEAD	20

/* Microseconds in which so many @octets (on the wire) leave at @mbps, with an
 * eighth and a millisecond to spare; 0 without a link
 */
static inline u32 moderato_drain_usecs(u32 octets, u32 mbps)
{
	u32 usecs;

	if (!mbps)
		return 0;
	usecs = octets / mbps * 8 + octets % mbps * 8 / mbps;
	return usecs + usecs / 8 + 1000;
}

/* Clocks of @hz in 512 bit times at @mbps, which pauses are counted in: rounded
 * up, so that none is too short
 */
static inline u32 moderato_quantum(u32 hz, u32 mbps)
{
	return min_t(u32, DIV_ROUND_UP_ULL(512ULL * hz, mbps * 1000000U),
		     U16_MAX);
}

/* What PAUSE_RING reads: the other end pauses when a quarter of the ring is
 * left, until half of it is. A ring that is hardly longer than what the hardware
 * fetches ahead says nothing.
 */
static inline u32 moderato_pause_ring(u8 order)
{
	u32 size = moderato_size(order);

	return order < 5 ? 0 : (size / 2) << 16 | size / 4;
}

/* What PAUSE_FIFO reads, with a FIFO of so many bytes: at half of it. Frames of
 * more than a quarter would come to that mark all the time, so that they have
 * one at three quarters; it leaves less room than may be needed.
 */
static inline u32 moderato_pause_fifo(u32 fifo, u32 frame)
{
	u32 stop = frame > fifo / 4 ? fifo / 4 : fifo / 2;

	return (stop + fifo / 8) << 16 | stop;
}

#endif /* MODERATO_RING_H */
