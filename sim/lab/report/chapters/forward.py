# SPDX-License-Identifier: BSD-2-Clause
"""Trials of `moderato forward`."""

from .. import forwards
from ..chapter import Chapter
from ..inputs import Inputs


def chapter(inputs: Inputs) -> Chapter:
    return Chapter("forward", "Trials of `moderato forward`", forwards.tables(inputs.trials.forwards))
