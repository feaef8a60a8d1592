# SPDX-License-Identifier: BSD-2-Clause
"""Song et al. (2010) compared with ours: rate, table 1, time segments, by user buffer."""

import csv
from collections import Counter
from collections.abc import Sequence

from moderato.toolchain.project import ROOT

from ..explain.attribution import per_frame
from ..receiver import study
from ..receiver.receiver_tables import MEANINGS, size
from .plot import Plot, legend, look, panels, styled, tip
from .records import conditions, row
from .table import Table, number

THEIRS = "Song et al. 2010"
NORMAL, TRACED = "normal", "traced"  # the kernels that are compared
COLOURS = (
    "#0072B2",
    "#56B4E9",
    "#E69F00",
    "#D55E00",
    "#CC79A7",
    "#F0E442",
    "#009E73",
    "#8DA0CB",
    "#66C2A5",
    "#999999",
    "#B8B000",
    "#444444",
)


def studies(records: Sequence[dict]) -> dict[str, list[dict]]:
    """The transfers of each study, by user buffer. A study is named by variant, and kernel if that is
    unusual. Profiles of other transfers are omitted."""
    found = {}
    for record in sorted(
        (record for record in records if study.has(record)),
        key=lambda record: (record["kernel"] == TRACED, record["user_buffer"]),
    ):
        found.setdefault(_name(record), []).append(record)
    return found


def studied(records: Sequence[dict]) -> list[dict]:
    """The first study, with the usual kernel if it was studied."""
    return next(iter(studies(records).values()), [])


def _name(record: dict) -> str:
    return row(record) + f", {record['kernel']}" * (record["kernel"] != NORMAL)


def theirs() -> dict[int, dict[str, float]]:
    """Table 1, by user buffer."""
    with open(ROOT / "docs" / "data" / "song-2010-table1.csv", newline="") as file:
        return {
            int(row.pop("user_buffer_bytes")): {name: float(text) for name, text in row.items()}
            for row in csv.DictReader(file)
        }


@styled
def rate(records: Sequence[dict]) -> Plot | None:
    """Figure 2: the rate by user buffer, for each studied variant, traced and not."""
    found = studies(records)
    if not found:
        return None
    figure, (panel,) = panels(1, 1, 3.2)
    for name, own in found.items():
        panel.plot(
            [record["user_buffer"] for record in own],
            [record["goodput_mbps"] for record in own],
            **look(name, list(found)),
        )
        for record in own:
            tip(
                panel,
                record["user_buffer"],
                record["goodput_mbps"],
                f"{name}, {size(record['user_buffer'])}: {record['goodput_mbps']:.1f} Mb/s, "
                f"CPU idle {record['cpu_idle_percent']:.1f} %",
            )
    sizes = sorted({record["user_buffer"] for own in found.values() for record in own})
    panel.set(xscale="log", xlabel="user buffer", ylabel="goodput, Mb/s", ylim=(0, None))
    panel.set_xticks(sizes, map(size, sizes))
    panel.minorticks_off()
    legend(figure, [panel])
    return Plot(
        "receiver-rate",
        "Receive rate by the size of the program's buffer (their figure 2)",
        figure,
        "A small buffer takes many system calls for a segment.",
    )


def table1(records: Sequence[dict]) -> Table | None:
    """Their columns, with their figures and ours."""
    found, paper = studied(records), theirs()
    if not found:
        return None
    rows = []
    for record in found:
        queue, other = record["profile"]["receive_queue"], paper.get(record["user_buffer"], {})
        rows.append(
            [
                size(record["user_buffer"]),
                *(
                    number(value, digits)
                    for mine, name, digits in (
                        (queue["softirq_percent"], "softirq_skb_percent", 1),
                        (queue["mean_segments"], "mean_receive_queue_skbs", 1),
                        (None, "direct_copy_percent", 1),
                        (record["mean_window_bytes"], "mean_advertised_window_bytes", 0),
                        (record["acks_per_segment"], "acks_per_skb", 2),
                    )
                    for value in (mine, other.get(name))
                ),
            ]
        )
    names = (
        "segments in softirqs, %",
        "receive queue, segments",
        "direct copy, %",
        "window, octets",
        "ACKs per segment",
    )
    head = ["user buffer", *(title for name in names for title in (name, f"{name}: {THEIRS}"))]
    return Table(
        "receiver-table-1",
        f"How a program receives: {found[0]['variant']} compared with {THEIRS}, table 1",
        head,
        rows,
        ["Direct copy (the prequeue) left Linux in 4.14: there is nothing to measure."],
    )


