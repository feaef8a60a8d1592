# SPDX-License-Identifier: BSD-2-Clause
"""LiteX's BIOS on the Versa's SoC tests the DRAM through caches, cluster and LiteDRAM's controller."""

import cocotb
import pytest

from bench.devices.board import simulator
from bench.wires.box import Box

DUT = "board"


def SIMULATOR():
    return simulator("versa_ecp5", "test")


@cocotb.test()
@pytest.mark.slow
async def memory_test_passes(dut):
    """Tests 2 MiB. Then the BIOS shows its prompt, because it is built not to wait for a boot
    source."""
    console = Box(dut).console
    text = await console.expect("Press Q", ms=2000)
    await console.write("Q")
    await console.expect("litex", ms=20)
    assert "BIOS CRC passed" in text
    assert "Memtest OK" in text, text
