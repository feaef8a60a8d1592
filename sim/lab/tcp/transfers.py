# SPDX-License-Identifier: BSD-2-Clause
"""`moderato tcp`: transfers of variants, directions and links, as tables."""

import itertools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..explain import symbols
from ..measure import estimate
from ..measure.trial import CAPTURES
from ..run import runner, state, store
from ..run.machine import Machine, machine
from ..run.state import State
from ..run.store import Store, Where
from ..run.system import System
from ..run.variants import INTERFACES
from ..show import delivery, outputs
from . import exchange, tracing, transfer_tables
from .transfer import Transfer


@dataclass(frozen=True)
class Request:
    """Transfers, the system that they run on, and the files to write."""

    transfers: Sequence[Transfer]
    system: System = System()
    json: Path | None = None
    where: Where = Where()
    patient: bool = False  # accept transfers that take hours,
    instead: str = "give less of --bytes, --connections or --variant"  # of that


def each_way(
    like: Transfer, directions: Mapping[str, bool], variants: Sequence[str], links: Sequence[int]
) -> list[Transfer]:
    """Copies of transfer `like` for all combinations: each direction (value: GRO in the guest), each
    variant, each line rate in Mb/s."""
    return [
        replace(like, direction=direction, variant=variant, link_mbps=link, gro=directions[direction])
        for link, direction, variant in itertools.product(links, directions, variants)
    ]


def tcp(wanted: Request, render: Callable[[Sequence[dict]], str] = transfer_tables.render) -> int:
    """Run the transfers and print their records with `render`; returns the exit status: 1 if a transfer
    is unsound. Stored records are not made again.
    """
    transfers = wanted.transfers
    estimate.require_wanted(
        [each.seconds for each in transfers], wanted.patient, wanted.system, wanted.instead
    )
    for each in transfers:
        if each.captures:
            outputs.require_ours(each.captures, CAPTURES)

    def deliver(found: dict[tuple, dict], part: delivery.Part) -> int:
        records = in_order(transfers, found.values())
        delivery.deliver(
            lambda: render(records) + part.note,
            (wanted.json, lambda path: outputs.write_json(path, part.mark(records))),
            made=transfers[0].pcap,
            conditions=records[0]["conditions"],
        )
        return report_problems(records)

    with outputs.not_left_empty(transfers[0].pcap):
        return delivery.keep(lambda found: run(wanted, found), len(transfers), deliver)


def run(wanted: Request, found: dict[tuple, dict]):
    """Put the records of the transfers into `found`, each when its transfer ends."""
    # Only a new transfer makes captures, so stored records are not used.
    kept = Store(
        wanted.where.results or store.default("tcp"), again=any(each.pcap for each in wanted.transfers)
    )
    runner.require_scheduler(wanted.where.scheduler)
    links = dict.fromkeys(each.link_mbps for each in wanted.transfers)
    machines = {link: machine(link, wanted.system) for link in links}
    states = {each: ready(machines[each.link_mbps], each) for each in wanted.transfers}
    different = {each.folder: each for each in states.values()}
    for each in different.values():
        each.open().end()  # replaces a damaged checkpoint before a worker finds it
    if any(each.profile for each in wanted.transfers):
        names = {folder: symbols.text(symbols.of_guest(state)) for folder, state in different.items()}
        states = {replace(each, symbols=names[state.folder]): state for each, state in states.items()}
    states = {
        replace(each, before=tuple(state.counters().per_hart)): state for each, state in states.items()
    }
    with runner.runner(wanted.where.scheduler) as workers:
        workers.run(
            {(each,): job(each) for each in states},
            exchange.run,
            states.__getitem__,
            kept,
            "transfers",
            found,
        )
    kept.name()


def in_order(wanted: Sequence[Transfer], records: Iterable[dict]) -> list[dict]:
    """Records in the order of the requested transfers, for --json."""
    place = {each.name: number for number, each in enumerate(wanted)}
    return [
        record | {"nic": record["conditions"]["nic"], "ethtool": record["conditions"].get("ethtool", [])}
        for record in sorted(records, key=lambda record: place[record["name"]])
    ]


def job(wanted: Transfer) -> runner.Series:
    return (yield wanted)


def ready(of: Machine, wanted: Transfer) -> State:
    """The state with the variant chosen, and the program in the guest."""
    settings = [*(["gro on"] * wanted.gro), *(f"{feature} off" for feature in wanted.off)]
    return state.carrying(
        state.ready(of, wanted.variant),
        exchange.STREAM,
        program(wanted.zerocopy),
        [
            *(f"ethtool -K {name} {' '.join(settings)}" for name in INTERFACES if settings),
            *tracing.commands(wanted.kernel),
        ],
    )


def program(zerocopy: bool) -> Path:
    from moderato.soc.linux.userspace import own

    return own("stream", "ZEROCOPY") if zerocopy else own("stream")


def report_problems(records: Sequence[dict]) -> int:
    """Print on standard error why transfers are unsound; returns the exit status."""
    for record in records:
        for problem in record["problems"]:
            print(f"moderato: transfer {record['name']} is unsound: {problem}", file=sys.stderr)
    return 1 if any(record["problems"] for record in records) else 0
