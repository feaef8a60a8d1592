/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a stream consists of, for both of its ends: octet AT of connection number CONNECTION of a run with SEED. Neighbours
 * differ, and so do octets at the same place of two streams, so that each one tells whether it is where it belongs.
 */
#ifndef STREAM_PATTERN_H
#define STREAM_PATTERN_H

#include <stdint.h>

static inline uint32_t pattern_key(uint32_t seed, uint32_t connection)
{
	return seed * 0x9e3779b9u + connection * 0x85ebca6bu;
}

/* Four octets of it, least significant one first: those from 4 * INDEX on. */
static inline uint32_t pattern_word(uint32_t key, uint32_t index)
{
	uint32_t x = (index + key) * 2654435761u;

	return x ^ x >> 15;
}

static inline uint8_t pattern_octet(uint32_t key, uint64_t at)
{
	return pattern_word(key, (uint32_t)(at / 4)) >> at % 4 * 8;
}

#endif
