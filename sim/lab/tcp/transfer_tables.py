# SPDX-License-Identifier: BSD-2-Clause
"""Transfers as text: a table of figures, and, if they were profiled, one of costs per segment."""

from collections import Counter
from collections.abc import Sequence

from ..explain.attribution import per_frame
from ..explain.terms import IDLE
from ..run import ethtool
from ..show.columns import columns, sentence
from .costs import LAYERS

SHOWN = 12  # functions that are listed with their costs
MEANINGS = {layer.name: layer.meaning for layer in LAYERS} | {
    "other": "no function named in sim/lab/tcp/costs.py",
    IDLE: "waiting for an interrupt",
}


def render(records: Sequence[dict]) -> str:
    """A line for each transfer, in the order of the records."""
    head = [
        "transfer",
        "Mb/s",
        "CPU idle",
        "interrupts/s",
        "segments",
        "ACKs/segment",
        "window",
        "round trip",
        "sent again",
        "wrong",
    ]
    rows = [
        [
            each["name"],
            f"{each['goodput_mbps']:.1f}",
            f"{each['cpu_idle_percent']:.1f} %",
            f"{each['interrupts_per_second']:.0f}",
            str(each["segments"]),
            _figure(each["acks_per_segment"], ".2f"),
            _figure(each["mean_window_bytes"], ".0f"),
            _figure(each["round_trip_us"] and each["round_trip_us"]["median"], ".0f"),
            str(each["retransmissions"]),
            str(each["corrupted"]),
        ]
        for each in records
    ]
    title = (
        "In the steady window of each transfer; window: octets that the receiver offers, on "
        "average; round trip: the median, in us; sent again, wrong: in all of it"
        + ethtool.said(records[0]["conditions"])
    )
    tables = [[sentence(title), "", *columns([head, *rows])]]
    profiled = [each for each in records if "profile" in each]
    if profiled:
        tables.append(_costs(profiled))
        tables += map(_costliest, profiled)
    return "\n\n".join("\n".join(lines) for lines in tables) + "\n"


def _costs(records: Sequence[dict]) -> list[str]:
    """Cycles per segment by layer, a column per transfer."""
    figures = [per_frame(Counter(each["profile"]["layers"]), each["segments"]) for each in records]
    rows = [
        [name, *(str(each.get(name, 0)) for each in figures), meaning]
        for name, meaning in MEANINGS.items()
    ]
    total = ["sum", *(str(sum(each.values())) for each in figures), ""]
    names = [each["name"] for each in records]
    return ["Cycles per segment:", "", *columns([["", *names, ""], *rows, total], left=True)]


def _costliest(record: dict) -> list[str]:
    """The functions that take the most cycles themselves."""
    functions = Counter(record["profile"]["functions"])
    return [
        sentence(f"{record['name']}: cycles per segment of functions by themselves"),
        *(f"{count / record['segments']:7.0f} {name}" for name, count in functions.most_common(SHOWN)),
    ]


def _figure(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
