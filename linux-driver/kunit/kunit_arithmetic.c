// SPDX-License-Identifier: GPL-2.0-only
/* KUnit tests of the arithmetic that needs no hardware: moderato_ring.h,
 * moderato_cbs.h, moderato_coalesce.h, moderato_gates.h, moderato_launch.h and
 * moderato_rxnfc.h
 */

#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/module.h>

#include "moderato_budget.h"
#include "moderato_cbs.h"
#include "moderato_coalesce.h"
#include "moderato_gates.h"
#include "moderato_launch.h"
#include "moderato_ring.h"
#include "moderato_rxnfc.h"

#define HZ_SIM		100000000	/* 1 us is 100 clocks */
#define HZ_ODD		12500000	/* 1 us is 12.5 clocks */
#define TIMER_BITS	24

/* Ring --------------------------------------------------------------------- */

static void ring_space(struct kunit *test)
{
	const u8 order = 4;

	KUNIT_EXPECT_EQ(test, moderato_space(0, 0, order), 16);
	KUNIT_EXPECT_EQ(test, moderato_space(1, 0, order), 15);
	KUNIT_EXPECT_EQ(test, moderato_space(16, 0, order), 0);
	/* Indices wrap at 2^16 */
	KUNIT_EXPECT_EQ(test, moderato_space(3, 0xfffe, order), 11);
	KUNIT_EXPECT_EQ(test, moderato_space(0xe, 0xfffe, order), 0);
	KUNIT_EXPECT_EQ(test, moderato_space(0xfffe, 0xfffe, order), 16);
}

static void ring_slot(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, moderato_slot(0xffff, 4), 15);
	KUNIT_EXPECT_EQ(test, moderato_slot(0x10, 4), 0);
	KUNIT_EXPECT_EQ(test, moderato_slot(0xffff, MODERATO_MAX_RING_ORDER),
			4095);
}

/* A ring in memory, completed one by one for more than 2^16 frames: each
 * descriptor reads as completed after the hardware wrote it, and at no time
 * before.
 */
static void ring_phase(struct kunit *test)
{
	u32 *status = kunit_kzalloc(test, 4096 * sizeof(*status), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, status);
	for (u8 order = MODERATO_MIN_RING_ORDER;
	     order <= MODERATO_MAX_RING_ORDER; order++) {
		u32 phase = MODERATO_DESC_STATUS_PHASE;
		u32 early = 0, missed = 0;

		memset(status, 0, 4096 * sizeof(*status));
		for (u32 i = 0; i < 0x10000 + 3 * 4096; i++) {
			u32 slot = i % (1 << order);

			if (i && !slot)
				phase ^= MODERATO_DESC_STATUS_PHASE;
			early += moderato_completed(status[slot], i, order);
			status[slot] = phase;
			missed += !moderato_completed(status[slot], i, order);
		}
		KUNIT_EXPECT_EQ_MSG(test, early, 0, "order %u", order);
		KUNIT_EXPECT_EQ_MSG(test, missed, 0, "order %u", order);
	}
}

static void ring_order(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, moderato_order(0), MODERATO_MIN_RING_ORDER);
	KUNIT_EXPECT_EQ(test, moderato_order(4), 2);
	KUNIT_EXPECT_EQ(test, moderato_order(5), 3);
	KUNIT_EXPECT_EQ(test, moderato_order(256), 8);
	KUNIT_EXPECT_EQ(test, moderato_order(257), 9);
	KUNIT_EXPECT_EQ(test, moderato_order(4096), 12);
}

static void ring_wake(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, moderato_wake_threshold(8, 1), 64);
	/* The smallest ring must be able to wake, too */
	KUNIT_EXPECT_EQ(test,
			moderato_wake_threshold(MODERATO_MIN_RING_ORDER, 1), 1);
	/* A queue that wakes does not find too little again, and each ring
	 * has as much at some time
	 */
	for (u8 order = MODERATO_MIN_RING_ORDER;
	     order <= MODERATO_MAX_RING_ORDER; order++) {
		u32 segs = moderato_tso_segs(order);

		KUNIT_EXPECT_GE(test, segs, 2);
		KUNIT_EXPECT_GE(test, moderato_wake_threshold(order, segs),
				segs);
		KUNIT_EXPECT_LE(test, moderato_wake_threshold(order, segs),
				moderato_size(order) / 2);
	}
	KUNIT_EXPECT_EQ(test, moderato_tso_segs(5), 16);
	KUNIT_EXPECT_EQ(test, moderato_tso_segs(6), MODERATO_TSO_SEGS);
}

