# SPDX-License-Identifier: BSD-2-Clause
"""The comparison as text: a table for each situation, a line for each setting."""

from collections.abc import Sequence

from ..show.columns import columns, sentence
from .situations import PING, SITUATIONS


def render(records: Sequence[dict], throughput: float) -> str:
    """`throughput`: frames/s of both ports, the reference of situations' shares; 0 if there are none."""
    groups = {}
    for record in records:
        groups.setdefault(record["situation"], []).append(record)
    lines = [f"Throughput of napi-full: {throughput:.0f} frames/s", ""] if throughput else []
    for name, group in groups.items():
        lines += [*_situation(name, group), ""]
    return "\n".join(lines)


def _situation(name: str, records: Sequence[dict]) -> list[str]:
    first = records[0]
    title = SITUATIONS[name].says
    if name != PING:
        title += (
            f": {first['offered_fps']:.0f} frames/s of {first['frame_bytes']} bytes, both ports together"
        )
    head = [
        "setting",
        "forwarded/s",
        "lost",
        "median",
        "p99",
        "urgent p99",
        "interrupts/s",
        "frames per",
        "CPU busy",
    ]
    rows = [
        [
            record["setting"],
            f"{record['throughput']['fps']:.0f}",
            str(record["lost"]),
            _microseconds(record["latency_ns"]["median"]),
            _microseconds(record["latency_ns"]["p99"]),
            _microseconds(urgent(record)),
            f"{record['interrupts_per_second']:.0f}",
            _ratio(record["frames_per_interrupt"]),
            f"{100 - record['cpu_idle_percent']:.1f} %",
        ]
        for record in records
    ]
    return [sentence(title), "", *columns([head, *rows], group={"latency, us:": range(3, 6)})]


def urgent(record: dict) -> int | None:
    """The 99th percentile of the marked frames' latencies, in ns; None if there are none."""
    return record.get("probe_latency_ns", {}).get("p99")


def _microseconds(nanoseconds: int | None) -> str:
    return "-" if nanoseconds is None else f"{nanoseconds / 1000:.0f}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
