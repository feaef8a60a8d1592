# SPDX-License-Identifier: BSD-2-Clause
"""Flows of frames of 9018 octets: with pause no frame is lost, and the driver takes turns with
them."""

import cocotb

from bench.models.frames import JUMBO
from cases.flow_pressure import pause_loses_nothing, started, take_turns

DUT  = "flow_pair_jumbo"
SLOW = "take_turns"


@cocotb.test()
async def pause_holds_the_sender(dut):
    await pause_loses_nothing(dut, (1000, 100), [JUMBO], 6*JUMBO)


@cocotb.test()
async def driver_and_flow_take_turns(dut):
    """The flow FIFO has room for three frames, and nothing else holds their sender."""
    router, flow = await started(dut, (1000, 100), JUMBO)
    await take_turns(router, flow, JUMBO, JUMBO, count=3)
