# SPDX-License-Identifier: BSD-2-Clause
"""Shapers in a MAC with launch times, gates of the queues and clock gates, in step with a MAC without
clock gates."""

import cocotb

from bench.mac import edges
from bench.simulation import TWINS
from cases import gates, launches, shapers
from cases.basics import MAX, MIN
from cases.gates import List
from cases.launches import takes
from cases.shapers import Shaped

DUT   = "mac_shaper_gated"
CASES = [shapers, launches.leaves_at_its_time, launches.saturated_queue_leaves_room,
         launches.late_frames_are_counted, launches.disabled_ring_drops_held_frames,
         gates.frames_leave_while_gate_is_open, gates.launch_times_need_open_gates]
SLOW  = TWINS


@cocotb.test()
async def sleeps_while_credit_is_negative(dut):
    """The datapath has no edge while a frame waits for credit."""
    shaped = await Shaped.start(dut)
    idle = await shaped.shape(1, 0.05, 100)
    for length in (MIN, MAX):
        await shaped.send(1, MAX, length)
        _, _, begin = await shaped.next()
        await shaped.mac.clocks(800)
        assert await edges(dut, 1500) == {"datapath": 0, "moderation": 0}
        _, _, after = await shaped.next()
        assert abs(after - begin - takes(MAX) / idle) < 4 * shaped.period
        await shaped.until(shaped.now + takes(length) / idle)


@cocotb.test()
async def launch_times_need_credit(dut):
    """A frame leaves at its time if its queue has credit then. Otherwise it is late: it is dropped,
    or it leaves when the credit is not negative."""
    shaped = await Shaped.start(dut)
    idle = await shaped.shape(1, 0.1, 100)
    late = drops = 0
    for at, drop in ((0.5, 0), (0.5, 1), (0.9, 0), (0.9, 1), (1.1, 0), (1.1, 1), (2, 1)):
        await shaped.send(1, MAX)
        _, _, begin = await shaped.next()
        due = begin + takes(MAX) / idle
        launch = round(begin + at * takes(MAX) / idle)
        await shaped.send(1, MIN, launch=launch, DROP_LATE=drop)
        if at > 1:
            _, _, start = await shaped.next()
            assert shaped.on_time(start + 8 * shaped.octet - launch)
        elif drop:
            drops += 1
            shaped.left[1].clear()
            await shaped.until(due + 1000)
            assert not shaped.mac.wire.waiting()
        else:
            late += 1
            _, _, start = await shaped.next()
            assert abs(start - due) < 4 * shaped.period
        await shaped.until(shaped.now + takes(MIN) / idle)
    assert await shaped.counters() == (late, drops)


@cocotb.test()
async def credit_rises_only_while_gate_is_open(dut):
    """Queue 1's gate is open in two fifths of the time, and so its rate is two fifths of the idle
    slope. Its frames leave while the gate is open."""
    shaped = await Shaped.start(dut)
    made = List([(2, 30_000), (1, 40_000), (2, 10_000), (1, 20_000)])
    idle = await shaped.shape(1, 0.3, 2000)
    base = shaped.now + 10_000
    await shaped.load(made, base)
    await shaped.until(base + 100)
    for queue in range(2):
        shaped.flood(queue, (MIN, 100, 300))
    cycles = 15
    begin, octets = base + 2 * made.cycle, 0
    while True:
        queue, length, start = await shaped.next()
        assert shaped.fits([made], queue, length, start + 8 * shaped.octet)
        if start > begin + cycles * made.cycle:
            break
        if queue and start > begin:
            octets += takes(length)
    earned = idle * cycles * 40_000
    assert abs(octets - earned) < 0.001 * earned + 2 * takes(300), f"{octets} octets, not {earned}"
    await shaped.command("STOP")
    await shaped.drain()
