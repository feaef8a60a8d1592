# SPDX-License-Identifier: BSD-2-Clause
"""2.5 Gb/s at 125 MHz with all options, on the simulation PHY; and the slowest clock for a rate."""

import cocotb

from line_rate_cases import LENGTHS, keep_the_rate
from moderato.gateware.mac import CLOCKS_PER_OCTET

DUT = "mac_sim_2500"
SYS_MHZ = 125


async def keep(dut, which, slow, **start):
    mac, octets = await keep_the_rate(dut, LENGTHS[which], slow, **start)
    clocks = 8 * SYS_MHZ / mac.wire.link  # of an octet
    took = mac.wire.last_sent - mac.wire.first_sent
    assert took <= octets * clocks * 1.01, f"{took} clocks for {octets} octets"


@cocotb.test()
@cocotb.parametrize(which=list(LENGTHS), slow=[0.0, 0.4])
async def keeps_the_line_rate(dut, which, slow):
    """No frame is lost, and the wire never waits."""
    await keep(dut, which, slow)


@cocotb.test()
@cocotb.parametrize(which=["the shortest", "64 to 128", "mixed"])
async def the_slowest_clock_is_enough(dut, which):
    """As for a rate at which the clock is no faster than mac.py wants it."""
    await keep(dut, which, 0.0, link=int(8 * SYS_MHZ / CLOCKS_PER_OCTET))
