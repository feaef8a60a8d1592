# SPDX-License-Identifier: BSD-2-Clause
"""Variants that bypass Linux' stack, compared with Linux: XDP, flow tables, flows in hardware."""

from collections.abc import Sequence

from ..run.variants import FAST, KNOWN
from . import forwards
from .table import Table, number

BASE = "napi-tx-off"  # the fastest of the paper's six; FAST use its strategies
HEAD = (
    "octets",
    "load, %",
    "variant",
    "forwarded/s",
    f"times {BASE}",
    "latency, median, µs",
    "CPU idle, %",
)
ORDER = [*KNOWN, *FAST]


def tables(trials: Sequence[dict]) -> list[Table]:
    """One for each machine and traffic with a variant of FAST; a row per size, load and variant."""
    groups: dict[str, list[dict]] = {}
    for trial in trials:
        if trial["load_percent"] is not None:  # None for a replay
            groups.setdefault(forwards.where(trial), []).append(trial)
    groups = {
        where: group
        for where, group in groups.items()
        if any(trial["variant"] in FAST for trial in group)
    }
    return [
        Table(
            f"fast-path-{count}",
            f"Past Linux' stack in {where}; totals of both ports",
            HEAD,
            _rows(group),
            [f"In the steady state, while the load is offered. {BASE} takes frames through the stack."],
            heads=3,
        )
        for count, (where, group) in enumerate(groups.items(), 1)
    ]


def _rows(group: Sequence[dict]) -> list[list[str]]:
    rates = {(*_traffic(trial), trial["variant"]): trial["throughput"]["fps"] for trial in group}
    rows = []
    for trial in sorted(group, key=lambda trial: (*_traffic(trial), _place(trial["variant"]))):
        size, load = _traffic(trial)
        rate, base = trial["throughput"]["fps"], rates.get((size, load, BASE))
        median = trial["latency_ns"]["median"]
        rows.append(
            [
                str(size),
                f"{load:g}",
                trial["variant"],
                number(rate, 0),
                number(rate / base if base else None, 2),
                number(None if median is None else median / 1000, 1),
                number(trial["cpu_idle_percent"], 1),
            ]
        )
    return rows


def _traffic(trial: dict) -> tuple[int, float]:
    return trial["frame_bytes"], trial["load_percent"]


def _place(variant: str) -> tuple[int, str]:
    return ORDER.index(variant) if variant in ORDER else len(ORDER), variant
