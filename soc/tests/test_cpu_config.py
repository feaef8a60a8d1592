# SPDX-License-Identifier: BSD-2-Clause
"""CpuConfig checks the CPU's parameters before a build."""

import pytest

from moderato.soc.cpu import CpuConfig, netlist
from moderato.soc.memory import IntegratedRAM, MemoryPort
from moderato.soc.soc import plic_sources
from moderato.toolchain.cache import BuildError


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


def test_java_of_the_system_comes_first(monkeypatch, tmp_path):
    """An old Java that is first in PATH does not matter on Debian, and is an error elsewhere."""
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.20\" 2023-07-18' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(netlist, "DEBIANS_JAVA", tmp_path / "jvm")
    with pytest.raises(BuildError, match="is Java 11, .* needs 17 or newer; put one first in PATH"):
        netlist.java_environment()
    own = tmp_path / "jvm/bin/java"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\necho 'openjdk version \"17.0.15\" 2025-04-15' >&2\n")
    own.chmod(0o755)
    found = netlist.java_environment()
    assert found["JAVA_HOME"] == str(tmp_path / "jvm") and found["PATH"].startswith(str(own.parent))
