# SPDX-License-Identifier: BSD-2-Clause
"""A board's SoC with LiteDRAM's controller and model: its BIOS, its boot."""

import pytest

from moderato.boards.simulation import boot

pytestmark = pytest.mark.slow


def test_bios_finds_the_memory_good():
    """No images: the BIOS writes and reads 2 MiB through the caches, and finds nothing to boot."""
    console = boot("versa_ecp5", "moderato", "litex", 60_000_000, with_images=False)
    assert "BIOS CRC passed" in console
    assert "Memtest OK" in console


def test_linux_boots():
    console = boot("versa_ecp5", "moderato", "# ", 200_000_000)
    assert "BIOS CRC passed" in console
    assert "Executing booted program at 0x40f7f000" in console
    assert console.rstrip().endswith("cycles]") and "[no " not in console, console[-2000:]
