# SPDX-License-Identifier: BSD-2-Clause
"""Loads that the Colorlight 5A-75B forwards without loss."""

import cocotb
import pytest

from bench.devices.board import simulator
from cases.boards import lost, start

DUT = "board"
# Octets of a frame, receiving ports, percent of the line rate at each: docs/boards.md
LOADS = [(60, 1, 20), (60, 2, 10), (252, 1, 25), (252, 2, 12.5), (508, 1, 50), (508, 2, 25),
         (1514, 1, 50), (1514, 2, 25)]


def SIMULATOR():
    return simulator("colorlight_5a_75b", "forward")


@cocotb.test()
@pytest.mark.slow
async def loses_nothing_at(dut):
    """The loads of docs/boards.md, for the shortest and the longest frames, one way and both."""
    box = await start(dut)
    for length, ports, percent in LOADS:
        share = await lost(box, length, percent, ports)
        assert not share, f"{length} octets, {ports} ports at {percent} %: lost {100*share:.0f} %"
