# SPDX-License-Identifier: BSD-2-Clause
"""Two harts: does a second one forward twice as much?"""

from .. import harts
from ..material import Material
from ..section import Section


def section(material: Material) -> Section:
    trials, transfers = material.trials.harts, material.trials.hart_transfers
    # One hart is there to be compared with: what is missing on two of them is no business of ours.
    return Section(
        "harts",
        "Two harts beside one",
        [
            harts.throughput([*material.trials.of("steady"), *trials]),
            harts.goodput([*material.trials.transfers, *transfers]),
            harts.interrupts([*material.trials.transfers, *transfers]),
        ]
        if trials or transfers
        else [],
        "Run `./moderato rfc2544 --harts 2` for it, and `./moderato tcp --harts 2`.",
    )
