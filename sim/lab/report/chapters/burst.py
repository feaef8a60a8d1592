# SPDX-License-Identifier: BSD-2-Clause
"""The longest bursts without loss."""

from .. import cell_results, detail
from ..chapter import Chapter
from ..inputs import Inputs


def chapter(inputs: Inputs) -> Chapter:
    found = cell_results.bursts(inputs.trials.of("burst"))
    return Chapter(
        "burst",
        "Back-to-back frames",
        [detail.bursts(inputs.trials, found)] if found else [],
        "Run `./moderato rfc2544 --test burst` for it.",
    )
