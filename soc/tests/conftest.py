# SPDX-License-Identifier: BSD-2-Clause
"""A SoC for the tests that need only its description."""

import pytest


@pytest.fixture
def soc() -> dict:
    """The content of soc.json for a SoC with two MACs."""
    return {
        "sys_clk_hz": 100_000_000,
        "cpu": {
            "harts": 1,
            "isa": "rv32ima",
            "icache": 8192,
            "icache_ways": 2,
            "dcache": 8192,
            "dcache_ways": 2,
            "itlb": 4,
            "dtlb": 4,
            "line": 64,
        },
        "memory": {"base": 0x4000_0000, "size": 32 << 20},
        "rom": {"base": 0, "size": 64 << 10},
        "clint": {"base": 0xF001_0000},
        "plic": {"base": 0xF0C0_0000, "sources": 7},
        "soc_controller": {"base": 0xF000_0000, "powered_off": 0xFF},
        "uart": {"base": 0xF000_1000, "irq": 1},
        "nic": "moderato",
        "macs": [
            {"base": 0xF100_0000 + 0x1000 * n, "size": 4096, "rx_irq": 3 + 2 * n, "tx_irq": 4 + 2 * n}
            for n in range(2)
        ],
    }
