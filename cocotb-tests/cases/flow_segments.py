# SPDX-License-Identifier: BSD-2-Clause
"""Flows that leave beside a packet of 64 KiB, which the other MAC cuts into segments."""

import random

import cocotb
from cocotb.triggers import ClockCycles

from cases.flows import Router, packet, same
from cases.segments import packet as segmented


@cocotb.test()
async def frames_leave_between_segments(dut):
    """As between two frames: at 100 Mb/s none is lost, and each segment is what it has to be."""
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