static void ring_drain(struct kunit *test)
{
	const u32 longest = 1518 + MODERATO_WIRE_OVERHEAD;

	/* Long enough, and not much longer */
	KUNIT_EXPECT_GT(test, moderato_drain_usecs(256 * longest, 10), 314982);
	KUNIT_EXPECT_LT(test, moderato_drain_usecs(256 * longest, 10), 400000);
	KUNIT_EXPECT_GT(test, moderato_drain_usecs(4096 * longest, 100), 503971);
	KUNIT_EXPECT_LT(test, moderato_drain_usecs(4096 * longest, 100), 600000);
	KUNIT_EXPECT_GT(test, moderato_drain_usecs(longest, 1000), 12);
	/* As many and as long frames as there can be, at the lowest rate */
	KUNIT_EXPECT_GT(test, moderato_drain_usecs(4096 * 16384, 10), 53687091);
	KUNIT_EXPECT_LT(test, moderato_drain_usecs(4096 * 16384, 10), 70000000);
	/* Without a link nothing leaves, and nothing waits */
	KUNIT_EXPECT_EQ(test, moderato_drain_usecs(longest, 0), 0);
}

/* Whatever it completed as in the pass before, also where the index wraps */
static void ring_pending(struct kunit *test)
{
	for (u8 order = MODERATO_MIN_RING_ORDER;
	     order <= MODERATO_MAX_RING_ORDER; order++) {
		u16 index = 0;

		do {
			u32 status = moderato_pending(index, order);

			if (moderato_completed(status, index, order) ||
			    !moderato_completed(status ^
						MODERATO_DESC_STATUS_PHASE,
						index, order))
				KUNIT_FAIL(test, "order %u, index %u", order,
					   index);
		} while (++index);
	}
}

/* A quantum is 51.2 clocks at 1000 Mb/s */
static void ring_pause(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, moderato_quantum(HZ_SIM, 1000), 52);
	KUNIT_EXPECT_EQ(test, moderato_quantum(HZ_SIM, 100), 512);
	KUNIT_EXPECT_EQ(test, moderato_quantum(HZ_SIM, 10), 5120);
	KUNIT_EXPECT_EQ(test, moderato_quantum(75000000, 1000), 39);
	KUNIT_EXPECT_EQ(test, moderato_quantum(U32_MAX, 10), U16_MAX);

	/* The hardware fetches up to eight ahead: both marks are in reach */
	KUNIT_EXPECT_EQ(test, moderato_pause_ring(4), 0);
	KUNIT_EXPECT_EQ(test, moderato_pause_ring(5), 16 << 16 | 8);
	KUNIT_EXPECT_EQ(test, moderato_pause_ring(8), 128 << 16 | 64);
	KUNIT_EXPECT_EQ(test, moderato_pause_ring(12), 2048 << 16 | 1024);

	KUNIT_EXPECT_EQ(test, moderato_pause_fifo(8192, 1522),
			5120 << 16 | 4096);
	KUNIT_EXPECT_EQ(test, moderato_pause_fifo(16384, 9022),
			6144 << 16 | 4096);
}

static void ring_time(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, moderato_increment(HZ_SIM), 10ULL << 32);
	KUNIT_EXPECT_EQ(test, moderato_increment(75000000), 57266230613ULL);
	KUNIT_EXPECT_EQ(test, moderato_increment(150000000), 28633115307ULL);

	KUNIT_EXPECT_EQ(test, moderato_stamp(0x500000010, 0x10), 0x500000010);
	KUNIT_EXPECT_EQ(test, moderato_stamp(0x500000010, 0xf), 0x50000000f);
	KUNIT_EXPECT_EQ(test, moderato_stamp(0x500000010, 0xfffffff0),
			0x4fffffff0);
	KUNIT_EXPECT_EQ(test, moderato_stamp(0x500000010, 0x11), 0x400000011);

	KUNIT_EXPECT_EQ(test, moderato_next_start(700, 1000, 600), 700);
	KUNIT_EXPECT_EQ(test, moderato_next_start(700, 1000, 700), 700);
	KUNIT_EXPECT_EQ(test, moderato_next_start(700, 1000, 701), 1700);
	KUNIT_EXPECT_EQ(test, moderato_next_start(0, NSEC_PER_SEC,
						  1700000000123456789ULL),
			1700000001000000000ULL);
}

