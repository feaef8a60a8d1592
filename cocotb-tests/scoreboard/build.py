# SPDX-License-Identifier: BSD-2-Clause
"""Builds the scoreboard's program for a device of bench.devices.duts, without cocotb."""

from pathlib import Path

from bench import simulator
from moderato.gateware.export import ROOT
from moderato.toolchain import verilator
from moderato.toolchain.cache import artifact, run

HERE = Path(__file__).parent
REGISTERS = ROOT / "linux-driver" / "moderato_regs.h"
SOURCES = [HERE / name for name in ("main.cpp", "frames.h", "memory.h", "wire.h",
                                    "include/linux/bits.h")]


def build(name: str, options: bool) -> Path:
    """The program for bench.devices.duts.<name>(), a MAC on the simulation PHY; `options`: with
    all of them, or none."""
    code, memories = simulator.simulated(name)
    assert not memories

    def make(folder: Path):
        source = folder / f"{name}.v"
        source.write_text(code)
        flags = f"-std=c++20 -DPLAIN={int(not options)} -I{HERE} -I{HERE / 'include'} " \
            f"-I{REGISTERS.parent}"
        run([verilator.command(), "-cc", "--exe", "-Mdir", folder, "--top-module", name,
             "--prefix", "Vtop", "-o", "scoreboard", *simulator.FLAGS, "-CFLAGS", flags,
             HERE / "main.cpp", source], env=verilator.environment())
        run(["make", "-C", folder, "-f", "Vtop.mk", "OPT_FAST=-O2", "OPT_SLOW=-O0"],
            env=verilator.environment())

    inputs = [code, *simulator.FLAGS, *SOURCES, REGISTERS, str(options), verilator.version()]
    return artifact(f"scoreboard/{name}", inputs, make, note="half a minute") / "scoreboard"
