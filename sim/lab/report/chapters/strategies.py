# SPDX-License-Identifier: BSD-2-Clause
"""All strategies compared: latency against CPU."""

from .. import frontier
from ..chapter import Chapter
from ..inputs import Inputs


def chapter(inputs: Inputs) -> Chapter:
    found = inputs.trials.strategies
    return Chapter(
        "strategies",
        "Strategies: latency against CPU",
        [frontier.plot(found), frontier.table(found)] if found else [],
        "Run `./moderato strategies` for it.",
    )
