# SPDX-License-Identifier: BSD-2-Clause
"""The simulator of a board with two RGMII ports, for cocotb: board.v around board_soc.py.

The board starts "linux", or "forward", the program that forwards without Linux. Or its BIOS does
"test", which tests the DRAM, or boots from the "network".
"""

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path

from bench.devices.board_memory import IMAGES, memories
from bench.simulator import CELLS, COMPILE_LARGE, verilate
from moderato.boards import images
from moderato.boards.gateware import environment, sources
from moderato.sim import sim_soc
from moderato.soc.linux import memory_map
from moderato.toolchain import verilator, yowasp
from moderato.toolchain.cache import artifact, run

HERE    = Path(__file__).parent
WRAPPER = HERE / "board.v"
PUBLIC  = 'public_flat_rw -module "board" -var "*"\n'
OPTIONS = ["--timing", "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-TIMESCALEMOD", "-O3",
           "--noassert", "--output-split", "20000", "--x-assign", "fast", "--x-initial", "fast",
           "-DSYNTHESIS", "-CFLAGS", "-std=gnu++20"]


def simulator(board: str, start: str, link: str = "fixed", harts: int = 1) -> tuple[Path, Path]:
    """Returns the folder with the program, and the folder with the contents of its memories. `link`
    is one of boards.LINKS."""
    loaded   = start in IMAGES
    source   = verilog(board, "images" if loaded else start, link, harts)
    modules  = sorted(source.glob("*.v"))
    includes = f"+incdir+{yowasp.cell_models()}"
    generics = parameters(json.loads((source / "soc.json").read_text()))

    def build(folder: Path):
        verilate(folder, "board", [WRAPPER, CELLS, includes, *modules], PUBLIC,
                 options=OPTIONS, parameters=generics, compile=[*COMPILE_LARGE, f"-j{os.cpu_count()}"])

    inputs  = [WRAPPER, CELLS, yowasp.version("yosys"), *(file.read_bytes() for file in modules),
               PUBLIC, *OPTIONS, *generics, *COMPILE_LARGE, verilator.version(), version("cocotb")]
    program = artifact("cocotb/board", inputs, build, "a minute")
    return program, memories(start, source) if loaded else source


def parameters(soc: dict) -> list[str]:
    """Parameters of board.v. The half period is not exact: a clock whose period divides that of the
    PHYs would meet only some of their phases."""
    clock  = soc["sys_clk_hz"]
    values = {"SYS_HALF_PS": 10**12 // (2 * clock) + 1,
              "UART_CLOCKS": 10 * clock // soc["baud_rate"]}
    return [f"-G{name}={value}" for name, value in values.items()]


def verilog(board: str, bios: str, link: str = "fixed", harts: int = 1) -> Path:
    """Returns a folder with the Verilog, the BIOS (one of board_soc.BIOS), and soc.json."""
    def build(directory: Path):
        run([sys.executable, "-m", "bench.devices.board_soc", board, bios, link, harts, directory],
            cwd=directory, env={**environment(), "PYTHONPATH": str(HERE.parents[1])})

    own = [HERE / "board_soc.py", HERE / "duts.py", Path(sim_soc.__file__), Path(images.__file__),
           Path(memory_map.__file__)]
    return artifact("board-verilog", [bios, link, *sources(board, "moderato", harts), *own], build,
                    "a minute")
