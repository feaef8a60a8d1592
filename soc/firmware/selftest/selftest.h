/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The self-test: a program without an operating system that prints a line for each test.
 *
 *	selftest 07 dram-random pass octets=262144 errors=0 bits=0x00000000 *5f3c9a01
 *
 * The number counts lines from 0. The last word is the CRC-32 of what precedes it and its space.
 *
 * soc/firmware/selftest.py defines what comes from the SoC: UART_BASE, CLINT_BASE, PLIC_BASE, PORTS;
 * MAC_BASES, SOURCES and MDIO_BASES with 0 as the last element; CLOCK_HZ; MEMORY_BASE, MEMORY_END. It
 * also defines how much is tested: TEST_SIZE and SPEED_SIZE in octets, CLOCK_CYCLES, LENGTH_STEP, ROUNDS.
 */
#ifndef SELFTEST_H
#define SELFTEST_H

#include "moderato.h"

#define NOINIT __attribute__((section(".noinit")))

/* The image, its rings and buffers are in front of it. */
#define TEST_BASE (MEMORY_BASE + (1u << 20))

enum status { PASS, FAIL, SKIP, INFO };

/* report.c */
u32 crc32(u32 crc, const void *octets, u32 size);
u32 failures(void);
void begin(const char *name, u32 port, enum status status);
void word(const char *name, const char *value);
void number(const char *name, u32 value);
void hex(const char *name, u32 value);
void end(void);
void serve_console(void) __attribute__((noreturn));

#define NO_PORT (~0u)

/* A line without numbers */
static inline void skip(const char *name, u32 port, const char *reason)
{
	begin(name, port, SKIP);
	word("reason", reason);
	end();
}

/* main.c */
void sleep_until(u32 target);

/* memory.c, mdio.c, ports.c */
void test_memory(void);
void test_phys(void);
void test_ports(void);

/* The CLINT counts clocks. */
static inline u32 now(void)
{
	return REG(CLINT_BASE + 0xbff8);
}

/* The data cache writes through; afterwards it has no content. */
static inline void forget(void)
{
	fence();
	asm volatile(".word 0x500f" : : : "memory"); /* VexRiscv */
}

/* The next pseudo-random word: Marsaglia's xorshift of 32 bits */
static inline u32 next_random(u32 state)
{
	state ^= state << 13;
	state ^= state >> 17;
	return state ^ state << 5;
}

#endif /* SELFTEST_H */
