/* SPDX-License-Identifier: BSD-2-Clause */
/* PHY chips, by IEEE 802.3 clause 22 over the wires of LiteEth's MDIO registers. */
#include "selftest.h"

#ifndef MDIO_OUT /* a test on the build machine has its own */
#define MDIO_OUT(base, value) (REG(base) = (value))
#define MDIO_IN(base)	      (REG((base) + 4) & 1)
#endif

#define CLOCK  1u
#define ENABLE 2u
#define DATA   4u

#define ADDRESSES 32

enum { CONTROL, STATUS, ID1, ID2, ADVERTISED, PARTNER, GIGABIT = 9, GIGABIT_PARTNER };

static const u32 buses[PORTS + 1] = { MDIO_BASES };

/* 2.5 MHz at most: half a period is 200 ns. */
static void half(void)
{
	u32 start = now();

	while (now() - start < CLOCK_HZ / 5000000 + 1)
		;
}

static u32 clock(u32 base, u32 out)
{
	u32 in;

	MDIO_OUT(base, out);
	half();
	in = MDIO_IN(base);
	MDIO_OUT(base, out | CLOCK);
	half();
	return in;
}

static void write_bits(u32 base, u32 value, u32 count)
{
	while (count--)
		clock(base, ENABLE | (value >> count & 1 ? DATA : 0));
}

/* 0xffff: no chip answers, because the line has a pull-up. */
static u32 read_register(u32 base, u32 address, u32 number)
{
	u32 value = 0, silent;

	write_bits(base, ~0u, 32);
	write_bits(base, 6, 4); /* start, read */
	write_bits(base, address, 5);
	write_bits(base, number, 5);
	clock(base, 0);
	silent = clock(base, 0);
	for (u32 bit = 0; bit < 16; bit++)
		value = value << 1 | clock(base, 0);
	clock(base, 0);
	return silent ? 0xffff : value;
}

static u32 is_chip(u32 base, u32 address)
{
	u32 id = read_register(base, address, ID1);

	return id != 0xffff && id;
}

static void print_chip(u32 base, u32 port, u32 address)
{
	u32 status =
		read_register(base, address, STATUS); /* a lost link remains until it is read */

	status = read_register(base, address, STATUS);
	begin("phy", port, status & 4 ? PASS : FAIL);
	number("address", address);
	hex("id", read_register(base, address, ID1) << 16 | read_register(base, address, ID2));
	hex("control", read_register(base, address, CONTROL));
	hex("status", status);
	hex("advertised", read_register(base, address, ADVERTISED));
	hex("partner", read_register(base, address, PARTNER));
	hex("gigabit", read_register(base, address, GIGABIT));
	hex("gigabit-partner", read_register(base, address, GIGABIT_PARTNER));
	end();
}

/* The addresses at which chips answer, as a mask. At 0, some answer in addition to their own address. */
static u32 find_chips(u32 base)
{
	u32 chips = 0;

	for (u32 address = 0; address < ADDRESSES; address++)
		if (is_chip(base, address))
			chips |= 1u << address;
	return chips & ~1u ? chips & ~1u : chips;
}

void test_phys(void)
{
	u32 first = 0; /* chips at the bus of port 0, which may have those of other ports */

	for (u32 port = 0; port < PORTS; port++) {
		u32 chips = buses[port] ? find_chips(buses[port]) : 0;

		if (!buses[port]) {
			skip("phy", port, "no-mdio");
		} else if (!chips && first & (first - 1)) {
			skip("phy", port, "at-bus-of-port-0");
		} else if (!chips) {
			begin("phy", port, FAIL);
			hex("chips", 0);
			end();
		}
		for (u32 address = 0; address < ADDRESSES; address++)
			if (chips >> address & 1)
				print_chip(buses[port], port, address);
		if (!port)
			first = chips;
	}
}
