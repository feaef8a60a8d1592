# SPDX-License-Identifier: BSD-2-Clause
"""A machine whose simulator only pretends."""

import shutil
from pathlib import Path

import pytest

from moderato.sim.lab.run.machine import Machine

FAKE = Path(__file__).parent / "fake_simulator.py"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FAKE_JOURNAL", str(tmp_path / "journal"))
    for name in ("Image", "moderato.ko"):
        (tmp_path / name).write_text(name)
    simulator = tmp_path / "moderato-sim"
    shutil.copy(FAKE, simulator)
    simulator.chmod(0o755)
    return Machine(simulator=simulator, build_id="fake-1", soc={"sys_clk_hz": 100_000_000},
                   images=[(tmp_path / "Image", 0x40000000)], mailbox=0x41f00000,
                   driver=tmp_path / "moderato.ko")
