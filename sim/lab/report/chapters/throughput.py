# SPDX-License-Identifier: BSD-2-Clause
"""Tables 1 and 2, figure 4."""

from .. import detail, figures, paper_tables
from ..material import Material
from ..section import Section


def section(material: Material) -> Section:
    trials, found = material.trials, material.throughputs
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
    return Section(
        "throughput",
        "Throughput: tables 1 and 2, figure 4",
        parts,
        "Run `./moderato rfc2544 --test throughput` for it.",
    )
