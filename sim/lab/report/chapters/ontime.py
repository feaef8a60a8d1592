# SPDX-License-Identifier: BSD-2-Clause
"""On time: how late frames leave that have a launch time (docs/ontime.md)."""

from .. import ontime
from ..chapter import Chapter
from ..inputs import Inputs


def chapter(inputs: Inputs) -> Chapter:
    found = inputs.trials.ontime
    return Chapter("on-time", "Frames on time", [*ontime.tables(found), *ontime.plots(found)])
