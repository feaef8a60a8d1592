# SPDX-License-Identifier: BSD-2-Clause
"""Estimates how long trials take, before they begin: simulated time takes a hundred times as long."""

import itertools
import os
import sys
from collections.abc import Iterable, Sequence

from moderato.toolchain.project import is_first_run

from ..run.system import NOMINAL_MHZ, System
from ..run.variants import LITEETH
from ..show.columns import counted
from ..show.errors import UsageError
from ..show.progress import duration

SLOWNESS = 130  # seconds that a core takes for a simulated second, at 100 MHz, for each busy hart,
IDLE = 100  # factor by which a guest's idle cycles are faster (sim/harness/README.md, Sleep)
SETTLED = 0.02  # seconds without a frame until a guest is idle
LITEETHS = 1.4  # factor for LiteEth, which has no gated clocks
EACH = 4  # seconds that each trial takes in addition
LONG = 3600  # seconds: longer trials need --yes


def announce(simulated: Sequence[float], patient: bool, system: System, instead: str, idle: float = 0):
    """Print how long trials of these simulated seconds take here. If they take hours and `patient` is
    not set, raise a UsageError with what to do `instead`.

    idle: seconds of each trial that the guest waits.
    """
    total = require_wanted(simulated, patient, system, instead, idle)
    print(
        f"moderato: {counted(len(simulated), 'trial')}, {sum(simulated):.3g} s of simulated time, "
        f"about {duration(total)} {after_builds()}",
        file=sys.stderr,
    )


def announce_searches(simulated: Sequence[float], patient: bool, system: System):
    """As `announce`, for about this many trials, some of which may be kept from earlier runs."""
    total = require_wanted(
        simulated, patient, system, "give less of --variant, --frame-size, --test or --phases"
    )
    print(
        f"moderato: about {counted(len(simulated), 'trial')}, {sum(simulated):.3g} s of simulated "
        f"time, about {duration(total)} {after_builds()}; less if some are kept from earlier",
        file=sys.stderr,
    )


def after_builds() -> str:
    return "after about 8 minutes of builds" if is_first_run() else "once the machine is built"


def gaps(times: Iterable[float]) -> float:
    """Seconds in which a guest is idle that gets frames at these times."""
    return sum(max(later - earlier - SETTLED, 0) for earlier, later in itertools.pairwise(sorted(times)))


def require_wanted(
    simulated: Sequence[float], patient: bool, system: System, instead: str, idle: float = 0
) -> float:
    """Seconds that trials take here: a UsageError, as of `announce`, if those are hours."""
    total = _together([each - idle + idle / IDLE for each in simulated], system)
    if total >= LONG and not patient:
        raise _long(sum(simulated), total, instead)
    return total


def require_short(simulated: float, patient: bool, system: System):
    """For one of several trials that the store may have: a UsageError if it alone takes hours."""
    wall = _wall(simulated, system)
    if wall >= LONG and not patient:
        raise _long(simulated, wall, "give a higher --load")


def _wall(simulated: float, system: System) -> float:
    """Wall-clock seconds of a trial of that many simulated ones."""
    slowness = SLOWNESS * system.harts * system.clock_mhz / NOMINAL_MHZ
    return EACH + slowness * (LITEETHS if system.nic == LITEETH else 1) * simulated


def _together(simulated: Sequence[float], system: System) -> float:
    """Seconds that trials take side by side on this machine's cores."""
    seconds = [_wall(each, system) for each in simulated]
    return max(sum(seconds) / len(os.sched_getaffinity(0)), max(seconds))


def _long(simulated: float, wall: float, instead: str) -> UsageError:
    return UsageError(
        f"this is {simulated:.3g} s of simulated time and takes about "
        f"{duration(wall)}; {instead}, or add --yes"
    )
