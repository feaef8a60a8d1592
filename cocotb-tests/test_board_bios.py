# SPDX-License-Identifier: BSD-2-Clause
"""LiteX's BIOS on the Versa's SoC tests the DRAM through caches, cluster and LiteDRAM's controller."""

import cocotb
import pytest

from bench.board import simulator
from bench.box import Box

DUT = "board"


def SIMULATOR():
    return simulator("versa_ecp5", "bios")


@cocotb.test()
@pytest.mark.slow
async def finds_the_memory_good(dut):
    """2 MiB. Then it finds nothing to boot, and shows its prompt."""
    text = await Box(dut).console.expect("litex", ms=2000)
    assert "BIOS CRC passed" in text
    assert "Memtest OK" in text, text
