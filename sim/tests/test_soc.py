# SPDX-License-Identifier: BSD-2-Clause
"""The SoC's Verilog as a key of the build cache."""

import dataclasses
import json
import subprocess
import sys
import time

from moderato.sim.soc import SimConfig


def test_equal_designs_are_equal_files(tmp_path):
    """Else every change of a file, of a comment even, would make new simulators and checkpoints."""
    folders = tmp_path / "first", tmp_path / "second"
    for folder in folders:
        folder.mkdir()
        subprocess.run([sys.executable, "-m", "moderato.sim.soc",
                        json.dumps(dataclasses.asdict(SimConfig(macs=1))), folder], check=True)
        time.sleep(1)  # the time of day must not show
    first, second = ({file.name: file.read_bytes() for file in folder.iterdir()}
                     for folder in folders)
    assert first.keys() == second.keys() and "sim.v" in first
    assert all(first[name] == second[name] for name in first)
