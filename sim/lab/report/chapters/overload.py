# SPDX-License-Identifier: BSD-2-Clause
"""Table 3, figure 5, loss and interrupts over load."""

from .. import detail, figures, paper_tables
from ..chapter import Chapter
from ..inputs import Inputs


def chapter(inputs: Inputs) -> Chapter:
    trials, curves, full = inputs.trials, inputs.curves, inputs.full_load()
    parts = [
        figures.collapse(trials, curves),
        paper_tables.table3(trials, full) if full else None,
        figures.interrupts(trials, curves),
        detail.loss(trials, curves) if trials.of("loss") else None,
    ]
    return Chapter(
        "overload",
        "Overload: table 3, figure 5, loss and interrupts",
        parts,
        "Run `./moderato rfc2544 --test loss` for it.",
    )
