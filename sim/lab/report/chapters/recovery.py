# SPDX-License-Identifier: BSD-2-Clause
"""For how long frames are lost after an overload, and while the interfaces are reset."""

from .. import cell_results, detail
from ..chapter import Chapter
from ..inputs import Inputs


def chapter(inputs: Inputs) -> Chapter:
    trials = inputs.trials
    recovery, reset = (cell_results.latest(trials.of(kind)) for kind in ("recovery", "reset"))
    parts = [
        detail.recovery(trials, recovery) if recovery else None,
        detail.reset(trials, reset) if reset else None,
    ]
    return Chapter(
        "recovery",
        "System recovery and reset",
        parts,
        "Run `./moderato rfc2544 --test recovery,reset` for it.",
    )
