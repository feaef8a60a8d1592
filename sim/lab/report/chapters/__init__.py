# SPDX-License-Identifier: BSD-2-Clause
"""The report, chapter by chapter: a module each, whose `chapter(inputs)` makes it."""

from ..chapter import Chapter
from ..inputs import Inputs
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
    strategies,
    summary,
    tcp,
    throughput,
)

ORDER = (
    summary,
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


def contents(inputs: Inputs) -> list[Chapter]:
    """All chapters, of which an empty one says what to run; where nobody asks for RFC 2544's, those
    that have something."""
    first = [chapter.chapter(inputs) for chapter in (forward, fast)]
    chapters = [
        *(each for each in first if each.present),
        *(chapter.chapter(inputs) for chapter in ORDER),
    ]
    return chapters if inputs.trials.trials else [each for each in chapters if each.present]
