# SPDX-License-Identifier: BSD-2-Clause
"""Tables that the paper does not have: each test of RFC 2544 with frame counts, and the conditions."""

from collections import defaultdict
from collections.abc import Mapping

from ..rfc2544 import metrics
from .cell_results import Cell, Throughput
from .paper_tables import LEAST, LEAST_NOTE, LIMIT, LIMIT_NOTE, MISSING_NOTE
from .records import Records, conditions
from .table import MISSING, Table, number

PERCENTILES = (0, 50, 90, 99, 100)


def cells(records: Records) -> list[Cell]:
    return [(variant, size) for size in records.frame_sizes for variant in records.variants]


def throughput(records: Records, found: Mapping[Cell, Throughput]) -> Table:
    """RFC 2544, 26.1."""
    rows = []
    for cell in cells(records):
        answer = found.get(cell)
        if answer is None:
            rows.append([str(cell[1]), cell[0], *[MISSING] * 8])
            continue
        rates, task = answer.rates, answer.record["task"]
        least = "" if answer.exact else LEAST
        rows.append(
            [
                str(cell[1]),
                cell[0],
                least + number(answer.rate, 0, LIMIT * answer.at_line),
                f"{rates[0]:.0f}",
                f"{rates[-1]:.0f}",
                str(len(rates)),
                f"{task['resolution']:g}",
                str(metrics.frames(answer.record)),
                f"{1e3 * metrics.window_seconds(answer.record):.1f}",
                f"{metrics.idle_percent(answer.record):.1f}",
            ]
        )
    head = [
        "bytes",
        "variant",
        "frames/s",
        "least",
        "most",
        "phases",
        "found to, %",
        "frames in the trial",
        "window, ms",
        "CPU idle, %",
    ]
    return Table(
        "throughput",
        "Throughput (RFC 2544, 26.1), both ports together: median, least "
        "and most of the phases between the two generators",
        head,
        rows,
        [LIMIT_NOTE, LEAST_NOTE, MISSING_NOTE],
        heads=2,
    )


def latency(records: Records, found: Mapping[Cell, Throughput]) -> Table:
    """RFC 2544, 26.2."""
    rows = []
    for cell in cells(records):
        us = metrics.latency_us(found[cell].record) if cell in found else []
        rows.append(
            [
                str(cell[1]),
                cell[0],
                *(number(us[percent] if us else None, 1) for percent in PERCENTILES),
                str(metrics.frames(found[cell].record)) if us else MISSING,
            ]
        )
    head = ["bytes", "variant", "least", "median", "90 %", "99 %", "most", "frames"]
    return Table(
        "latencies",
        "Latency at the throughput (RFC 2544, 26.2; RFC 1242, store and "
        "forward), µs, all frames of both ports",
        head,
        rows,
        [MISSING_NOTE],
        heads=2,
    )


def loss(records: Records, curves: Mapping[Cell, list[dict]]) -> Table:
    """RFC 2544, 26.3."""
    rows = [
        [
            str(size),
            variant,
            f"{record['task']['load_percent']:g}",
            f"{metrics.offered(record):.0f}",
            f"{metrics.received(record):.0f}",
            f"{metrics.forwarded(record):.0f}",
            f"{metrics.loss_percent(record):.2f}",
            f"{metrics.interrupts(record, 'rx'):.0f}",
            f"{metrics.interrupts(record, 'tx'):.0f}",
            f"{metrics.idle_percent(record):.1f}",
            str(metrics.frames(record)),
        ]
        for variant, size in cells(records)
        for record in curves.get((variant, size), [])
        if record["task"]["kind"] == "loss"
    ]
    head = [
        "bytes",
        "variant",
        "load, %",
        "offered/s",
        "received/s",
        "forwarded/s",
        "loss, %",
        "Rx interrupts/s",
        "Tx interrupts/s",
        "CPU idle, %",
        "frames",
    ]
    return Table(
        "loss",
        "Frame loss rate (RFC 2544, 26.3), both ports together, in the window of steady state",
        head,
        rows,
        heads=2,
    )


def bursts(records: Records, found: Mapping[Cell, tuple[dict, bool]]) -> Table:
    """RFC 2544, 26.4."""
    rows = [
        [
            str(cell[1]),
            cell[0],
            ("" if found[cell][1] else LEAST) + str(found[cell][0]["task"]["frames"]),
            number(metrics.latency_us(found[cell][0])[100], 1),
        ]
        for cell in cells(records)
        if cell in found
    ]
    return Table(
        "bursts",
        "Back-to-back frames (RFC 2544, 26.4): the longest burst at the line "
        "rate into both ports at once that is forwarded whole",
        ["bytes", "variant", "frames per port", "latency at most, µs"],
        rows,
        [f"{LEAST} longer bursts were not tried."],
        heads=2,
    )


