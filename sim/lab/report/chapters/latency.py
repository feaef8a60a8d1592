# SPDX-License-Identifier: BSD-2-Clause
"""Latency at the throughput."""

from .. import detail, figures
from ..chapter import Chapter
from ..inputs import Inputs


def chapter(inputs: Inputs) -> Chapter:
    trials, found = inputs.trials, inputs.throughputs
    parts = [figures.latency(trials, found), detail.latency(trials, found)] if found else []
    return Chapter("latency", "Latency", parts, "Run `./moderato rfc2544 --test throughput` for it.")
