# SPDX-License-Identifier: BSD-2-Clause
"""2.5 Gb/s at 125 MHz, through both rings at once.

A frame of 64 octets and its 20 of preamble and gap take 84 octet times: 33.6 clocks.
"""

import random

import cocotb

from bench.mac import Mac
from cases.basics import MAX, MIN, keep_the_line_rate
from moderato.gateware.mac import CLOCKS_PER_OCTET

SYS_MHZ = 125
LATENCY = 8  # clocks: of the lab's memory
LENGTHS = {  # octets without FCS
    "the shortest": [MIN] * 200,
    "64 to 128":    [*range(MIN, 125)] * 3,
    "the longest":  [MAX] * 20,
    "mixed":        random.Random(1).choices([MIN, MIN, *range(MIN, 125), MAX], k=120),
}


@cocotb.test()
@cocotb.parametrize(which=list(LENGTHS), slow=[0.0, 0.4])
async def keeps_the_line_rate(dut, which, slow):
    """No frame is lost, and the wire never waits for longer than an octet."""
    await keep_the_rate(dut, LENGTHS[which], slow)


@cocotb.test()
@cocotb.parametrize(which=["the shortest", "64 to 128", "mixed"])
async def the_slowest_clock_is_enough(dut, which):
    """The MAC keeps a rate for which the clock is just fast enough by mac.py."""
    await keep_the_rate(dut, LENGTHS[which], 0.0, link=int(8 * SYS_MHZ / CLOCKS_PER_OCTET))


async def keep_the_rate(dut, lengths, slow, **start):
    """Frames back to back in both directions, with the lab's memory, whose channels also pause at
    random."""
    mac = await Mac.start(dut, enable=False, driver={"rx_order": 7, "tx_order": 7}, **start)
    mac.memory.delay(LATENCY)
    mac.memory.slow(slow)
    await mac.driver.start()
    octets, took = await keep_the_line_rate(mac, lengths), mac.wire.took
    counters = await mac.regs.counters()
    assert counters["RX_GOOD_FRAMES"] == counters["TX_GOOD_FRAMES"] == len(lengths)
    assert octets - 8 <= took <= octets * 1.01, f"{took:.0f} octet times for {octets}"  # a word
