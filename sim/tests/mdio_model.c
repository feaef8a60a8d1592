/* SPDX-License-Identifier: BSD-2-Clause */
/* mdio.c of the self-test on the build machine: one or two chips at the bus of port 0. */
#include <stdio.h>
#include <stdlib.h>

#define SELFTEST_H /* in place of selftest.h */
#define PORTS	   3
#define MDIO_BASES 1, 2, 0, 0
#define CLOCK_HZ   5000000
#define NO_PORT	   (~0u)

typedef unsigned int u32;
typedef unsigned short u16;

enum status { PASS, FAIL, SKIP, INFO };

static u32 time_, chips;
static u32 last, bits,
	count; /* what was driven last; bits of the frame; rising edges since its preamble */
static u32 ones, number, address;

static const u16 registers[] = { 0x1140, 0x796d, 0x0141, 0x0cc2, 0x01e1, 0xc1e1,
				 0,	 0,	 0,	 0x0200, 0x0800 };

static u32 now(void)
{
	return time_++;
}

static u16 value(u32 chip, u32 number)
{
	if (chip == 2 && number == 1)
		return 0x7949; /* no link */
	return number < sizeof(registers) / sizeof(*registers) ? registers[number] : 0xffff;
}

/* Clause 22.2.4.5: 32 ones, start, operation, address, register, turnaround, data */
static void rise(u32 out)
{
	if (count < 14) {
		if (!(out & 2))
			count = ones = 0;
		u32 bit = out >> 2 & 1;

		if (!count && bit) {
			ones++;
			return;
		}
		if (!count && ones < 32)
			return;
		bits = bits << 1 | bit;
		if (++count == 14) {
			number = bits & 31;
			address = bits >> 5 & 31;
		}
		return;
	}
	count++;
	if (count == 14 + 19) /* the idle clock after the data */
		count = ones = 0;
}

static void drive(u32 bus, u32 out)
{
	(void)bus;
	if (out & 1 && !(last & 1))
		rise(out);
	last = out;
}

static u32 sense(u32 bus)
{
	u32 known = bus == 1 && address && address <= chips;

	if (count < 15 || !known || last & 2)
		return 1; /* pulled up */
	if (count == 15)
		return 0; /* turnaround */
	return value(address, number) >> (31 - count) & 1;
}

#define MDIO_OUT(base, value) drive(base, value)
#define MDIO_IN(base)	      sense(base)

static void begin(const char *name, u32 port, enum status status)
{
	static const char *const names[] = { "pass", "FAIL", "skip", "info" };

	printf("%s%u %s", name, port, names[status]);
}

static void number_(const char *name, u32 value)
{
	printf(" %s=%u", name, value);
}

static void hex(const char *name, u32 value)
{
	printf(" %s=%08x", name, value);
}

static void end(void)
{
	puts("");
}

static void skip(const char *name, u32 port, const char *reason)
{
	printf("%s%u skip %s\n", name, port, reason);
}

void test_phys(void);

#define number number_
#include "mdio.c"

int main(int arguments, char **values)
{
	chips = arguments > 1 ? atoi(values[1]) : 0;
	test_phys();
	return 0;
}
