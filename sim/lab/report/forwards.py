# SPDX-License-Identifier: BSD-2-Clause
"""Trials of `moderato forward`, read from its --json."""

from collections.abc import Sequence

from .table import Table, number

KIND = "forward"  # of their records
HEAD = (
    "bytes",
    "load, %",
    "variant",
    "offered",
    "received",
    "forwarded",
    "dropped at the ring",
    "Rx interrupts",
    "Tx interrupts",
    "forwarded/s in the window",
    "latency, median, µs",
    "99 %, µs",
    "CPU idle, %",
)


def record(trial: dict) -> dict:
    """A trial as a record. Raises KeyError, TypeError, … for anything else."""
    if not all(isinstance(cell, str) for cell in _row(trial)):  # calculated to find missing fields, too
        raise TypeError("its variant is no name")
    where(trial)
    return {**trial, "kind": KIND}


def tables(trials: Sequence[dict]) -> list[Table]:
    """One for each machine and traffic, with the variants compared."""
    groups: dict[str, list[dict]] = {}
    for trial in trials:
        groups.setdefault(where(trial), []).append(trial)
    return [
        Table(
            f"forward-{number}",
            f"Forwarded in {where}; totals of both ports",
            HEAD,
            [_row(trial) for trial in group],
            [
                "The window is the steady state, while the load is offered; all other counts are of "
                "the whole trial."
            ],
            heads=3,
        )
        for number, (where, group) in enumerate(groups.items(), 1)
    ]


def _row(trial: dict) -> list[str]:
    def total(name):
        return str(sum(port[name] for port in trial["ports"]))

    def microseconds(name):
        time = trial["latency_ns"][name]
        return number(None if time is None else time / 1000, 1)

    load = trial["load_percent"]  # a replay has no load and no size
    return [
        str(trial["frame_bytes"] or "any"),
        "as captured" if load is None else f"{load:g}",
        trial["variant"],
        *map(
            total,
            ("offered", "received", "forwarded", "dropped_at_ring", "rx_interrupts", "tx_interrupts"),
        ),
        number(trial["throughput"]["fps"], 0),
        microseconds("median"),
        microseconds("p99"),
        number(trial["cpu_idle_percent"], 1),
    ]


def where(trial: dict) -> str:
    """The conditions that all trials of a table share."""
    made = trial.get("conditions") or {}
    harts, streams = trial.get("harts", 1), trial.get("flows", 1)
    return ", ".join(
        filter(
            None,
            (
                f"a {trial['sys_clk_hz'] / 1e6:g} MHz SoC",
                f"{trial['link_mbps']} Mb/s",
                f"NIC {made.get('nic', 'unknown')}",
                f"kernel {made.get('kernel', 'unknown')}",
                f"memory {made.get('memory')}" * ("memory" in made),
                *(f"ethtool {setting}" for setting in made.get("ethtool", [])),
                f"version {made.get('version', 'unknown')}",
                f"{harts} harts ({trial.get('spread')})" * (harts > 1),
                f"{streams} streams" * (streams > 1),
                "one way" * bool(trial.get("one_way")),
            ),
        )
    )
