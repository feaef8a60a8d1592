# SPDX-License-Identifier: BSD-2-Clause
"""The longest bursts without loss."""

from .. import answers, detail
from ..material import Material
from ..section import Section


def section(material: Material) -> Section:
    found = answers.bursts(material.trials.of("burst"))
    return Section(
        "burst",
        "Back-to-back frames",
        [detail.bursts(material.trials, found)] if found else [],
        "Run `./moderato rfc2544 --test burst` for it.",
    )
