# SPDX-License-Identifier: BSD-2-Clause
"""Results of RFC 2544's tests as text, a line per variant and frame size."""

from collections.abc import Mapping

from ..show.columns import columns, sentence
from . import metrics
from .tests import Cell, Throughput


def _throughput(found: Mapping[Cell, list[Throughput]]) -> str:
    head = ["variant", "bytes", "frames/s", "least", "most", "Mb/s per port", "frames", "CPU idle"]
    rows = []
    for cell, phases in found.items():
        if not phases:
            rows.append(_none(cell, len(head)))
            continue
        rates = [metrics.offered(each.sustained) for each in phases]
        middle = phases[rates.index(sorted(rates)[(len(rates) - 1) // 2])]
        rows.append(
            [
                cell.variant,
                str(cell.frame_bytes),
                f"{metrics.offered(middle.sustained):.0f}",
                f"{min(rates):.0f}",
                f"{max(rates):.0f}",
                f"{metrics.mbps(middle.sustained):.2f}",
                str(metrics.frames(middle.sustained)),
                f"{metrics.idle_percent(middle.sustained):.1f} %",
            ]
        )
    phases = max(map(len, found.values()), default=0)
    return _table(
        "Throughput (RFC 2544, 26.1), both ports together; median, least and most of "
        f"{phases} phase(s) between the generators; found to {_resolution(found)} %",
        head,
        rows,
    )


def _latency(found: Mapping[Cell, list[Throughput]]) -> str:
    head = ["variant", "bytes", "frames/s", "min", "median", "p90", "p99", "max", "frames"]
    rows = []
    for cell, phases in found.items():
        if not phases:
            rows.append(_none(cell, len(head)))
            continue
        record = phases[0].sustained
        us = metrics.latency_us(record)
        rows.append(
            [
                cell.variant,
                str(cell.frame_bytes),
                f"{metrics.offered(record):.0f}",
                *(f"{us[percent]:.1f}" for percent in (0, 50, 90, 99, 100)),
                str(metrics.frames(record)),
            ]
        )
    return _table("Latency at the throughput (RFC 2544, 26.2), us", head, rows)


def _loss(found: Mapping[Cell, list[dict]]) -> str:
    head = [
        "variant",
        "bytes",
        "load",
        "offered/s",
        "received/s",
        "forwarded/s",
        "loss",
        "Rx int/s",
        "Tx int/s",
        "CPU idle",
        "frames",
    ]
    rows = [
        [
            cell.variant,
            str(cell.frame_bytes),
            f"{record['task']['load_percent']:g} %",
            f"{metrics.offered(record):.0f}",
            f"{metrics.received(record):.0f}",
            f"{metrics.forwarded(record):.0f}",
            f"{metrics.loss_percent(record):.2f} %",
            f"{metrics.interrupts(record, 'rx'):.0f}",
            f"{metrics.interrupts(record, 'tx'):.0f}",
            f"{metrics.idle_percent(record):.1f} %",
            str(metrics.frames(record)),
        ]
        for cell, records in found.items()
        for record in records
    ]
    return _table("Frame loss rate (RFC 2544, 26.3), both ports together", head, rows)


def _burst(found: Mapping[Cell, dict | None]) -> str:
    head = ["variant", "bytes", "frames per port", "latency max, us"]
    rows = [
        [
            cell.variant,
            str(cell.frame_bytes),
            str(record["task"]["frames"]),
            f"{metrics.latency_us(record)[100]:.1f}",
        ]
        if record
        else _none(cell, len(head))
        for cell, record in found.items()
    ]
    return _table("Back-to-back frames (RFC 2544, 26.4), bursts into both ports at once", head, rows)


def _recovery(found: Mapping[Cell, dict | None]) -> str:
    head = ["variant", "bytes", "overload/s", "then/s", "lost", "recovery, ms", "frames"]
    rows = []
    for cell, record in found.items():
        if record is None:
            rows.append(_none(cell, len(head)))
            continue
        task, rate = record["task"], metrics.offered(record)
        rows.append(
            [
                cell.variant,
                str(cell.frame_bytes),
                f"{rate:.0f}",
                f"{rate * task['then'][0] / task['load_percent']:.0f}",
                str(metrics.lost(record)),
                f"{1e3 * metrics.recovery_seconds(record):.2f}",
                str(metrics.frames(record)),
            ]
        )
    return _table("System recovery (RFC 2544, 26.5)", head, rows)


def _reset(found: Mapping[Cell, dict | None]) -> str:
    head = ["variant", "bytes", "load/s", "lost", "reset, ms", "frames"]
    rows = []
    for cell, record in found.items():
        if record is None:
            rows.append(_none(cell, len(head)))
            continue
        seconds = metrics.reset_seconds(record)
        rows.append(
            [
                cell.variant,
                str(cell.frame_bytes),
                f"{metrics.offered(record):.0f}",
                str(metrics.lost(record)),
                f"{1e3 * seconds:.2f}" if seconds else "-",
                str(metrics.frames(record)),
            ]
        )
    return _table("Reset of both interfaces under load (RFC 2544, 26.6)", head, rows)


RENDER = {
    "throughput": _throughput,
    "latency": _latency,
    "loss": _loss,
    "burst": _burst,
    "recovery": _recovery,
    "reset": _reset,
}


def _table(title: str, head: list[str], rows: list[list[str]]) -> str:
    return "\n".join([sentence(title), "", *columns([head, *rows])]) + "\n"


def _none(cell: Cell, width: int) -> list[str]:
    """A row for a cell in which not even the lowest rate passed."""
    return [cell.variant, str(cell.frame_bytes), *["-"] * (width - 2)]


def _resolution(found: Mapping[Cell, object]) -> str:
    return f"{next(iter(found)).resolution:g}"
