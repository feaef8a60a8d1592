# SPDX-License-Identifier: BSD-2-Clause
"""Flows that leave together with a packet of 64 KiB, which the other MAC cuts into segments."""

import random

import cocotb
from cocotb.triggers import ClockCycles

from bench.models.frames import plain
from bench.wires.wire import add_fcs
from cases.flows import Router, packet, same
from cases.pausing import OBEY, pause
from cases.segments import packet as segmented

WORDS = 27  # of a segment with this payload
MSS   = 8*WORDS - 66


@cocotb.test()
async def frames_leave_between_segments(dut):
    """Frames of flows leave between segments: at 100 Mb/s none is lost, and each segment is right."""
    router = await Router.start(dut, link=100, ring=8)
    one, other = router.sides
    flow = router.flow()
    await one.add(flow)
    own = segmented(0xFFFF, 1448, usual=True)
    other.driver.queue(own.headers, segments=own.segments, SEGMENT=1, NETWORK=own.network // 2, MORE=1)
    other.driver.queue(own.payload)
    await other.driver.tx.doorbell()
    for _ in range(8):
        await ClockCycles(dut.sys_clk, random.randrange(30_000, 45_000))
        one.send(packet(flow, 1514), flow)
    due = list(one.leaves)
    wires, _ = await router.check(idle=30_000, exact=False)
    assert not any(await other.driver.reclaim_all())
    _, leaves = wires
    assert same([frame for frame in leaves if frame in own.right], own.right)
    assert same([frame for frame in leaves if frame not in own.right], due)
    assert await one.regs.read("RX_FLOW_DROPS") == 0


@cocotb.test()
async def stopping_ring_drops_no_forwarded_frame(dut):
    """The wire is paused, the FIFO is full at each word of a segment, a frame of a flow waits, and
    the driver disables the ring. Only whole segments and that frame leave."""
    router = await Router.start(dut, ring=8, post=False, PAUSE=OBEY)
    one, other = router.sides
    flow = router.flow()
    await one.add(flow)
    for number in range(WORDS):
        other.wire.send(add_fcs(pause(0xFFFF)))
        first, own = plain(60 + 8*number), segmented(40*MSS, MSS, version=4, usual=True)
        other.driver.queue(first)
        other.driver.queue(own.headers, segments=own.segments, SEGMENT=1, NETWORK=own.network // 2,
                           MORE=1)
        other.driver.queue(own.payload)
        await ClockCycles(dut.sys_clk, 300)
        await other.driver.tx.doorbell()
        await ClockCycles(dut.sys_clk, 4000)
        one.send(packet(flow, 60), flow)
        await ClockCycles(dut.sys_clk, 300)
        await other.driver.enable(False, False)
        await ClockCycles(dut.sys_clk, 300)
        await other.regs.write("PAUSE", 0)
        due = [first, *own.right, *one.leaves]
        wires, _ = await router.check(idle=2000, exact=False)
        assert wires[1] and all(frame in due for frame in wires[1])
        await other.driver.stop()
        await other.driver.start(post=False, PAUSE=OBEY)
