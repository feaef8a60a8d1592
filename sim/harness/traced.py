# SPDX-License-Identifier: BSD-2-Clause
"""Builds a moderato-sim that can trace signals: `wave` in README.md.

traced(soc_verilog(SimConfig()))      # .../moderato-sim

SoC and harness are the same, and simulate the same cycles. Verilator keeps every signal here, but only a
few in the fast model. So the two simulators' states differ, and each needs its own checkpoints. This one
also has signals with the names of values (values.py), and checks of the MACs (checks.py).
"""

import shutil
from pathlib import Path

from moderato.toolchain.cache import artifact, key

from . import checks, values
from .build import NAME, compile_model, ingredients, verilate
from .top import SOC

VERILATOR = ["--trace-fst"]


def traced(verilog: Path, *variables: str) -> Path:
    """The binary for a folder of Verilog files with soc.json. variables: of the Makefile."""
    more, checked = (
        (verilog / file).read_text() if (verilog / file).exists() else ""  # the tests' mock has none
        for file in (values.FILE, checks.FILE)
    )
    inputs = [*ingredients(verilog), more, checked, checks.CODE, *variables, Path(__file__)]
    build_id = key("simulator-traced", inputs)

    def build(directory: Path):
        model, source = directory / "model", directory / "verilog"
        shutil.copytree(verilog, source)
        if more:
            soc = source / f"{SOC}.v"
            soc.write_text(values.add(soc.read_text(), more))
        if checked:
            (source / "checks.sv").write_text(checked)
        verilate(source, model, build_id, *VERILATOR)
        (model / "Vtop_checks.cpp").write_text(checks.CODE)
        compile_model(model, "TRACE=1", *variables)
        shutil.move(model / NAME, directory / NAME)
        shutil.rmtree(source)
        shutil.rmtree(model)

    return artifact("simulator-traced", inputs, build, "about 3 minutes") / NAME
