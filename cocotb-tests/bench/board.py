# SPDX-License-Identifier: BSD-2-Clause
"""The simulator of a board with two RGMII ports, with its PHYs and their pins, for cocotb.

CPU cluster, LiteDRAM's controller with a model behind it, and the BIOS are as in
moderato.boards.simulation; the PHYs are the bitstream's own, their I/O cells those of ecp5_cells.v,
the clocks those of board.v.
"""

import os
from importlib.metadata import version
from pathlib import Path

from bench.simulator import CELLS, verilate
from moderato.boards import simulation
from moderato.soc.toolchain import verilator, yowasp
from moderato.soc.toolchain.cache import artifact

HERE    = Path(__file__).parent
WRAPPER = HERE / "board.v"
SOURCES = [HERE / name for name in ("pins.py", "duts.py")]  # of the Verilog
PUBLIC  = 'public_flat_rw -module "board" -var "*"\n'
OPTIONS = ["--timing", "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-TIMESCALEMOD", "-O3",
           "--noassert", "--output-split", "20000", "--x-assign", "fast", "--x-initial", "fast",
           "-DSYNTHESIS"]
COMPILE = ["OPT_FAST=-O1", "OPT_SLOW=-O0"]


def simulator(board: str, start: str) -> tuple[Path, Path]:
    """The folder with the program, and the one with the contents of its memories."""
    source   = simulation.verilog(board, start, module="bench.pins", files=SOURCES,
                                  path=str(HERE.parent))
    modules  = sorted(source.glob("*.v"))
    includes = f"+incdir+{yowasp.cell_models()}"

    def build(folder: Path):
        verilate(folder, "board", [WRAPPER, CELLS, includes, *modules], PUBLIC,
                 options=OPTIONS, compile=[*COMPILE, f"-j{os.cpu_count()}"])

    inputs = [WRAPPER, CELLS, yowasp.version("yosys"), *(file.read_bytes() for file in modules),
              PUBLIC, *OPTIONS, *COMPILE, verilator.version(), version("cocotb")]
    program = artifact("cocotb/board", inputs, build, "5 minutes")
    return program, simulation.memories(board, start, source)
