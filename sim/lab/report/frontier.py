# SPDX-License-Identifier: BSD-2-Clause
"""All strategies compared: the CPU time of each setting, and the latency of its frames."""

from collections.abc import Sequence

from ..strategies.settings import SETTINGS
from ..strategies.situations import SITUATIONS
from ..strategies.strategy_tables import urgent
from .plot import INK, Plot, labels, legend, log_axis, look, panels, styled, tip
from .table import Table, number

DRAWN = ("ping", "idle", "10%", "50%", "90%", "bursts")  # not overload: the CPU is always busy
NOTE = (
    "Down and to the left is better: less CPU time, and a lower latency for 99 % of the frames. "
    "Each point is a setting, in the colour of its strategy. The label next to a point gives the "
    "setting's values, where there is room. The line is the Pareto front: no setting has less of "
    "both than one on it. Settings that lose frames are left out. Choose the lowest point at the "
    "latency that you can accept."
)
FRONT = "Pareto front"


@styled
def plot(records: Sequence[dict]) -> Plot | None:
    """A panel for each situation."""
    shown = [
        here
        for name in DRAWN
        if (here := [record for record in records if record["situation"] == name and not record["lost"]])
    ]
    if not shown:
        return None
    figure, axes = panels(len(shown), 2, 3.6)
    variants = list(dict.fromkeys(record["variant"] for record in records))
    for panel, here in zip(axes, shown):
        for variant in variants:
            own = [record for record in here if record["variant"] == variant]
            if not own:
                continue
            panel.plot(*zip(*map(_place, own)), linestyle="none", **look(variant, variants))
            for record in own:  # in the same loop: a tooltip belongs to the line before it
                tip(
                    panel,
                    *_place(record),
                    f"{record['setting']}: p99 "
                    f"{_p99(record):.0f} µs, CPU {_busy(record):.1f} %, "
                    f"{record['interrupts_per_second']:.0f} interrupts/s",
                )
        panel.plot(
            *zip(*map(_place, front(here))),
            drawstyle="steps-post",
            color=INK,
            alpha=0.5,
            linewidth=1,
            label=FRONT,
            zorder=1,
        )
        log_axis(panel, "latency, 99th percentile, µs", 1)
        panel.margins(0.08, 0.08)
        panel.set(title=_title(here[0]), ylabel="CPU busy, %")
    legend(figure, axes)
    labels(
        figure,
        [
            [(*_place(record), _said(record), record["variant"]) for record in _in_turn(here)]
            for here in shown
        ],
    )
    return Plot("frontier", "Latency against CPU, a point for each setting of a strategy", figure, NOTE)


def front(records: Sequence[dict]) -> list[dict]:
    """The Pareto front by latency: no other record has a lower latency and a less busy CPU."""
    found = []
    for record in sorted(records, key=_place):
        if not found or _busy(record) < _busy(found[-1]):
            found.append(record)
    return found


def _in_turn(records: Sequence[dict]) -> list[dict]:
    """The records, sorted so that the front's come first."""
    best = front(records)
    return best + [record for record in records if record not in best]


def _place(record: dict) -> tuple[float, float]:
    return record["latency_ns"]["p99"] / 1000, _busy(record)


def _said(record: dict) -> str:
    """The setting's value as a short label."""
    return (SETTINGS[record["setting"]].value or record["variant"]).replace(" us", " µs")


def _title(record: dict) -> str:
    situation = SITUATIONS[record["situation"]]
    if situation.share is None:
        return situation.says
    return f"{situation.says}\n{record['offered_fps']:.0f} frames/s"


def table(records: Sequence[dict]) -> Table:
    """Every setting in every situation."""
    rows = [
        [
            SITUATIONS[record["situation"]].says,
            record["setting"],
            f"{record['offered_fps']:.0f}",
            f"{record['throughput']['fps']:.0f}",
            str(record["lost"]),
            number(_microseconds(record, "median"), 0),
            number(_p99(record), 0),
            number(_usecs(urgent(record)), 0),
            f"{record['interrupts_per_second']:.0f}",
            number(record["frames_per_interrupt"], 1),
            f"{_busy(record):.1f}",
        ]
        for record in records
    ]
    head = [
        "situation",
        "setting",
        "offered/s",
        "forwarded/s",
        "lost",
        "median, µs",
        "99 %, µs",
        "urgent: 99 %, µs",
        "interrupts/s",
        "frames per interrupt",
        "CPU busy, %",
    ]
    return Table("settings", "All settings of all strategies", head, rows, heads=2)


def _microseconds(record: dict, name: str) -> float | None:
    return _usecs(record["latency_ns"][name])


def _usecs(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1000


def _p99(record: dict) -> float | None:
    return _microseconds(record, "p99")


def _busy(record: dict) -> float:
    return 100 - record["cpu_idle_percent"]