/* Moderation --------------------------------------------------------------- */

static void coalesce_clocks(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, moderato_usecs_to_clocks(0, HZ_SIM), 0);
	KUNIT_EXPECT_EQ(test, moderato_usecs_to_clocks(50, HZ_SIM), 5000);
	KUNIT_EXPECT_EQ(test, moderato_usecs_to_clocks(1, HZ_ODD), 13);
	KUNIT_EXPECT_EQ(test, moderato_usecs_to_clocks(2, HZ_ODD), 25);
	KUNIT_EXPECT_EQ(test, moderato_usecs_to_clocks(1, 1), 1);
	KUNIT_EXPECT_EQ(test, moderato_clocks_to_usecs(13, HZ_ODD), 1);
	KUNIT_EXPECT_EQ(test, moderato_clocks_to_usecs(24, HZ_ODD), 1);
	KUNIT_EXPECT_EQ(test, moderato_clocks_to_usecs(25, HZ_ODD), 2);
}

/* ethtool -C with the values of ethtool -c changes nothing */
static void coalesce_round_trip(struct kunit *test)
{
	static const u32 clocks[] = { 1000000, 12500000, 33333333, 75000000,
				      100000000, 156250000 };

	for (int i = 0; i < ARRAY_SIZE(clocks); i++) {
		u32 hz = clocks[i];
		u32 max = moderato_usecs_max(TIMER_BITS, hz);

		for (u32 usecs = 0; usecs <= max; usecs += 1 + usecs / 7) {
			u32 set = moderato_usecs_to_clocks(usecs, hz);

			KUNIT_EXPECT_EQ(test, usecs,
					moderato_clocks_to_usecs(set, hz));
		}
		KUNIT_EXPECT_LE(test, moderato_usecs_to_clocks(max, hz),
				MODERATO_TIMER_MAX);
		KUNIT_EXPECT_GT(test, moderato_usecs_to_clocks(max + 1, hz),
				MODERATO_TIMER_MAX);
	}
	KUNIT_EXPECT_EQ(test, moderato_usecs_max(TIMER_BITS, HZ_SIM), 167772);
}

static void coalesce_check(struct kunit *test)
{
	static const struct {
		struct moderato_coalesce c;
		enum moderato_coalesce_verdict verdict;
	} cases[] = {
		{ { .frames = 1 }, MODERATO_COALESCE_OK },
		{ { .frames = 128, .usecs = 1000 }, MODERATO_COALESCE_OK },
		{ { .frames = 128, .packet_usecs = 10 }, MODERATO_COALESCE_OK },
		{ { .usecs = 50 }, MODERATO_COALESCE_OK },
		{ { .usecs = 1000, .gap_usecs = 1000 }, MODERATO_COALESCE_OK },
		{ { }, MODERATO_COALESCE_NEVER },
		{ { .gap_usecs = 50 }, MODERATO_COALESCE_NEVER },
		{ { .frames = 2 }, MODERATO_COALESCE_UNBOUNDED },
		{ { .frames = 128, .gap_usecs = 9 },
		  MODERATO_COALESCE_UNBOUNDED },
		{ { .frames = 129, .usecs = 50 }, MODERATO_COALESCE_RING },
		{ { .frames = ~0, .usecs = 50 }, MODERATO_COALESCE_RING },
		{ { .usecs = 1001 }, MODERATO_COALESCE_TIMER },
		{ { .frames = 1, .packet_usecs = 1001 }, MODERATO_COALESCE_TIMER },
		{ { .frames = 1, .gap_usecs = ~0 }, MODERATO_COALESCE_TIMER },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, cases[i].verdict,
				    moderato_coalesce_check(&cases[i].c, 8,
							    1000),
				    "case %d", i);
	/* One frame per interrupt fits any ring */
	KUNIT_EXPECT_EQ(test, MODERATO_COALESCE_OK,
			moderato_coalesce_check(&cases[0].c,
						MODERATO_MIN_RING_ORDER, 1000));
}

