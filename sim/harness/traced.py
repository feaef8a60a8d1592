# SPDX-License-Identifier: BSD-2-Clause
"""Builds a moderato-sim that can show its signals: `wave` in README.md.

traced(soc_verilog(SimConfig()))      # .../moderato-sim

It is the same SoC and the same harness, and the same in each cycle. Verilator keeps every signal, and
few are left in the fast model. So the state has other parts, and each simulator has its own
checkpoints.
"""

import shutil
from pathlib import Path

from moderato.toolchain.cache import artifact, key

from .build import NAME, compile_model, ingredients, verilate

VERILATOR = ["--trace-fst"]


def traced(verilog: Path) -> Path:
    """The binary for a folder of Verilog files with soc.json."""
    inputs = [*ingredients(verilog), Path(__file__)]
    build_id = key("simulator-traced", inputs)

    def build(directory: Path):
        model = directory / "model"
        verilate(verilog, model, build_id, *VERILATOR)
        compile_model(model, "TRACE=1")
        shutil.move(model / NAME, directory / NAME)
        shutil.rmtree(model)

    return artifact("simulator-traced", inputs, build, "about 3 minutes") / NAME
