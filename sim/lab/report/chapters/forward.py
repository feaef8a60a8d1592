# SPDX-License-Identifier: BSD-2-Clause
"""What `moderato forward` measured."""

from .. import forwards
from ..material import Material
from ..section import Section


def section(material: Material) -> Section:
    return Section("forward", "Trials of `moderato forward`", forwards.tables(material.trials.forwards))