static void coalesce_fit(struct kunit *test)
{
	static const struct moderato_coalesce wanted[] = {
		{ .frames = 16, .usecs = 50 },
		{ .frames = 32, .usecs = 1000 },
		{ .frames = 0, .usecs = 1000, .gap_usecs = 500 },
		{ .frames = 128, .packet_usecs = 10000 },
	};

	for (int i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct moderato_coalesce c = wanted[i];

		/* Settings that the hardware can apply stay */
		moderato_coalesce_fit(&c, 8, 100000);
		KUNIT_EXPECT_MEMEQ(test, &c, &wanted[i], sizeof(c));

		for (u8 order = MODERATO_MIN_RING_ORDER; order < 9; order++) {
			for (u32 max = 0; max < 2000; max += 1 + max / 2) {
				c = wanted[i];
				moderato_coalesce_fit(&c, order, max);
				KUNIT_EXPECT_EQ(test, MODERATO_COALESCE_OK,
						moderato_coalesce_check(&c,
									order,
									max));
			}
		}
	}
}

/* The moderation of the MAC by count: returns how many interrupts @total
 * frames raise, if @step of them complete while an interrupt waits.
 */
static u32 interrupts_of(const struct moderato_coalesce *c, u32 total,
			 u32 step)
{
	u32 completed = 0, consumer = 0, interrupts = 0;

	while (completed < total) {
		completed = min(completed + step, total);
		/* Re-arming counts what lies beyond the consumer index */
		while (completed - consumer >= c->frames) {
			interrupts++;
			consumer += min(moderato_budget(c, 8),
					completed - consumer);
		}
	}
	return interrupts;
}

static void coalesce_budget(struct kunit *test)
{
	struct moderato_coalesce c = { .frames = 1 };

	/* However fast frames come: one interrupt for each, one for 128 */
	for (u32 step = 1; step < 200; step += 13) {
		c.frames = 1;
		KUNIT_EXPECT_EQ(test, interrupts_of(&c, 1280, step), 1280);
		c.frames = 128;
		KUNIT_EXPECT_EQ(test, interrupts_of(&c, 1280, step), 10);
		KUNIT_EXPECT_EQ(test, interrupts_of(&c, 1407, step), 10);
	}

	/* Where interrupts are kept apart, or only timers count: all */
	c.gap_usecs = 1;
	KUNIT_EXPECT_EQ(test, moderato_budget(&c, 8), 256);
	c.gap_usecs = 0;
	c.frames = 0;
	KUNIT_EXPECT_EQ(test, moderato_budget(&c, 8), 256);
}

static void coalesce_tx_prompt(struct kunit *test)
{
	static const struct {
		struct moderato_coalesce c;
		bool prompt;
	} cases[] = {
		{ { .frames = 32, .usecs = 1000 }, true },
		{ { .frames = 32, .packet_usecs = 1000 }, true },
		{ { .frames = 32, .usecs = 1001 }, false },
		{ { .frames = 128, .usecs = 100000 }, false },
		/* The last frame waits for the shorter of the two timers */
		{ { .frames = 128, .usecs = 9000, .packet_usecs = 20 }, true },
		{ { .frames = 128, .usecs = 20, .packet_usecs = 9000 }, true },
		{ { .frames = 1, .usecs = 9000, .gap_usecs = 500 }, true },
		{ { .frames = 1, .gap_usecs = 5000 }, false },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, cases[i].prompt,
				    moderato_tx_prompt(&cases[i].c), "case %d",
				    i);
}

/* Flows -------------------------------------------------------------------- */

/* UDP from 198.18.0.2, port 9, to 198.19.0.2, port 7, expedited */
static const u8 rxnfc_frame[MODERATO_MATCH_OCTETS] = {
	0x02, 0x4d, 0x4f, 0x44, 0x00, 0x00, 0x02, 0x54, 0x73, 0x74, 0x00, 0x00,
	0x08, 0x00, 0x45, 0xb8, 0x00, 0x2e, 0x12, 0x34, 0x00, 0x00, 0x40, 0x11,
	0x00, 0x00, 198, 18, 0, 2, 198, 19, 0, 2, 0, 9, 0, 7,
};

