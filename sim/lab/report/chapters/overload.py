# SPDX-License-Identifier: BSD-2-Clause
"""Table 3, figure 5, loss and interrupts over load."""

from .. import detail, figures, paper_tables
from ..material import Material
from ..section import Section


def section(material: Material) -> Section:
    trials, curves, full = material.trials, material.curves, material.full_load()
    parts = [
        figures.collapse(trials, curves),
        paper_tables.table3(trials, full) if full else None,
        figures.interrupts(trials, curves),
        detail.loss(trials, curves) if trials.of("loss") else None,
    ]
    return Section(
        "overload",
        "Overload: table 3, figure 5, loss and interrupts",
        parts,
        "Run `./moderato rfc2544 --test loss` for it.",
    )
