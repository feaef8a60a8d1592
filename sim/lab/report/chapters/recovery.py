# SPDX-License-Identifier: BSD-2-Clause
"""How long losses go on after an overload, and a pause when the interfaces are reset."""

from .. import answers, detail
from ..material import Material
from ..section import Section


def section(material: Material) -> Section:
    trials = material.trials
    recovery, reset = (answers.latest(trials.of(kind)) for kind in ("recovery", "reset"))
    parts = [
        detail.recovery(trials, recovery) if recovery else None,
        detail.reset(trials, reset) if reset else None,
    ]
    return Section(
        "recovery",
        "System recovery and reset",
        parts,
        "Run `./moderato rfc2544 --test recovery,reset` for it.",
    )