/* As the hardware does it, for a frame with one octet changed; or none, if
 * @change is 0
 */
static bool rxnfc_holds(const struct moderato_word *words, int count,
			unsigned int octet, u8 change)
{
	u8 frame[MODERATO_MATCH_OCTETS];

	memcpy(frame, rxnfc_frame, sizeof(frame));
	frame[octet] ^= change;
	for (int i = 0; i < count; i++) {
		u32 word = get_unaligned_le32(frame + 4 * words[i].word);

		if ((word ^ words[i].value) & words[i].mask)
			return false;
	}
	return true;
}

/* The words of @fs hold for the frame, and need these octets to be so: a list
 * that ends with 0
 */
static void rxnfc_expect(struct kunit *test, struct ethtool_rx_flow_spec *fs,
			 int most, const u8 *octets)
{
	struct moderato_word words[2];
	int count = moderato_rule_words(fs, words, most);

	KUNIT_ASSERT_GT(test, count, 0);
	KUNIT_ASSERT_LE(test, count, most);
	KUNIT_EXPECT_TRUE(test, rxnfc_holds(words, count, 0, 0));
	for (unsigned int i = 0; i < sizeof(rxnfc_frame); i++) {
		bool needed = *octets && i == *octets;

		KUNIT_EXPECT_EQ_MSG(test, rxnfc_holds(words, count, i, 0x10),
				    !needed, "octet %u", i);
		octets += needed;
	}
}

static void rxnfc_tos(struct kunit *test)
{
	struct ethtool_rx_flow_spec fs = { .flow_type = IP_USER_FLOW };

	fs.h_u.usr_ip4_spec.tos = 0xb8;
	fs.m_u.usr_ip4_spec.tos = 0xfc;
	/* The type and the header's length are in the same word */
	rxnfc_expect(test, &fs, 1, (u8[]) { 12, 13, 14, 15, 0 });
	rxnfc_expect(test, &fs, 2, (u8[]) { 12, 13, 14, 15, 0 });
}

static void rxnfc_port(struct kunit *test)
{
	struct ethtool_rx_flow_spec fs = { .flow_type = UDP_V4_FLOW };

	fs.h_u.udp_ip4_spec.pdst = htons(7);
	fs.m_u.udp_ip4_spec.pdst = htons(0xffff);
	rxnfc_expect(test, &fs, 2, (u8[]) { 23, 36, 37, 0 });
	rxnfc_expect(test, &fs, 1, (u8[]) { 36, 37, 0 });
}

static void rxnfc_address(struct kunit *test)
{
	struct ethtool_rx_flow_spec fs = { .flow_type = UDP_V4_FLOW };

	fs.h_u.udp_ip4_spec.ip4dst = htonl(0xc6130002);
	fs.m_u.udp_ip4_spec.ip4dst = htonl(0xffffff00);
	rxnfc_expect(test, &fs, 2, (u8[]) { 30, 31, 32, 0 });
}

static void rxnfc_ether(struct kunit *test)
{
	struct ethtool_rx_flow_spec fs = { .flow_type = ETHER_FLOW };

	fs.h_u.ether_spec.h_proto = htons(ETH_P_IP);
	fs.m_u.ether_spec.h_proto = htons(0xffff);
	rxnfc_expect(test, &fs, 1, (u8[]) { 12, 13, 0 });
	memcpy(fs.h_u.ether_spec.h_source, rxnfc_frame + ETH_ALEN, ETH_ALEN);
	eth_broadcast_addr(fs.m_u.ether_spec.h_source);
	memset(&fs.m_u.ether_spec.h_proto, 0, 2);
	rxnfc_expect(test, &fs, 2, (u8[]) { 6, 7, 8, 9, 10, 11, 0 });
}

