# SPDX-License-Identifier: BSD-2-Clause
"""Forwarding past the stack: XDP, Linux' flow table, flows in hardware (docs/fast-path.md)."""

from .. import fast
from ..chapter import Chapter
from ..inputs import Inputs


def chapter(inputs: Inputs) -> Chapter:
    return Chapter("fast-path", "Past Linux' stack", fast.tables(inputs.trials.forwards))
