# SPDX-License-Identifier: BSD-2-Clause
"""Latency at the throughput."""

from .. import detail, figures
from ..material import Material
from ..section import Section


def section(material: Material) -> Section:
    trials, found = material.trials, material.throughputs
    parts = [figures.latency(trials, found), detail.latency(trials, found)] if found else []
    return Section("latency", "Latency", parts, "Run `./moderato rfc2544 --test throughput` for it.")
