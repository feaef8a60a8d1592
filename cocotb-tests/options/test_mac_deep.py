# SPDX-License-Identifier: BSD-2-Clause
"""The MAC with an Rx FIFO of 16 KiB: frames up to the longest that LENGTH can express."""

import cocotb

from bench.models.frames import plain
from bench.mac import Mac
from bench.wires.wire import add_fcs

DUT = "mac_deep"
BUFFER = 0x4000  # room for the longest frame after RX_OFFSET


@cocotb.test()
async def the_longest_frames(dut):
    """16 378 octets fill the FIFO to its last word. Each such frame is right, and so is the short
    one after it."""
    mac = await Mac.start(dut, driver={"buffer": BUFFER}, MAX_FRAME=0x3FFF)
    for length in (60, 16_374, 16_375, 60, 16_378, 60):
        frame = plain(length)
        mac.wire.send(add_fcs(frame))
        await mac.settle(length)
        await mac.expect([frame])
    await mac.expect_nothing()