/* Tags of priority 5 */
static void rxnfc_vlan(struct kunit *test)
{
	struct ethtool_rx_flow_spec fs = { .flow_type = ETHER_FLOW | FLOW_EXT };
	struct moderato_word word;

	fs.h_ext.vlan_tci = htons(0xa000);
	fs.m_ext.vlan_tci = htons(0xe000);
	KUNIT_EXPECT_EQ(test, moderato_rule_words(&fs, &word, 1), 1);
	KUNIT_EXPECT_EQ(test, word.word, 3);
	KUNIT_EXPECT_EQ(test, word.value, 0x00a00081);
	KUNIT_EXPECT_EQ(test, word.mask, 0x00e0ffff);

	/* Another type: the named value wins over the implied one */
	fs.h_ext.vlan_etype = htons(ETH_P_8021AD);
	fs.m_ext.vlan_etype = htons(0xffff);
	KUNIT_EXPECT_EQ(test, moderato_rule_words(&fs, &word, 1), 1);
	KUNIT_EXPECT_EQ(test, word.value, 0x00a0a888);
	KUNIT_EXPECT_EQ(test, word.mask, 0x00e0ffff);
}

static void rxnfc_refused(struct kunit *test)
{
	struct ethtool_rx_flow_spec fs = { .flow_type = TCP_V4_FLOW };
	struct moderato_word words[2];

	/* Four words */
	fs.m_u.tcp_ip4_spec.ip4src = htonl(0xffffffff);
	fs.m_u.tcp_ip4_spec.ip4dst = htonl(0xffffffff);
	KUNIT_EXPECT_EQ(test, moderato_rule_words(&fs, words, 2), -EOPNOTSUPP);
	fs.flow_type = TCP_V6_FLOW;
	KUNIT_EXPECT_EQ(test, moderato_rule_words(&fs, words, 2), -EOPNOTSUPP);
	/* Nothing */
	memset(&fs, 0, sizeof(fs));
	fs.flow_type = ETHER_FLOW;
	KUNIT_EXPECT_EQ(test, moderato_rule_words(&fs, words, 2), -EOPNOTSUPP);
	/* A tag before IPv4 moves all of it */
	fs.flow_type = UDP_V4_FLOW | FLOW_EXT;
	fs.m_ext.vlan_tci = htons(0xe000);
	KUNIT_EXPECT_EQ(test, moderato_rule_words(&fs, words, 2), -EOPNOTSUPP);
}

/* Launch times --------------------------------------------------------------- */

static void launch_fits(struct kunit *test)
{
	/* A year of the clock; the lower word is about to wrap */
	const s64 now = 0x00700000fffffff0;

	KUNIT_EXPECT_TRUE(test, moderato_launch_fits(now, now));
	KUNIT_EXPECT_TRUE(test, moderato_launch_fits(now + 500000, now));
	KUNIT_EXPECT_TRUE(test, moderato_launch_fits(now + S32_MAX, now));
	KUNIT_EXPECT_FALSE(test, moderato_launch_fits(now + S32_MAX + 1LL, now));
	/* The lower word alone would fit */
	KUNIT_EXPECT_FALSE(test, moderato_launch_fits(now + (1LL << 32), now));
	KUNIT_EXPECT_FALSE(test, moderato_launch_fits(now - (1LL << 32), now));
	KUNIT_EXPECT_FALSE(test, moderato_launch_fits(S64_MAX, now));
	KUNIT_EXPECT_FALSE(test, moderato_launch_fits(1, now));
	/* The hardware still sees that it is late when the clock has run on */
	KUNIT_EXPECT_TRUE(test, moderato_launch_fits(now - 1, now));
	KUNIT_EXPECT_TRUE(test, moderato_launch_fits(now - NSEC_PER_SEC, now));
	KUNIT_EXPECT_FALSE(test,
			   moderato_launch_fits(now - 2LL * NSEC_PER_SEC, now));
}

static void launch_ahead(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, moderato_link_octet(1000), 8);
	KUNIT_EXPECT_EQ(test, moderato_link_octet(100), 80);
	KUNIT_EXPECT_EQ(test, moderato_link_octet(10), 800);
	for (int rates = 0; rates < 2; rates++)
		KUNIT_EXPECT_EQ(test, moderato_launch_ahead(8, rates), 0);
	/* As measured on the simulated PHYs */
	KUNIT_EXPECT_EQ(test, moderato_launch_ahead(80, true), 768);
	KUNIT_EXPECT_EQ(test, moderato_launch_ahead(800, true), 8688);
	KUNIT_EXPECT_EQ(test, moderato_launch_ahead(80, false), 576);
	KUNIT_EXPECT_EQ(test, moderato_launch_ahead(800, false), 6336);
}

