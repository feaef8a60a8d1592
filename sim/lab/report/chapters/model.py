# SPDX-License-Identifier: BSD-2-Clause
"""Table 4, figures 6 and 7."""

from .. import figures, paper_tables
from ..material import Material
from ..section import Section


def section(material: Material) -> Section:
    trials, found, models = material.trials, material.throughputs, material.models
    parts = (
        [
            paper_tables.table4(trials, found, models),
            figures.model_fit(trials, found, models),
            figures.model_lines(trials, models),
            paper_tables.table4_residuals(trials, found, models),
        ]
        if found
        else []
    )
    return Section(
        "model",
        "The model: table 4, figures 6 and 7",
        parts,
        "Run `./moderato rfc2544 --test throughput` for it.",
    )
