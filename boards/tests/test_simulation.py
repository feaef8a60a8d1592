# SPDX-License-Identifier: BSD-2-Clause
"""A board's SoC with LiteDRAM's controller and model: its BIOS, its boot.

With its PHYs and with frames: cocotb-tests/test_board.py.
"""

import pytest

from moderato.boards.simulation import boot

pytestmark = pytest.mark.slow


def test_bios_finds_the_memory_good():
    """No images: the BIOS writes and reads 2 MiB through the caches, and finds nothing to boot."""
    console = boot("versa_ecp5", "bios", [("litex", "")], 60_000_000)
    assert "BIOS CRC passed" in console
    assert "Memtest OK" in console


def test_linux_boots():
    """To the shell, and the driver finds both MACs in the board's device tree."""
    console = boot("versa_ecp5", "linux", [
        ("# ", "insmod /lib/modules/moderato.ko"), ("# ", "/etc/moderato/up"),
        ("# ", "cat /sys/class/net/eth*/speed /sys/class/net/eth*/address"), ("# ", "")],
        200_000_000)
    assert "BIOS CRC passed" in console
    assert "Executing booted program at 0x40f7f000" in console
    assert "[no " not in console, console[-2000:]
    assert console.count("1000\n") == 2
