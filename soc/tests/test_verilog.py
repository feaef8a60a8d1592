# SPDX-License-Identifier: BSD-2-Clause
"""LiteX's Verilog: equal designs make equal files."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from moderato.boards import BOARDS, gateware
from moderato.soc.verilog import normalise
from moderato.toolchain.project import ROOT, VENV

HEAD = """\
// Filename  : top.v
//------------------------------------------------------------------------------

/*
top
└─── crg (_CRG)
│    └─── pll (ECP5PLL)
│    │    └─── [EHXPLLL]
"""
TAIL = """\
└─── sdram (SDRAM)
*/

module top();
assign b = a;
assign a = c;
endmodule
"""
CELLS = ["│    └─── [ECLKSYNCB]\n", "│    └─── [CLKDIVF]\n", "│    └─── [DELAYG]\n"]


def test_normalise_sorts_cells_and_removes_stamps(tmp_path):
    """The lines of code do not change."""
    made = []
    for stamp, cells in ("2026-01-01", CELLS), ("2026-01-02", CELLS[::-1]):
        file = tmp_path / "top.v"
        file.write_text(
            HEAD.replace("//-", f"// Date      : {stamp}\n// LiteX sha1 : --------\n//-", 1)
            + "".join(cells)
            + TAIL
        )
        normalise(file)
        made.append(file.read_text())
    assert made == [HEAD + "".join(sorted(CELLS)) + TAIL] * 2


# A module that writes a SoC's Verilog, and a function that lists its inputs.
WRITERS = {
    "moderato.sim.sim_soc": lambda module: module.soc_verilog(module.SimConfig(dram="versa_ecp5")),
    **{
        f"moderato.boards.{board}": lambda module: gateware.gateware(
            module.__name__.rpartition(".")[2], "moderato"
        )
        for board in BOARDS
    },
    "two_nodes": lambda module: module.verilog(),
    "rocket_soc": lambda module: module.verilog(),
    "smp_soc": lambda module: module.verilog(),
}
PATHS = [str(ROOT / "examples" / name) for name in ("linux-ptp", "linux-rocket", "linux-smp")]
IMPORTED = """
import sys, importlib, pathlib
sys.path += {paths}
importlib.import_module("{name}")
for module in list(sys.modules.values()):
    print(getattr(module, "__file__", None))
"""
# Modules without influence on Verilog: the build tools, and the lab around a SoC.
AROUND = [ROOT / name for name in ("toolchain", "soc/linux", "soc/firmware", "sim/lab", "sim/harness")]


@pytest.mark.parametrize("name", WRITERS)
def test_key_contains_each_imported_file(name, monkeypatch):
    """Otherwise a change of such a file would not make new Verilog."""
    for path in PATHS:
        monkeypatch.syspath_prepend(path)
    named = []

    def record(_name, inputs, _build, _note=""):
        named.extend(inputs)
        return Path("made")

    module = importlib.import_module(name)
    for each in module, gateware:
        monkeypatch.setattr(each, "artifact", record, raising=False)
    WRITERS[name](module)
    said = subprocess.run(
        [sys.executable, "-c", IMPORTED.format(paths=PATHS, name=name)],
        text=True,
        capture_output=True,
        check=True,
    ).stdout.split()
    read = {Path(file) for file in said if Path(file).is_relative_to(ROOT)}
    known = [*AROUND, VENV, *(item for item in named if isinstance(item, Path))]
    assert Path(module.__file__) in read
    assert [
        file
        for file in sorted(read)
        if file.name != "__init__.py" and not any(file.is_relative_to(path) for path in known)
    ] == []
