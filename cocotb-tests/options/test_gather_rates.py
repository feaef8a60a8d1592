# SPDX-License-Identifier: BSD-2-Clause
"""The clocks that frames in pieces, and segments, need at 1 Gb/s: docs/offloads.md has the table.

The clock is 125 MHz. To simulate a slower clock, the wire is faster than 1 Gb/s by that ratio.
"""

import cocotb

from bench.models.frames import plain
from bench.mac import Mac
from cases.line_rate import LATENCY
from cases.pieces import post
from cases.segments import hand_over, packet

DUT  = "mac_gather_2500"
SLOW = ""
CLOCK = 125     # MHz
SLOWEST = 37.5  # that the MAC accepts for a gigabit
LINE = 0.995    # of its rate: no clock of the wire is idle, except for a word's rounding


async def start(dut, mhz):
    """At 1 Gb/s and this many MHz, with the latency of the lab's memory."""
    mac = await Mac.start(dut, link=round(1000*CLOCK/mhz), driver={"tx_order": 6})
    mac.memory.delay(LATENCY)
    return mac


async def part_of_the_line_rate(mac, frames):
    """The share of the line rate that these frames reach, from the first preamble to the last FCS."""
    for frame in frames:
        assert await mac.wire.receive() == frame
    octets = sum(8 + len(frame) + 4 + 12 for frame in frames) - 12
    return octets / mac.wire.took


@cocotb.test()
@cocotb.parametrize(case=[(60, 3, SLOWEST), (60, 5, 57.5), (124, 5, 42.5), (1514, 17, SLOWEST)])
async def pieces(dut, case):
    """Octets of a frame, its pieces, MHz: the wire does not wait."""
    length, count, mhz = case
    mac = await start(dut, mhz)
    frames = [plain(length) for _ in range(60)]
    step = -(-length // count)

    async def feed():
        for frame in frames:
            await post(mac, [(frame[at:at + step], 2) for at in range(0, length, step)])
            await mac.driver.tx.doorbell()

    feeding = cocotb.start_soon(feed())
    assert await part_of_the_line_rate(mac, frames) >= LINE
    await feeding


@cocotb.test()
@cocotb.parametrize(case=[
    (4, 1428, SLOWEST, LINE), (6, 1428, SLOWEST, LINE), (4, 536, 42.5, LINE), (6, 516, 50, LINE),
    (4, 88, 75, LINE), (6, 88, 87.5, LINE), (4, 536, SLOWEST, 0.88), (4, 88, SLOWEST, 0.53)])
async def segments(dut, case):
    """IP version, MSS, MHz, the least share of the line rate. Each segment has a time stamp option."""
    version, mss, mhz, least = case
    mac = await start(dut, mhz)
    p = packet(16_000, mss, version, usual=True)
    hand_over(mac, p, 17)
    await mac.driver.tx.doorbell()
    assert await part_of_the_line_rate(mac, p.right) >= least
