# SPDX-License-Identifier: BSD-2-Clause
"""The CPU cluster in Verilator: a bare-metal program tests harts, interrupts, coherency and DMA."""

import subprocess
import sys
from pathlib import Path

import pytest

from moderato.soc.cpu import CpuConfig
from moderato.soc.cpu.netlist import cluster
from moderato.soc.soc import plic_sources
from moderato.soc.verilog import sources
from moderato.toolchain import verilator
from moderato.toolchain.cache import artifact, run
from moderato.toolchain.project import ROOT

HERE = Path(__file__).parent / "cluster"
MAX_CYCLES = 20_000_000
DMA_PORTS = 2  # one for each tester

GCC = [
    "riscv64-unknown-elf-gcc",
    "-march=rv32ima_zicsr_zifencei",
    "-mabi=ilp32",
    "-O2",
    "-ffreestanding",
    "-nostdlib",
    "-ffixed-s10",
    "-ffixed-s11",
    "-Wall",
    "-Werror",
    "--param=min-pagesize=0",
]  # address 0 is the ROM


def model(harts: int, latency: int, small: bool) -> Path:
    """The simulator of a cluster with `harts` harts and a RAM of `latency` cycles.

    small: as on a board that is too small for Linux, without MMU and without byte masks of the RAM.
    """
    config = CpuConfig(harts=harts, itlb=0, dtlb=0) if small else CpuConfig(harts=harts)
    netlist = cluster(config, DMA_PORTS, plic_sources(DMA_PORTS))

    def build(directory: Path):
        run(
            [
                *GCC,
                f"-DHARTS={harts}",
                f"-DSMALL={small:d}",
                "-T",
                "link.ld",
                "start.S",
                "program.c",
                "-lgcc",
                "-o",
                directory / "program.elf",
            ],
            cwd=HERE,
        )
        run(["riscv64-unknown-elf-objcopy", "-O", "binary", "program.elf", "program.bin"], cwd=directory)
        run(
            [
                sys.executable,
                HERE / "cluster_soc.py",
                harts,
                latency,
                int(small),
                directory / "program.bin",
                directory,
            ]
        )
        run(
            [
                verilator.command(),
                "--cc",
                "--exe",
                "--build",
                "-j",
                "2",
                "--top-module",
                "sim",
                "--prefix",
                "Vsim",
                "--Mdir",
                directory,
                "-O3",
                "--flatten",
                "--noassert",
                "-DSYNTHESIS",
                "--x-assign",
                "fast",
                "-Wno-fatal",
                "-Wno-lint",
                "-Wno-style",
                "-CFLAGS",
                "-O1",
                *directory.glob("*.v"),
                HERE / "main.cpp",
            ],
            cwd=directory,
            env=verilator.environment(),
        )

    inputs = [
        f"harts={harts}",
        f"latency={latency}",
        f"small={small}",
        netlist,
        HERE,
        ROOT / "sim" / "sim_soc.py",
        *sources(),
        verilator.version(),
    ]
    return artifact("cluster-test", inputs, build, "20 s")


@pytest.mark.parametrize("harts, latency, small", [(1, 8, False), (2, 5, False), (2, 8, True)])
def test_cluster(harts, latency, small):
    directory = model(harts, latency, small)
    result = subprocess.run(
        [directory / "Vsim", str(MAX_CYCLES)], cwd=directory, capture_output=True, text=True
    )
    lines = result.stdout.splitlines()
    assert result.returncode == 0, result.stderr + "".join(lines[-3:])
    assert [line for line in lines if line.startswith("FAIL")] == []
    assert sum(line.startswith("ok") for line in lines) > 40

    if small:
        return  # figures do not apply, because every store waits for a read

    figures = {
        name: int(value)
        for kind, name, value in (line.split() for line in lines if line.startswith("figure"))
    }
    # Bytes per 100 cycles: two ports at 100 Mb/s, both directions, need 50; a word a cycle is 800.
    for name in "write_one_port", "read_one_port", "write_two_ports", "read_two_ports":
        assert figures[name] >= 700, name
    assert figures["read_write_two_ports_hart_busy"] >= 400
    assert figures["cycles_per_line_missed"] <= latency + 24
