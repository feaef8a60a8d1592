# SPDX-License-Identifier: BSD-2-Clause
"""Goodput over TCP, of each variant and link: into the guest, out of it and through it."""

from collections.abc import Iterable, Sequence

from ..receiver import study
from ..tcp.transfer import DIRECTIONS, Transfer, gro_said
from .paper import VARIANTS
from .records import conditions, row
from .table import Table, number


def table(records: Sequence[dict]) -> Table | None:
    """A row per variant, a column per link and direction, without the transfers of a study."""
    cells = {
        (_row(record), record["link_mbps"], record["direction"]): record
        for record in plain_last(records)
        if not study.has(record)
    }
    if not cells:
        return None
    rows = dict.fromkeys(
        [
            *(name for name in VARIANTS if any(name == said for said, *_ in cells)),
            *(said for said, *_ in cells),
        ]
    )
    columns = sorted(
        {(link, direction) for _, link, direction in cells},
        key=lambda each: (each[0], DIRECTIONS.index(each[1])),
    )
    head = ["", *(f"{direction}, {link} Mb/s" for link, direction in columns)]
    return Table(
        "tcp-goodput",
        "Goodput over TCP in steady state, Mb/s; in brackets: CPU idle, %",
        head,
        [[said, *(_cell(cells.get((said, *column))) for column in columns)] for said in rows],
        [
            "In: the guest receives; out: it sends; through: it forwards. One connection "
            "with segments of 1448 octets. Marked with *: the transfer was not steady."
        ],
    )


def plain_last(records: Iterable[dict]) -> list[dict]:
    """In this order, a record without a profile replaces one with the same key. With a profile the
    figures are the same, because the simulator's profiler does not disturb the guest."""
    return sorted(records, key=lambda record: "profile" not in record)


def _row(record: dict) -> str:
    more = [f"{record['connections']} connections"] * (record["connections"] > 1)
    more += filter(None, [gro_said(record["direction"], record["gro"])])
    more += [f"kernel {record['kernel']}"] * (record["kernel"] != "normal")
    return ", ".join([row(record), *more, *settings(record)])


def settings(record: dict) -> list[str]:
    """Unusual settings of both ends, except GRO. Older records lack some fields."""
    words = [f"ethtool {setting}" for setting in conditions(record).get("ethtool", [])]
    words += [f"buffers of {record['socket']}"] * bool(record["socket"])
    words += [f"window of {record['window']}"] * (record["window"] != Transfer.window)
    size = record.get("user_buffer", Transfer.user_buffer)
    words += [f"user buffer of {size}"] * (size != Transfer.user_buffer)
    if record["octets"] != Transfer.octets:
        words.append(f"{record['octets']} octets" + " each" * (record["connections"] > 1))
    words += [f"{feature} off" for feature in record.get("off", [])]
    words += ["zerocopy"] * bool(record.get("zerocopy")) + ["checked"] * bool(record.get("check"))
    program, peer = record.get("program", Transfer.program), record.get("peer")
    words += [program] * (program != Transfer.program) + list(record.get("faults", []))
    return words + [f"the peer {peer}"] * bool(peer)


def _cell(record: dict | None) -> str:
    if record is None:
        return number(None, 1)
    return (
        f"{record['goodput_mbps']:.1f}{'*' * bool(record['problems'])} "
        f"({record['cpu_idle_percent']:.0f})"
    )
