# SPDX-License-Identifier: BSD-2-Clause
"""Two harts compared with one, for each way to spread the work, as in Yao et al. (2014)."""

import csv
from collections.abc import Callable, Sequence

from moderato.toolchain.project import ROOT

from ..measure.traffic import Traffic
from ..run.system import SPREADS
from ..tcp.transfer import DIRECTIONS, gro_said
from . import transfers as tcp
from .cell_results import throughputs
from .records import conditions, row, several
from .table import MISSING, Table, number

ONE = "one hart"
RATIO_NOTE = "In brackets: the ratio to one hart with a kernel without SMP. " + " ".join(
    f"{name}: {what}." for name, what in SPREADS.items()
)


def alike(found: Sequence[dict]) -> list[dict]:
    """Trials on several harts, and those on one hart with the same core, memory, NIC and clock: a ratio
    then shows only the effect of harts, not of another cache or prediction."""
    cores = {_core(record) for record in found if several(record)}
    return [record for record in found if _core(record) in cores]


def throughput(trials: Sequence[dict]) -> Table | None:
    """A row for each variant and way, a column for each frame size and traffic."""
    groups = {}
    for trial in alike(trials):
        if trial["task"]["kind"] == "steady":
            whose = row(trial["task"] | trial), _way(trial), _traffic(trial)
            groups.setdefault(whose, []).append(trial)
    cells = {
        (variant, way, (size, traffic)): answer.rate
        for (variant, way, traffic), group in groups.items()
        for (_, size), answer in throughputs(group).items()
    }
    return _table(
        "harts-throughput",
        "RFC 2544 throughput, frames/s of all ports together",
        cells,
        lambda column: ", ".join(filter(None, (f"{column[0]} octets", column[1]))),
        0,
    )


def goodput(transfers: Sequence[dict]) -> Table | None:
    """As throughput(), over TCP."""
    cells = {
        (row(record), _way(record), _transfer(record)): record["goodput_mbps"]
        for record in tcp.plain_last(alike(transfers))
    }
    return _table("harts-goodput", "Goodput over TCP, Mb/s", cells, _transfer_said, 1)


def interrupts(transfers: Sequence[dict]) -> Table | None:
    """Yao et al.'s tables 1 to 3 compared with ours: through the DUT, with connection tracking."""
    found = [
        record
        for record in tcp.plain_last(alike(transfers))
        if record["direction"] == "through" and record["kernel"] == "conntrack"
    ]
    # The variant, NIC and line rate of the last trial on two harts select the trials.
    of = [(row(record), record["link_mbps"]) for record in found if several(record)][-1:]
    found = [record for record in found if [(row(record), record["link_mbps"])] == of]
    spread = {_transfer(record) for record in found if several(record)}
    ours = {
        (_transfer(record), _place(_way(record))): record
        for record in found
        if _transfer(record) in spread
    }
    if not ours:
        return None
    with open(ROOT / "docs" / "data" / "yao-2014.csv", newline="") as file:
        theirs = {row["spread"]: row for row in csv.DictReader(file)}
    rows = []
    for ((*_, connections, _, settings), _), record in sorted(ours.items()):
        paper = theirs.get(_way(record))
        seconds = record["transfer_cycles"] / record["sys_clk_hz"]
        per_hart = _per_hart(record)
        segments = sum(port["segments"]["in"] for port in record["ports"])
        rows.append(
            [
                ", ".join(filter(None, [str(connections), settings])),
                _way(record),
                *(f"{count / seconds:.0f}" for count in per_hart),
                *[MISSING] * (2 - len(per_hart)),
                f"{sum(per_hart) / segments:.3f}",
                *(
                    [f"{int(paper[f'hart{n}']) / float(paper['seconds']):.0f}" for n in (0, 1)]
                    if paper
                    else [MISSING] * 2
                ),
            ]
        )
    return Table(
        "harts-interrupts",
        "Interrupts of each hart per second, while TCP goes through "
        "the guest with connection tracking; theirs: tables 1 to 3 of Yao et al.",
        ["connections", "", "hart 0", "hart 1", "per segment", "hart 0, theirs", "hart 1, theirs"],
        rows,
        heads=2,
    )


def _per_hart(record: dict) -> list[int]:
    """Interrupts of each hart during a transfer; for one hart, the hardware's count."""
    if several(record):
        return record["interrupts_per_hart"]
    return [sum(port["events"][f"{way}_interrupt"] for port in record["ports"] for way in ("rx", "tx"))]


def _table(name: str, caption: str, cells: dict, said: Callable, digits: int) -> Table | None:
    """cells: by variant, way and column."""
    spread = [(variant, column) for variant, way, column in cells if way != ONE]
    if not spread:
        return None
    variants, columns = (sorted(set(each)) for each in zip(*spread))
    rows = sorted(
        {(variant, way) for variant, way, _ in cells if variant in variants},
        key=lambda row: (row[0], _place(row[1])),
    )

    def cell(variant, way, column):
        value, one = cells.get((variant, way, column)), cells.get((variant, ONE, column))
        ratio = f" ({value / one:.2f})" if value and one and way != ONE else ""
        return number(value, digits) + ratio

    return Table(
        name,
        caption,
        ["variant", "", *map(said, columns)],
        [[*row, *(cell(*row, column) for column in columns)] for row in rows],
        [RATIO_NOTE],
        heads=2,
    )


def _core(record: dict) -> tuple:
    around = conditions(record)
    cpu = {name: value for name, value in (around["cpu"] or {}).items() if name != "harts"}
    return (
        record.get("sys_clk_hz"),
        around["nic"],
        around["memory"],
        around["memory_bytes"],
        *sorted(cpu.items()),
    )


def _way(record: dict) -> str:
    return conditions(record)["spread"] if several(record) else ONE


def _place(way: str) -> int:
    return [ONE, *SPREADS].index(way)


def _traffic(trial: dict) -> str:
    """The traffic, for a heading. Whether reordering is allowed depends on the way, not on the
    traffic."""
    return Traffic.of(trial["task"].get("traffic", {})).words


def _transfer(record: dict) -> tuple:
    return (
        DIRECTIONS.index(record["direction"]),
        record["link_mbps"],
        record["connections"],
        record["kernel"],
        ", ".join(filter(None, (gro_said(record["direction"], record["gro"]), *tcp.settings(record)))),
    )


def _transfer_said(column: tuple) -> str:
    direction, link, connections, kernel, settings = column
    words = [DIRECTIONS[direction], f"{link} Mb/s"]
    words += [f"{connections} connections"] * (connections > 1) + [kernel] * (kernel != "normal")
    return ", ".join(filter(None, [*words, settings]))
