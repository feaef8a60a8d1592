# SPDX-License-Identifier: BSD-2-Clause
"""The report, chapter by chapter: a module each, whose `section(material)` makes it."""

from ..material import Material
from ..section import Section
from . import (burst, conditions, data, harts, latency, model, overload, profile, recovery, story,
               strategies, tcp, throughput)

ORDER = (story, throughput, overload, model, profile, latency, burst, recovery, strategies, tcp,
         harts, conditions, data)


def contents(material: Material) -> list[Section]:
    return [chapter.section(material) for chapter in ORDER]
