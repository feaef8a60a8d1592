# SPDX-License-Identifier: BSD-2-Clause
"""The cache keeps the Verilog of devices by all of our source files that they import."""

import subprocess
import sys
from pathlib import Path

from bench import simulator
from moderato.toolchain.project import ROOT

LIST = """
import sys
import bench.devices.duts
print(*(module.__file__ for module in list(sys.modules.values()) if getattr(module, "__file__", None)),
      sep="\\n")
"""


def test_what_devices_are_made_of():
    said = subprocess.run([sys.executable, "-c", LIST], cwd=Path(__file__).parents[1], check=True,
                          capture_output=True, text=True).stdout
    imported = {Path(line).resolve() for line in said.splitlines() if line.endswith(".py")}
    ours = {file for file in imported if file.is_relative_to(ROOT)
            and ".venv" not in file.parts and file.name != "__init__.py"}
    kept = {file.resolve() for file in simulator.sources()}
    assert ROOT / "gateware/mac.py" in ours
    assert not ours - kept, "bench.simulator.sources() lacks some"
