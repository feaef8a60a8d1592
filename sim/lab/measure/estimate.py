# SPDX-License-Identifier: BSD-2-Clause
"""How long trials will take, said before they begin: simulated time costs a hundred times as much.
"""

import os
import sys
from collections.abc import Sequence

from ..show.errors import UsageError
from ..show.progress import duration

SLOWNESS = 130  # seconds that one of simulated time takes on a core, when the CPU is busy
EACH = 4        # seconds that a trial takes beside
LONG = 3600     # seconds, from which on nobody should start without knowing


def announce(simulated: Sequence[float], patient: bool):
    """Say how long trials of so many simulated seconds take here; what takes hours has to be
    wanted (`patient`), or it is a UsageError."""
    seconds = [_wall(each) for each in simulated]
    cores = len(os.sched_getaffinity(0))
    total = max(sum(seconds) / cores, max(seconds))
    if total >= LONG and not patient:
        raise _long(sum(simulated), total)
    trials = f"{len(simulated)} trial{'s' * (len(simulated) != 1)}"
    print(f"moderato: {trials}, {sum(simulated):.3g} s of simulated time, about {duration(total)} "
          "once the machine is built", file=sys.stderr)


def require_short(simulated: float, patient: bool):
    """Of one among trials that may be known already: a UsageError if it alone takes hours."""
    if _wall(simulated) >= LONG and not patient:
        raise _long(simulated, _wall(simulated))


def _wall(simulated: float) -> float:
    """Seconds that a trial of so many simulated ones takes."""
    return EACH + SLOWNESS * simulated


def _long(simulated: float, wall: float) -> UsageError:
    return UsageError(f"this is {simulated:.3g} s of simulated time and takes about "
                      f"{duration(wall)}; offer fewer frames or a higher load, or add --yes")
