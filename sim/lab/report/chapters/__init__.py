# SPDX-License-Identifier: BSD-2-Clause
"""The report, chapter by chapter: a module each, whose `section(material)` makes it."""

from ..material import Material
from ..section import Section
from . import (
    burst,
    conditions,
    data,
    fast,
    forward,
    harts,
    latency,
    model,
    overload,
    profile,
    recovery,
    story,
    strategies,
    tcp,
    throughput,
)

ORDER = (
    story,
    throughput,
    overload,
    model,
    profile,
    latency,
    burst,
    recovery,
    strategies,
    tcp,
    harts,
    conditions,
    data,
)


def contents(material: Material) -> list[Section]:
    """All chapters, of which an empty one says what to run; where nobody asks for RFC 2544's, those
    that have something."""
    first = [chapter.section(material) for chapter in (forward, fast)]
    sections = [
        *(each for each in first if each.present),
        *(chapter.section(material) for chapter in ORDER),
    ]
    return sections if material.trials.trials else [each for each in sections if each.present]
