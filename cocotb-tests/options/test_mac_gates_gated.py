# SPDX-License-Identifier: BSD-2-Clause
"""Gates of the queues in a MAC with clock gates, in step with a MAC without. Without a list, launch
times are the same as without the option."""

import cocotb

from bench.mac import edges
from bench.simulation import TWINS
from cases import gates, launches
from cases.gates import Gated, List
from cases.two_queues import marked

DUT   = "mac_gates_gated"
CASES = [gates, launches.leaves_at_its_time, launches.saturated_queue_leaves_room,
         launches.late_frames_are_counted, launches.disabled_ring_drops_held_frames]
SLOW  = TWINS


@cocotb.test()
async def sleeps_while_gate_is_closed(dut):
    """The datapath has no edge until the gate opens; then the frame leaves in the first clock."""
    timed = await Gated.start(dut)
    made = List([(0, 30_000), (2, 5000), (1, 5000)])
    base = timed.now + 8000
    await timed.load(made, base)
    for length in (60, 61, 300):
        cycle = base + ((timed.now - base) // made.cycle + 1) * made.cycle
        await timed.until(cycle)
        frame = marked(1, length)
        await timed.drivers[1].send(frame, length)
        await timed.mac.clocks(800)
        assert await edges(dut, 1500) == {"datapath": 0, "moderation": 0}
        got, start = await timed.receive()
        assert got == frame and timed.on_time(start - cycle - 30_000)
