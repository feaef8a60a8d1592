# SPDX-License-Identifier: BSD-2-Clause
"""What forwards past the stack: XDP, Linux' flow table, flows in hardware (docs/fast-path.md)."""

from .. import fast
from ..material import Material
from ..section import Section


def section(material: Material) -> Section:
    return Section("fast-path", "Past Linux' stack", fast.tables(material.trials.forwards))
