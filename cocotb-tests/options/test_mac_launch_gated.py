# SPDX-License-Identifier: BSD-2-Clause
"""Launch times of a MAC with clock gates, in step with a MAC without."""

import cocotb

from bench.mac import edges
from bench.simulation import TWINS
from cases import launches
from cases.launches import Timed
from cases.two_queues import marked

DUT   = "mac_launch_gated"
CASES = [launches]
SLOW  = TWINS


@cocotb.test()
async def sleeps_while_frame_is_held(dut):
    """Until its time, the datapath has no edge; then the frame leaves on time."""
    timed = await Timed.start(dut)
    for length in (60, 61, 300):
        frame, at = marked(1, length), timed.now + 30_000
        await timed.drivers[1].send(frame, length, launch=at)
        await timed.mac.clocks(800)
        assert await edges(dut, 1500) == {"datapath": 0, "moderation": 0}
        got, start = await timed.receive()
        assert got == frame and timed.on_time(start - at)
