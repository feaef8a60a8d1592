# SPDX-License-Identifier: BSD-2-Clause
"""The Versa's whole SoC with its PHYs forwards frames without Linux."""

import cocotb

from bench.devices.board import simulator
from cases.boards import forwards_frames

DUT = "board"


def SIMULATOR():
    return simulator("versa_ecp5", "forward")


@cocotb.test()
async def forwards_both_ways_at_once(dut):
    await forwards_frames(dut, gap=400)  # what 16 bits of DRAM carry from both ports at once
