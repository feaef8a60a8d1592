/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DRAM: data lines, address lines, then every word of an area. The data cache writes through; it forgets
 * its content before each pass of reads.
 */
#include "selftest.h"

#define LINE_WORDS 4 /* of a burst of 16 octets */
#define TEST_END   (TEST_BASE + TEST_SIZE)

static volatile u32 *const words = (volatile u32 *)TEST_BASE;

/* errors: words; bits: which differ in any of them; first: address */
static struct {
	u32 errors, bits, first;
} found;

static void compare(volatile u32 *at, u32 expected)
{
	u32 other = *at ^ expected;

	if (!other)
		return;
	if (!found.errors++)
		found.first = (u32)at;
	found.bits |= other;
}

static void print(const char *name, u32 octets)
{
	begin(name, NO_PORT, found.errors ? FAIL : PASS);
	number("octets", octets);
	number("errors", found.errors);
	hex("bits", found.bits);
	hex("first", found.first);
	end();
	found.errors = found.bits = found.first = 0;
}

/* A single one, and a single zero, at each place of a burst */
static void walk(void)
{
	for (u32 step = 0; step < 2 * 32 * LINE_WORDS; step++) {
		u32 place = step / 2 / 32 % LINE_WORDS, bit = 1u << step / 2 % 32;
		u32 invert = step & 1 ? ~0u : 0;

		for (u32 at = 0; at < LINE_WORDS; at++)
			words[at] = (at == place ? bit : 0) ^ invert;
		forget();
		for (u32 at = 0; at < LINE_WORDS; at++)
			compare(words + at, (at == place ? bit : 0) ^ invert);
	}
	print("dram-walk", 4 * LINE_WORDS);
}

/* Each address line of all memory: words at distances of powers of two */
static void lines(void)
{
	u32 bad = 0, tested = 0;

	words[0] = ~0u;
	for (u32 bit = 2; (1u << bit) < MEMORY_END - TEST_BASE; bit++)
		words[(1u << bit) / 4] = bit;
	forget();
	for (u32 bit = 2; (1u << bit) < MEMORY_END - TEST_BASE; bit++) {
		tested |= 1u << bit;
		if (words[(1u << bit) / 4] != bit)
			bad |= 1u << bit;
	}
	if (words[0] != ~0u)
		bad |= 1;
	begin("dram-lines", NO_PORT, bad ? FAIL : PASS);
	hex("lines", tested);
	hex("bad", bad);
	end();
}

/* Each word has its address, then the inverse. */
static void addresses(void)
{
	for (u32 invert = 0;; invert = ~invert) {
		for (u32 at = TEST_BASE; at < TEST_END; at += 4)
			REG(at) = at ^ invert;
		forget();
		for (u32 at = TEST_BASE; at < TEST_END; at += 4)
			compare((volatile u32 *)at, at ^ invert);
		if (invert)
			break;
	}
	print("dram-address", TEST_SIZE);
}

/* Random words, then their inverse */
static void random(void)
{
	for (u32 invert = 0;; invert = ~invert) {
		u32 state = 1;

		for (u32 at = TEST_BASE; at < TEST_END; at += 4) {
			state = next_random(state);
			REG(at) = state ^ invert;
		}
		forget();
		state = 1;
		for (u32 at = TEST_BASE; at < TEST_END; at += 4) {
			state = next_random(state);
			compare((volatile u32 *)at, state ^ invert);
		}
		if (invert)
			break;
	}
	print("dram-random", TEST_SIZE);
}

static void speed(void)
{
	u32 start, written, read;

	start = now();
	for (u32 at = TEST_BASE; at < TEST_BASE + SPEED_SIZE; at += 32)
		for (u32 step = 0; step < 32; step += 4)
			REG(at + step) = at;
	fence();
	written = now() - start;
	forget();
	start = now();
	for (u32 at = TEST_BASE; at < TEST_BASE + SPEED_SIZE; at += 32)
		for (u32 step = 0; step < 32; step += 4)
			(void)REG(at + step);
	read = now() - start;
	begin("dram-speed", NO_PORT, INFO);
	number("octets", SPEED_SIZE);
	number("write-cycles", written);
	number("read-cycles", read);
	end();
}

void test_memory(void)
{
	walk();
	lines();
	addresses();
	random();
	speed();
}
