# SPDX-License-Identifier: BSD-2-Clause
"""All strategies compared: latency against CPU."""

from .. import frontier
from ..material import Material
from ..section import Section


def section(material: Material) -> Section:
    found = material.trials.strategies
    return Section(
        "strategies",
        "Strategies: latency against CPU",
        [frontier.plot(found), frontier.table(found)] if found else [],
        "Run `./moderato strategies` for it.",
    )
