# SPDX-License-Identifier: BSD-2-Clause
"""`moderato tcp`: transfers of variants, directions and links, as tables."""

import itertools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..explain import symbols
from ..measure.trial import CAPTURES
from ..run import farm, state, store
from ..run.machine import Machine, machine
from ..run.state import State
from ..run.system import System
from ..run.variants import INTERFACES
from ..show import delivery, outputs
from . import exchange, tables, tracing
from .transfer import Transfer


def tcp(directions: Mapping[str, bool], variants: Sequence[str], links: Sequence[int], like: Transfer,
        system: System, json: Path | None, results: Path | None, scheduler: str | None) -> int:
    """Run a transfer `like` one in each direction, with each variant and link; prints a table.

    directions: with GRO in the guest, or without. Each record is kept in `results` (by default in
    the build cache), and not made again. Returns the exit status: 1 if a transfer is unsound.
    """
    wanted = [replace(like, direction=direction, variant=variant, link_mbps=link,
                      gro=directions[direction])
              for link, direction, variant in itertools.product(links, directions, variants)]
    for each in wanted:
        if each.captures:
            outputs.require_ours(each.captures, CAPTURES)

    return show(wanted, lambda: {link: machine(link, system) for link in links}, results, scheduler,
                tables.render, json, like.pcap)


def show(wanted: Sequence[Transfer], machines: Callable[[], dict[int, Machine]],
         results: Path | None, scheduler: str | None, render: Callable[[Sequence[dict]], str],
         json: Path | None, pcap: Path | None = None) -> int:
    """Run transfers and print what `render` makes of their records; returns the exit status."""
    def deliver(found: dict[tuple, dict], part: delivery.Part) -> int:
        records = in_order(wanted, found.values())
        delivery.deliver(lambda: render(records) + part.note, (
            json, lambda path: outputs.write_json(path, part.mark(records))), made=pcap)
        return report_problems(records)

    return delivery.keep(lambda found: run(wanted, machines(), results, scheduler, found),
                         len(wanted), deliver)


def run(wanted: Sequence[Transfer], machines: dict[int, Machine], results: Path | None,
        scheduler: str | None, found: dict[tuple, dict]):
    """Put the records of transfers into `found`, each when its transfer ends.

    machines: by their line rates.
    """
    states = {each: ready(machines[each.link_mbps], each) for each in wanted}
    different = {each.folder: each for each in states.values()}
    for each in different.values():
        each.open().end()  # a damaged checkpoint is made again now, not found by a worker
    if any(each.profile for each in wanted):
        names = {folder: symbols.text(symbols.of_guest(state))
                 for folder, state in different.items()}
        states = {replace(each, symbols=names[state.folder]): state
                  for each, state in states.items()}
    states = {replace(each, before=tuple(state.counters().per_hart)): state
              for each, state in states.items()}
    # Captures are made in the transfers: those that are kept have none.
    kept = store.Store(results or store.default("tcp"), anew=any(each.pcap for each in wanted))
    with farm.farm(scheduler) as workers:
        workers.run({(each,): job(each) for each in states}, exchange.run, states.get, kept,
                    "transfers", found)
    kept.name()


def in_order(wanted: Sequence[Transfer], records: Iterable[dict]) -> list[dict]:
    """Records in the order in which they were wanted, as --json has them."""
    place = {each.name: number for number, each in enumerate(wanted)}
    return [record | {"nic": record["conditions"]["nic"],
                      "ethtool": record["conditions"].get("ethtool", [])}
            for record in sorted(records, key=lambda record: place[record["name"]])]


def job(wanted: Transfer) -> farm.Job:
    return (yield wanted)


def ready(of: Machine, wanted: Transfer) -> State:
    """The variant chosen, and the guest's program in place."""
    settings = [*(["gro on"] * wanted.gro), *(f"{feature} off" for feature in wanted.off)]
    return state.carrying(state.ready(of, wanted.variant), exchange.STREAM, program(wanted.zerocopy),
                          [*(f"ethtool -K {name} {' '.join(settings)}" for name in INTERFACES
                             if settings), *tracing.commands(wanted.kernel)])


def program(zerocopy: bool) -> Path:
    from moderato.soc.linux.userspace import own
    return own("stream", "ZEROCOPY") if zerocopy else own("stream")


def report_problems(records: Sequence[dict]) -> int:
    """Say on standard error what makes transfers unsound; the exit status."""
    for record in records:
        for problem in record["problems"]:
            print(f"moderato: transfer {record['name']} is unsound: {problem}", file=sys.stderr)
    return 1 if any(record["problems"] for record in records) else 0