def disturbance(records: Sequence[dict]) -> Table | None:
    """The same study with the kernel's own tracing, compared with the one without."""
    plain = studied(records)
    traced = [record for record in records if study.has(record) and record["kernel"] == TRACED]
    pairs = [(record, other) for record in plain for other in traced if _whose(record) == _whose(other)]
    if not pairs or plain[0]["kernel"] == TRACED:
        return None
    columns = (
        ("Mb/s", lambda record: number(record["goodput_mbps"], 1)),
        (
            "cycles per segment",
            lambda record: number(record["profile"]["cycles"] / record["segments"], 0),
        ),
        (
            "segments in softirqs, %",
            lambda record: number(record["profile"]["receive_queue"]["softirq_percent"], 1),
        ),
        ("window, octets", lambda record: number(record["mean_window_bytes"], 0)),
    )
    rows = [
        [size(pair[0]["user_buffer"]), *(text(record) for _, text in columns for record in pair)]
        for pair in pairs
    ]
    head = ["user buffer", *(title for name, _ in columns for title in (name, f"{name}: traced"))]
    return Table(
        "receiver-disturbance",
        "The effect of the kernel's own tracing: an event at each entry into the functions where the "
        "time segments begin and end",
        head,
        rows,
    )


def _whose(record: dict) -> tuple:
    """Equal for two studies that differ only in the kernel."""
    made = conditions(record)
    return (
        *(record.get(name) for name in ("variant", "user_buffer", "octets", "sys_clk_hz")),
        *(made.get(name) for name in ("nic", "cpu", "memory", "memory_bytes", "ethtool")),
    )


@styled
def segments(records: Sequence[dict]) -> Plot | None:
    """Figure 3: cycles per segment in their time segments, stacked, by user buffer."""
    found = studied(records)
    if not found:
        return None
    figure, (panel,) = panels(1, 1, 3.8)
    parts = [
        part for part in MEANINGS if any(record["profile"]["segments"].get(part) for record in found)
    ]
    below = [0.0] * len(found)
    for part, colour in zip(parts, COLOURS):
        heights = [record["profile"]["segments"].get(part, 0) / record["segments"] for record in found]
        title = f"({part}) {MEANINGS[part]}" if part.isdigit() else MEANINGS[part]
        panel.bar(range(len(found)), heights, bottom=below, color=colour, label=title, width=0.7)
        below = [low + height for low, height in zip(below, heights)]
    panel.set_xticks(range(len(found)), [size(record["user_buffer"]) for record in found])
    panel.set(xlabel="user buffer", ylabel="cycles per segment of 1448 octets")
    panel.legend(fontsize=7)
    return Plot(
        "receiver-segments",
        f"Where a received segment's cycles go, by the time segments of {THEIRS} (their figure 3)",
        figure,
        "Their figures are from probes that slowed the system. Ours are from the simulator, which the "
        "guest does not notice.",
    )


def costs(records: Sequence[dict]) -> Table | None:
    """The data of figure 3 as a table."""
    found = studied(records)
    if not found:
        return None
    figures = [per_frame(Counter(record["profile"]["segments"]), record["segments"]) for record in found]
    rows = [
        [
            f"({part}) {meaning}" if part.isdigit() else meaning,
            *(str(each.get(part, 0)) for each in figures),
        ]
        for part, meaning in MEANINGS.items()
    ]
    rows.append(["**sum**", *(str(sum(each.values())) for each in figures)])
    return Table(
        "receiver-costs",
        "Cycles per received segment, by user buffer",
        ["time segment", *(size(record["user_buffer"]) for record in found)],
        rows,
    )
