# SPDX-License-Identifier: BSD-2-Clause
"""`moderato ontime`: the ways to send at a launch time, side by side, as a table."""

import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from moderato.soc.linux.kernel import TIME as KERNEL
from moderato.soc.linux.kernel import Choice

from ..measure import estimate
from ..run import runner
from ..run.machine import machine
from ..run.system import System
from ..run.variants import TIME
from ..show import delivery, outputs
from . import ontime_tables, runs
from .runs import Run
from .ways import WAYS


@dataclass(frozen=True)
class Request:
    """Frames with launch times, sent in each way. For other fields see Run."""

    frames: int = Run.frames
    interval: int = Run.interval
    link_mbps: int = Run.link_mbps
    load_percent: float = Run.load_percent
    frame_bytes: int = Run.frame_bytes
    harts: int = 1
    ways: Sequence[str] = field(default_factory=lambda: list(WAYS))
    json: Path | None = None
    patient: bool = False  # accept runs that take hours

    @property
    def system(self) -> System:
        return System(TIME, Choice(KERNEL), self.harts)

    def runs(self) -> list[Run]:
        """In the order of the table's rows. At 10 Mb/s, the gates have no time for a frame."""
        return [
            Run(
                WAYS[name],
                self.frames,
                self.interval,
                self.link_mbps,
                self.load_percent,
                self.frame_bytes,
            )
            for name in self.ways
            if self.link_mbps > 10 or not WAYS[name].gates
        ]


def ontime(wanted: Request) -> int:
    """Do the runs; prints the tables, returns the exit status: 1 if a run is unsound."""
    every = wanted.runs()
    estimate.announce(
        [each.seconds for each in every],
        wanted.patient,
        wanted.system,
        "give fewer --frames or a shorter --interval",
    )
    of = machine(wanted.link_mbps, wanted.system)

    def work(found: dict[int, dict]):
        ready = runs.ready(of)
        runner.run_all(
            [(each.way.name, functools.partial(runs.run, each, ready)) for each in every], "ways", found
        )

    def show(found: dict[int, dict], part: delivery.Part) -> int:
        records = [found[number] for number in sorted(found)]
        delivery.deliver(
            lambda: ontime_tables.render(records) + part.note,
            (wanted.json, lambda path: outputs.write_json(path, part.mark(records))),
            conditions=of.conditions,
        )
        return report_problems(records)

    return delivery.keep(work, len(every), show)


def report_problems(records: Sequence[dict]) -> int:
    """Print on standard error why runs are unsound; returns the exit status."""
    for record in records:
        for problem in record["problems"]:
            print(f"moderato: run {record['name']} is unsound: {problem}", file=sys.stderr)
    return 1 if any(record["problems"] for record in records) else 0
