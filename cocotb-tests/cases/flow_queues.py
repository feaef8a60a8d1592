# SPDX-License-Identifier: BSD-2-Clause
"""Flows together with two queues."""

import random

import cocotb

from cases.flows import Router, packet


@cocotb.test()
async def forwards_flows_of_disabled_queue(dut):
    """RSS sends all frames to queue 1, which is disabled: flows are forwarded, and all other frames
    are dropped."""
    router = await Router.start(dut, RSS_TYPES=0xFF,
                                **{f"RSS_TABLE_{n}": 0xFFFF_FFFF for n in range(4)})
    for side in router.sides:
        flow = router.flow()
        await side.add(flow)
        for _ in range(20):
            side.send(packet(flow, random.choice((60, 300))), flow)
            side.send(packet(router.flow()))
            side.software.pop()
    await router.check()
    for side in router.sides:
        assert await side.regs.read("RX_FLOW_FRAMES") == await side.regs.read("RX_GOOD_FRAMES") == 20
