# SPDX-License-Identifier: BSD-2-Clause
"""TCP: goodput of all variants, and the study of a receiving program."""

from .. import receiver, transfers
from ..chapter import Chapter
from ..inputs import Inputs


def chapter(inputs: Inputs) -> Chapter:
    found = inputs.trials.transfers
    return Chapter(
        "tcp",
        "TCP: goodput, and what receiving costs",
        [
            transfers.table(found),
            receiver.rate(found),
            receiver.table1(found),
            receiver.segments(found),
            receiver.costs(found),
            receiver.disturbance(found),
        ]
        if found
        else [],
        "Run `./moderato tcp` and `./moderato receiver` for it.",
    )
