# SPDX-License-Identifier: BSD-2-Clause
"""The Versa's SoC with two harts: LiteX's BIOS on hart 0 starts hart 1, and Linux uses both."""

import cocotb
import pytest

from bench.devices.board import simulator
from bench.wires.box import PROMPT, Box, report

DUT = "board"


def SIMULATOR():
    return simulator("versa_ecp5", "linux", harts=2)


@cocotb.test()
@pytest.mark.slow
async def both_links_come_up(dut):
    """Without hart 1, Linux would also boot, after waiting for it for a second."""
    console = Box(dut).console
    assert "BIOS CRC passed" in await console.expect(PROMPT, ms=2000)
    report("shell")
    await console.write("echo harts: $(grep -c ^processor /proc/cpuinfo)\n")
    said = await console.expect(PROMPT, ms=200)
    assert "\nharts: 2" in said.replace("\r", ""), said
