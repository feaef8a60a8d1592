# SPDX-License-Identifier: BSD-2-Clause
"""A helper of the debug kernel's rounds, tested without the minutes that they take."""

from pathlib import Path

from debug_guest import DebugGuest

from moderato.sim.lab.run.machine import Machine
from moderato.sim.lab.run.system import System
from moderato.soc.linux import kernel


def test_modules_are_built_for_the_kernel_that_runs(monkeypatch):
    monkeypatch.setattr(kernel, "kernel", lambda harts, choice: (harts, choice))
    guest = DebugGuest.__new__(DebugGuest)  # without a session
    guest.machine = Machine(Path(), "", {}, [], 0, Path(), System(harts=2, kernel=kernel.DEBUG))
    assert guest.built_kernel == (2, kernel.DEBUG)
