# SPDX-License-Identifier: BSD-2-Clause
"""The report's chapters, one module each; its `chapter(inputs)` makes the chapter."""

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
    ontime,
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
    """All chapters; an empty one names the command to run. Without trials of RFC 2544, empty chapters
    are omitted."""
    first = [chapter.chapter(inputs) for chapter in (forward, fast, ontime)]
    chapters = [
        *(each for each in first if each.present),
        *(chapter.chapter(inputs) for chapter in ORDER),
    ]
    return chapters if inputs.trials.trials else [each for each in chapters if each.present]
