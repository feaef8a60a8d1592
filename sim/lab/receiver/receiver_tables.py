# SPDX-License-Identifier: BSD-2-Clause
"""The study as text: rate, table 1's columns, and time segments, by user buffer."""

from collections import Counter
from collections.abc import Sequence

from ..explain.attribution import per_frame
from ..explain.terms import IDLE
from ..show.columns import columns, sentence
from ..tcp.segments import SEGMENTS

CONTEXTS = {
    "user": "the program itself",
    "syscall": "in its system calls",
    "softirq": "in softirqs",
    "hardirq": "in hard interrupts",
    "kernel": "scheduler, threads, into and out of traps",
    IDLE: "waiting",
}
MEANINGS = SEGMENTS | {IDLE: "waiting for an interrupt"}


def size(octets: int) -> str:
    """`64 B`, `4 KiB`, `2 MiB`."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if octets % factor == 0:
            return f"{octets // factor} {unit}"
    return f"{octets} B"


def render(records: Sequence[dict]) -> str:
    return (
        "\n\n".join(
            "\n".join(lines)
            for lines in (
                _table1(records),
                _parts("segments", MEANINGS, records, "time segments of the paper"),
                _parts("contexts", CONTEXTS, records, "who ran"),
            )
        )
        + "\n"
    )


def _table1(records: Sequence[dict]) -> list[str]:
    head = ["user buffer", "Mb/s", "CPU idle", "in softirqs", "queue", "window", "ACKs/segment"]
    rows = [
        [
            size(each["user_buffer"]),
            f"{each['goodput_mbps']:.1f}",
            f"{each['cpu_idle_percent']:.1f} %",
            _figure(queue["softirq_percent"], ".1f", " %"),
            _figure(queue["mean_segments"], ".1f"),
            _figure(each["mean_window_bytes"], ".0f"),
            _figure(each["acks_per_segment"], ".2f"),
        ]
        for each, queue in ((each, each["profile"]["receive_queue"]) for each in records)
    ]
    title = (
        "Segments that TCP handled in softirqs, segments in the receive queue when the process "
        "begins with it, octets of the window offered, on average:"
    )
    return [sentence(title), "", *columns([head, *rows])]


def _parts(name: str, meanings: dict[str, str], records: Sequence[dict], what: str) -> list[str]:
    """Cycles per segment, a column per user buffer."""
    figures = [per_frame(Counter(each["profile"][name]), each["segments"]) for each in records]
    rows = [
        [part, *(str(each.get(part, 0)) for each in figures), meaning]
        for part, meaning in meanings.items()
    ]
    total = ["sum", *(str(sum(each.values())) for each in figures), ""]
    head = ["", *(size(each["user_buffer"]) for each in records), ""]
    return [f"Cycles per segment, by {what}:", "", *columns([head, *rows, total], left=True)]


def _figure(value: float | None, form: str, unit: str = "") -> str:
    return "-" if value is None else format(value, form) + unit