/* Gates ---------------------------------------------------------------------- */

#define GATE(open, ns)	((open) << 30 | (ns))

static void gates_begin(struct kunit *test)
{
	const u64 now = 0x00700000fffffff0;

	KUNIT_EXPECT_EQ(test, moderato_gates_begin(now + 1, 1000, now), now + 1);
	KUNIT_EXPECT_EQ(test, moderato_gates_begin(now, 1000, now), now + 1000);
	KUNIT_EXPECT_EQ(test, moderato_gates_begin(now - 1, 1000, now),
			now + 999);
	KUNIT_EXPECT_EQ(test, moderato_gates_begin(now - 1000, 1000, now),
			now + 1000);
	/* A base time of 0 is common: cycles in phase with whole seconds */
	KUNIT_EXPECT_EQ(test, moderato_gates_begin(0, 1000000, now) % 1000000, 0);
	KUNIT_EXPECT_GT(test, moderato_gates_begin(0, 1000000, now), now);
	KUNIT_EXPECT_LE(test, moderato_gates_begin(0, 1000000, now),
			now + 1000000);
}

static void gates_window(struct kunit *test)
{
	const u32 turns[] = { GATE(1u, 300), GATE(2u, 700) };
	const u32 both[] = { GATE(1u, 300), GATE(3u, 200), GATE(2u, 500) };
	const u32 wraps[] = { GATE(1u, 200), GATE(0u, 300), GATE(1u, 500) };
	const u32 apart[] = { GATE(1u, 200), GATE(0u, 100), GATE(1u, 400),
			      GATE(0u, 300) };
	const u32 always[] = { GATE(1u, 200), GATE(3u, 800) };

	KUNIT_EXPECT_EQ(test, moderato_gates_window(turns, 2, 1000, 0), 300);
	KUNIT_EXPECT_EQ(test, moderato_gates_window(turns, 2, 1000, 1), 700);
	KUNIT_EXPECT_EQ(test, moderato_gates_window(both, 3, 1000, 0), 500);
	KUNIT_EXPECT_EQ(test, moderato_gates_window(both, 3, 1000, 1), 700);
	KUNIT_EXPECT_EQ(test, moderato_gates_window(wraps, 3, 1000, 0), 700);
	KUNIT_EXPECT_EQ(test, moderato_gates_window(wraps, 3, 1000, 1), 0);
	KUNIT_EXPECT_EQ(test, moderato_gates_window(apart, 4, 1000, 0), 400);
	KUNIT_EXPECT_EQ(test, moderato_gates_window(always, 2, 1000, 0),
			U32_MAX);
	KUNIT_EXPECT_EQ(test, moderato_gates_window(always, 2, 1000, 1), 800);
	KUNIT_EXPECT_EQ(test, moderato_gates_window(always, 1, 1000, 0),
			U32_MAX);
	/* The last entry fills a longer cycle, and a shorter one cuts entries */
	KUNIT_EXPECT_EQ(test, moderato_gates_window(turns, 2, 1500, 1), 1200);
	KUNIT_EXPECT_EQ(test, moderato_gates_window(both, 3, 400, 1), 100);
	KUNIT_EXPECT_EQ(test, moderato_gates_window(both, 3, 400, 0), U32_MAX);
	KUNIT_EXPECT_EQ(test, moderato_gates_window(turns, 2,
						    MODERATO_GATES_MOST, 1),
			MODERATO_GATES_MOST - 300);
}

static void gates_frame(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, moderato_gates_frame(U32_MAX, 800), U32_MAX);
	KUNIT_EXPECT_EQ(test, moderato_gates_frame(0, 8), 0);
	KUNIT_EXPECT_EQ(test, moderato_gates_frame(144 * 80, 80), ETH_ZLEN);
	KUNIT_EXPECT_EQ(test, moderato_gates_frame(144 * 80 - 1, 80), 0);
	KUNIT_EXPECT_EQ(test, moderato_gates_frame(100000, 80), 1250 - 84);
	KUNIT_EXPECT_EQ(test, moderato_gates_frame(100000, 8), 12500 - 84);
}

/* Shapers ------------------------------------------------------------------ */