def recovery(records: Records, found: Mapping[Cell, dict]) -> Table:
    """RFC 2544, 26.5."""
    rows = []
    for cell in cells(records):
        if cell in found:
            record = found[cell]
            task, rate = record["task"], metrics.offered(record)
            rows.append(
                [
                    str(cell[1]),
                    cell[0],
                    f"{rate:.0f}",
                    f"{rate * task['then'][0] / task['load_percent']:.0f}",
                    str(metrics.lost(record)),
                    f"{1e3 * metrics.recovery_seconds(record):.2f}",
                    str(metrics.frames(record)),
                ]
            )
    return Table(
        "recovery",
        "System recovery (RFC 2544, 26.5): from an overload to half of it",
        ["bytes", "variant", "overload/s", "then/s", "lost", "recovery, ms", "frames"],
        rows,
        heads=2,
    )


def reset(records: Records, found: Mapping[Cell, dict]) -> Table:
    """RFC 2544, 26.6."""
    rows = []
    for cell in cells(records):
        if cell in found:
            record = found[cell]
            seconds = metrics.reset_seconds(record)
            rows.append(
                [
                    str(cell[1]),
                    cell[0],
                    f"{metrics.offered(record):.0f}",
                    str(metrics.lost(record)),
                    number(seconds and 1e3 * seconds, 2),
                    str(metrics.frames(record)),
                ]
            )
    return Table(
        "reset",
        "Reset of both interfaces under load (RFC 2544, 26.6)",
        ["bytes", "variant", "load/s", "lost", "reset, ms", "frames"],
        rows,
        heads=2,
    )


# Conditions ---------------------------------------------------------------------------------------


def machines(records: Records) -> Table:
    """The simulated systems of the trials: a row per NIC."""
    found = defaultdict(list)
    for trial in records.trials:
        found[conditions(trial)["nic"]].append(trial)
    rows = []
    for nic, trials in found.items():
        made = conditions(trials[0])
        cpu, memory = made["cpu"], made["memory_bytes"]
        versions = dict.fromkeys(conditions(trial)["version"] for trial in trials)
        rows.append(
            [
                nic,
                ", ".join(versions),
                made["machine"] or MISSING,
                made["kernel"] or MISSING,
                f"{trials[0]['sys_clk_hz'] / 1e6:g} MHz",
                _cpu(cpu) if cpu else MISSING,
                f"{memory >> 20} MiB" if memory else MISSING,
                f"{records.link_mbps} Mb/s",
                str(len(trials)),
            ]
        )
    return Table(
        "machines",
        "Simulated systems of the trials, cycle-exact",
        ["NIC", "version", "machine", "Linux", "clock", "CPU", "memory", "line", "trials"],
        rows,
        [
            "version: the commit. machine: a hash of all that runs in the simulation; "
            "equal hashes give the same figures, to the cycle."
        ],
    )


def kinds(records: Records) -> Table:
    """The durations of trials, by kind."""
    found = defaultdict(list)
    for trial in records.trials:
        found[trial["task"]["kind"]].append(trial)
    rows = []
    for kind, trials in found.items():
        frames = [trial["task"]["frames"] for trial in trials]
        ms = [1e3 * trial["cycles"] / trial["sys_clk_hz"] for trial in trials]
        rows.append(
            [
                kind,
                str(len(trials)),
                f"{min(frames)} – {max(frames)}",
                f"{min(ms):.0f} – {max(ms):.0f}",
                ", ".join(f"{phase:g}" for phase in _values(trials, "phase")),
                ", ".join(f"{resolution:g}" for resolution in _values(trials, "resolution")),
                f"{sum(trial['wall_seconds'] for trial in trials) / 60:.1f}",
            ]
        )
    return Table(
        "kinds",
        "The trials by kind",
        [
            "kind",
            "trials",
            "frames per port",
            "simulated time, ms",
            "phases, slots",
            "resolution, %",
            "run time of all, min",
        ],
        rows,
        [
            "phase: the share of a slot by which the second port's frames start later. A steady trial "
            "ends early once it is clear that the load is too much."
        ],
    )


def _values(trials: list[dict], name: str) -> list[float]:
    return sorted({trial["task"][name] for trial in trials})


def _cpu(cpu: dict) -> str:
    return (
        f"{cpu['harts']} × VexRiscv {cpu['isa']}, caches {cpu['icache'] >> 10} + "
        f"{cpu['dcache'] >> 10} KiB, TLBs {cpu['itlb']} + {cpu['dtlb']}"
    )
