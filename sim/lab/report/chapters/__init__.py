# SPDX-License-Identifier: BSD-2-Clause
"""The report, chapter by chapter: a module each, whose `section(material)` makes it."""

from ..material import Material
from ..section import Section
from . import (burst, conditions, data, forward, harts, latency, model, overload, profile, recovery,
               story, strategies, tcp, throughput)

ORDER = (story, throughput, overload, model, profile, latency, burst, recovery, strategies, tcp,
         harts, conditions, data)


def contents(material: Material) -> list[Section]:
    """All chapters; that of `forward` only if somebody gave its trials."""
    first = [forward] if material.trials.forwards else []
    return [chapter.section(material) for chapter in (*first, *ORDER)]
