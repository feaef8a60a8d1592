/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of the tests. `_start` is forward.S. */
#include "selftest.h"

#define MTIMECMP_LOW  REG(CLINT_BASE + 0x4000)
#define MTIMECMP_HIGH REG(CLINT_BASE + 0x4004)
#define MTIME_HIGH    REG(CLINT_BASE + 0xbffc)

#define MIE_MTIE (1u << 7)

extern const u8 _start[], text_end[];

static void print_image(void)
{
	begin("image", NO_PORT, INFO);
	number("octets", text_end - _start);
	hex("crc", crc32(0, _start, text_end - _start));
	end();
}

/* All printable characters; the line's CRC covers them. */
static void print_characters(void)
{
	char characters['~' - '!' + 2];

	for (u32 at = 0; at < sizeof(characters) - 1; at++)
		characters[at] = '!' + at;
	characters[sizeof(characters) - 1] = 0;
	begin("uart", NO_PORT, INFO);
	word("characters", characters);
	end();
}

/* Two lines of the same length; the other end compares the time between them with its own. */
static void print_clock(const char *name, u32 cycles)
{
	begin(name, NO_PORT, INFO);
	hex("cycles", cycles);
	end();
}

/* Sleep until the low word of the CLINT's time is `target`, at most 2^31 clocks. */
void sleep_until(u32 target)
{
	u32 high = MTIME_HIGH, low = now();

	if (high != MTIME_HIGH) /* it has changed between */
		high = MTIME_HIGH, low = now();
	MTIMECMP_HIGH = ~0u;
	MTIMECMP_LOW = target;
	MTIMECMP_HIGH = high + (target < low);
	asm volatile("csrw mie, %0" : : "r"(MIE_MTIE));
	while ((int)(now() - target) < 0)
		asm volatile("wfi");
	asm volatile("csrw mie, zero");
	MTIMECMP_HIGH = ~0u;
}

static void test_clock(void)
{
	u32 start = now();

	print_clock("clock-begin", 0);
	sleep_until(start + CLOCK_CYCLES);
	print_clock("clock-end", now() - start);
}

void selftest(void)
{
	print_image();
	print_characters();
	test_clock();
	test_memory();
	if (PORTS) { /* else the files of both are not linked */
		test_phys();
		test_ports();
	}
	begin("result", NO_PORT, failures() ? FAIL : PASS);
	number("failed", failures());
	end();
	serve_console();
}
