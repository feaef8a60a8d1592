# SPDX-License-Identifier: BSD-2-Clause
"""Table 4, figures 6 and 7."""

from .. import figures, paper_tables
from ..chapter import Chapter
from ..inputs import Inputs


def chapter(inputs: Inputs) -> Chapter:
    trials, found, models = inputs.trials, inputs.throughputs, inputs.models
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
    return Chapter(
        "model",
        "The model: table 4, figures 6 and 7",
        parts,
        "Run `./moderato rfc2544 --test throughput` for it.",
    )
