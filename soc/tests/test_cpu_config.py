# SPDX-License-Identifier: BSD-2-Clause
"""CpuConfig checks the CPU's parameters before a build."""

import pytest

from moderato.soc.cpu import CpuConfig
from moderato.soc.memory import IntegratedRAM, MemoryPort
from moderato.soc.soc import plic_sources


@pytest.mark.parametrize(
    "wrong, word",
    [
        ({"harts": 3}, "harts"),
        ({"icache": 16384, "icache_ways": 2}, "icache"),  # a way larger than a page
        ({"dcache": 8192, "dcache_ways": 3}, "dcache"),
        ({"dcache": 64, "dcache_ways": 1}, "dcache"),  # a single line
        ({"itlb": 6}, "itlb"),
        ({"dtlb": 0}, "dtlb"),  # one TLB without the other
        ({"itlb": 0}, "itlb"),
        ({"prediction": "perfect"}, "prediction"),
    ],
)
def test_rejects_wrong_values(wrong, word):
    with pytest.raises(ValueError, match=f"^{word} = "):
        CpuConfig(**wrong)


def test_description():
    assert CpuConfig(harts=2, icache=8192, icache_ways=2, dtlb=8).describe() == {
        "harts": 2,
        "isa": "rv32ima",
        "icache": 8192,
        "icache_ways": 2,
        "dcache": 16384,
        "dcache_ways": 4,
        "itlb": 4,
        "dtlb": 8,
        "line": 64,
        "prediction": "target",
    }


def test_no_mmu():
    assert CpuConfig().mmu and not CpuConfig(itlb=0, dtlb=0).mmu


def test_interrupt_lines():
    assert [plic_sources(macs) for macs in (0, 1, 2, 3, 4)] == [7, 7, 7, 8, 10]


def test_ram_latency():
    with pytest.raises(ValueError, match="latency = 2"):
        IntegratedRAM(MemoryPort(), 1 << 20, latency=2)
