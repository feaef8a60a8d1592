# SPDX-License-Identifier: BSD-2-Clause
"""The Colorlight 5A-75B's whole SoC, its SDRAM without byte masks, forwards frames."""

import cocotb

from bench.devices.board import simulator
from cases.boards import forwards_frames

DUT  = "board"
SLOW = ""


def SIMULATOR():
    return simulator("colorlight_5a_75b", "forward")


@cocotb.test()
async def forwards_both_ways_at_once(dut):
    await forwards_frames(dut, gap=800)