static void cbs_slope(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, moderato_cbs_slope(0, HZ_SIM), 0);
	/* 8 kb/s are 1000 octets in a second; 100 MHz: 2^24 / 10^5 */
	KUNIT_EXPECT_EQ(test, moderato_cbs_slope(8, HZ_SIM), 168);
	/* 1 Gb/s: 1.25 octets in each clock */
	KUNIT_EXPECT_EQ(test, moderato_cbs_slope(1000000, HZ_SIM),
			5 << (MODERATO_TX_SLOPE_FRACTION_BITS - 2));
	KUNIT_EXPECT_EQ(test, moderato_cbs_slope(100000, HZ_ODD),
			1 << MODERATO_TX_SLOPE_FRACTION_BITS);
	KUNIT_EXPECT_EQ(test, moderato_cbs_slope(S32_MAX, HZ_ODD),
			MODERATO_TX_SLOPE_MAX);
	KUNIT_EXPECT_EQ(test, moderato_cbs_slope(U32_MAX, 1),
			MODERATO_TX_SLOPE_MAX);
}

static void cbs_link(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, moderato_cbs_link(8), 1000000);
	KUNIT_EXPECT_EQ(test, moderato_cbs_link(80), 100000);
	KUNIT_EXPECT_EQ(test, moderato_cbs_link(800), 10000);
}

/* Suites ------------------------------------------------------------------- */

static struct kunit_case moderato_cbs_cases[] = {
	KUNIT_CASE(cbs_slope),
	KUNIT_CASE(cbs_link),
	{}
};

static struct kunit_case moderato_ring_cases[] = {
	KUNIT_CASE(ring_space),
	KUNIT_CASE(ring_slot),
	KUNIT_CASE(ring_phase),
	KUNIT_CASE(ring_order),
	KUNIT_CASE(ring_wake),
	KUNIT_CASE(ring_drain),
	KUNIT_CASE(ring_pending),
	KUNIT_CASE(ring_pause),
	KUNIT_CASE(ring_time),
	{}
};

static struct kunit_case moderato_coalesce_cases[] = {
	KUNIT_CASE(coalesce_clocks),
	KUNIT_CASE(coalesce_round_trip),
	KUNIT_CASE(coalesce_check),
	KUNIT_CASE(coalesce_fit),
	KUNIT_CASE(coalesce_budget),
	KUNIT_CASE(coalesce_tx_prompt),
	{}
};

static struct kunit_case moderato_launch_cases[] = {
	KUNIT_CASE(launch_fits),
	KUNIT_CASE(launch_ahead),
	{}
};

static struct kunit_case moderato_gates_cases[] = {
	KUNIT_CASE(gates_begin),
	KUNIT_CASE(gates_window),
	KUNIT_CASE(gates_frame),
	{}
};

static struct kunit_case moderato_rxnfc_cases[] = {
	KUNIT_CASE(rxnfc_tos),
	KUNIT_CASE(rxnfc_port),
	KUNIT_CASE(rxnfc_address),
	KUNIT_CASE(rxnfc_ether),
	KUNIT_CASE(rxnfc_vlan),
	KUNIT_CASE(rxnfc_refused),
	{}
};

static struct kunit_suite moderato_ring_suite = {
	.name = "moderato_ring",
	.test_cases = moderato_ring_cases,
};

static struct kunit_suite moderato_cbs_suite = {
	.name = "moderato_cbs",
	.test_cases = moderato_cbs_cases,
};

static struct kunit_suite moderato_gates_suite = {
	.name = "moderato_gates",
	.test_cases = moderato_gates_cases,
};

static struct kunit_suite moderato_coalesce_suite = {
	.name = "moderato_coalesce",
	.test_cases = moderato_coalesce_cases,
};

static struct kunit_suite moderato_launch_suite = {
	.name = "moderato_launch",
	.test_cases = moderato_launch_cases,
};

static struct kunit_suite moderato_rxnfc_suite = {
	.name = "moderato_rxnfc",
	.test_cases = moderato_rxnfc_cases,
};

kunit_test_suites(&moderato_ring_suite, &moderato_coalesce_suite,
		  &moderato_launch_suite, &moderato_gates_suite,
		  &moderato_cbs_suite, &moderato_rxnfc_suite);

MODULE_DESCRIPTION("KUnit tests of the Moderato Ethernet MAC driver");
MODULE_LICENSE("GPL");
