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
    seconds = [EACH + SLOWNESS * each for each in simulated]
    cores = len(os.sched_getaffinity(0))
    total = max(sum(seconds) / cores, max(seconds))
    if total >= LONG and not patient:
        raise UsageError(f"this is {sum(simulated):.3g} s of simulated time and takes about "
                         f"{duration(total)}; offer fewer frames or a higher load, or add --yes")
    trials = f"{len(simulated)} trial{'s' * (len(simulated) != 1)}"
    print(f"moderato: {trials}, {sum(simulated):.3g} s of simulated time, about {duration(total)} "
          "once the machine is built", file=sys.stderr)
