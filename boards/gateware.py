# SPDX-License-Identifier: BSD-2-Clause
"""A board's SoC as files: Verilog, constraints, the BIOS in its ROM, soc.json.

Run in a process of its own (`python -m moderato.boards.gateware`): names in Verilog follow the call
stack.
"""

import importlib
import inspect
import json
import shutil
import sys
from pathlib import Path

import litex.soc.cores.cpu.vexriscv_smp as vexriscv_smp
from litex.soc.integration.builder import Builder

TOP = "top"


class BoardBuilder(Builder):
    """The BIOS starts with LiteX's own code for VexRiscv clusters: PLIC, cache instructions and the
    way in which the second hart waits are the same."""
    def _get_variables_contents(self):
        start = Path(inspect.getfile(vexriscv_smp)).parent
        return f"{super()._get_variables_contents()}\nCPU_DIRECTORY={start}\n"


def write(soc, directory: Path):
    """Write top.v, top.lpf, the other Verilog files, soc.json and bios.bin."""
    work    = directory / "work"
    builder = BoardBuilder(soc, output_dir=str(work), compile_gateware=False)
    builder.build(build_name=TOP)
    gateware = Path(builder.gateware_dir)
    for file in [*gateware.glob("*.v"), *gateware.glob("*.init"), *gateware.glob("*.lpf")]:
        shutil.move(file, directory)
    for source, _language, _library, *_ in soc.platform.sources:
        if Path(source).name != f"{TOP}.v":
            shutil.copy(source, directory)
    shutil.copy(builder.get_bios_filename(), directory)
    description = {**soc.describe(), "board": soc.title, "device": soc.platform.device}
    (directory / "soc.json").write_text(json.dumps(description, indent=2) + "\n")
    shutil.rmtree(work)


if __name__ == "__main__":
    board = importlib.import_module(f"moderato.boards.{sys.argv[1]}")
    write(board.Board(**json.loads(sys.argv[2])), Path(sys.argv[3]))
