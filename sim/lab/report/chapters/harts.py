# SPDX-License-Identifier: BSD-2-Clause
"""Two harts: does a second one forward twice as much?"""

from .. import harts
from ..chapter import Chapter
from ..inputs import Inputs


def chapter(inputs: Inputs) -> Chapter:
    trials, transfers = inputs.trials.harts, inputs.trials.hart_transfers
    # One hart is the reference: trials that exist on one hart only are no error.
    return Chapter(
        "harts",
        "Two harts compared with one",
        [
            harts.throughput([*inputs.trials.of("steady"), *trials]),
            harts.goodput([*inputs.trials.transfers, *transfers]),
            harts.interrupts([*inputs.trials.transfers, *transfers]),
        ]
        if trials or transfers
        else [],
        "Run `./moderato rfc2544 --harts 2` for it, and `./moderato tcp --harts 2`.",
    )
