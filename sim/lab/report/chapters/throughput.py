# SPDX-License-Identifier: BSD-2-Clause
"""Tables 1 and 2, figure 4."""

from .. import detail, figures, paper_tables
from ..chapter import Chapter
from ..inputs import Inputs


def chapter(inputs: Inputs) -> Chapter:
    trials, found = inputs.trials, inputs.throughputs
    parts = (
        [
            figures.throughput(trials, found),
            paper_tables.table1(trials, found),
            paper_tables.table1_ratios(trials, found),
            paper_tables.table2(trials, found),
            paper_tables.baseline(trials, found),
            detail.throughput(trials, found),
        ]
        if found
        else []
    )
    return Chapter(
        "throughput",
        "Throughput: tables 1 and 2, figure 4",
        parts,
        "Run `./moderato rfc2544 --test throughput` for it.",
    )
