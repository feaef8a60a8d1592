/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The content of TCP transfers, for both ends: the guest's program and the tester. Each octet depends
 * on the seed, the connection's number and its position, so that wrong, missing or foreign octets are
 * detected. The pattern repeats after PATTERN_OCTETS, so that the guest can precompute it.
 * PATTERN_OCTETS is no multiple of a segment's or a buffer's size.
 */
#ifndef MODERATO_PATTERN_H
#define MODERATO_PATTERN_H

#include <stdint.h>

#define PATTERN_WORDS  16381u /* a prime */
#define PATTERN_OCTETS (4 * PATTERN_WORDS)

static inline uint32_t pattern_key(uint32_t seed, uint32_t connection)
{
	return seed * 0x9e3779b9u + connection * 0x85ebca6bu;
}

/* Octets 4 * word to 4 * word + 3 of a stream, the first one in bits 7:0. */
static inline uint32_t pattern_word(uint32_t key, uint32_t word)
{
	uint32_t x = (word % PATTERN_WORDS + key) * 2654435761u;

	return x ^ x >> 15;
}

static inline uint8_t pattern_octet(uint32_t key, uint64_t place)
{
	return pattern_word(key, place % PATTERN_OCTETS / 4) >> (place % 4 * 8);
}

#endif
