# SPDX-License-Identifier: BSD-2-Clause
"""`moderato rfc2544`: RFC 2544's tests of variants and frame sizes, as tables."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from ..measure import estimate
from ..measure.results import frame_rate
from ..measure.traffic import Traffic
from ..run import runner, state, store
from ..run.machine import machine
from ..run.system import System
from ..show import delivery
from . import SEARCHES, search_tables, tests, trials
from .tests import Cell

# Trials that `./moderato results` needed for each variant, within a factor of two: see expected().
TRIALS = 3  # whole ones of a search to 1 %; those that fail give up early
PORT_RATE = 3000  # frames/s of each port that the slower variants sustain
BURST_SECONDS = 0.07  # simulated, of one of nine bursts, with what drains after it


@dataclass(frozen=True)
class Request:
    """RFC 2544's tests of each variant with each frame size."""

    tests: Sequence[str]  # by their names: throughput, latency, loss, burst, ...
    variants: Sequence[str]  # of the system's NIC (variants.NICS)
    frame_sizes: Sequence[int]  # octets, with the FCS
    loads: Sequence[float]  # percent of the line rate, for `loss`
    phases: int = 1  # between the two generators, with which a search is repeated
    resolution: float = 1.0  # percent of the rate, to which a throughput is found
    link_mbps: int = 100
    system: System = System()
    traffic: Traffic = Traffic()
    where: store.Where = store.Where()
    patient: bool = False  # also if it takes hours

    @property
    def searches(self) -> bool:
        return bool(SEARCHES & set(self.tests))

    def cells(self, sizes: Sequence[int]) -> list[Cell]:
        """The tests' variants with some frame sizes."""
        return [
            Cell(variant, size, self.link_mbps, self.resolution, self.traffic)
            for size in sizes
            for variant in self.variants
        ]


def rfc2544(wanted: Request) -> int:
    """Run the tests; prints tables, returns the exit status: 1 if a trial is unsound.

    Each trial is kept and not run again.
    """
    names, cells = wanted.tests, wanted.cells
    if "loss" in names:
        estimate.require_short(longest(wanted), wanted.patient, wanted.system)
    kept = store.Store(wanted.where.results or store.default())
    runner.require_scheduler(wanted.where.scheduler)
    if wanted.where.scheduler is None:  # else the number of workers is unknown
        estimate.announce_searches(expected(wanted), wanted.patient, wanted.system)
    shares = phase_shares(wanted.phases)

    def work(found: dict):
        states = state.prepare(machine(wanted.link_mbps, wanted.system), wanted.variants)
        for each in states.values():
            each.open().end()  # a damaged checkpoint is made again now, not found by a worker
        with runner.runner(wanted.where.scheduler) as workers:

            def run(jobs: dict):
                workers.run(jobs, trials.run, lambda task: states[task.variant], kept, found=found)

            if wanted.searches:
                # The rate hardly depends on the size: the first size's answers are the others' guesses.
                first, *others = wanted.frame_sizes
                run({("throughput", cell): tests.throughput(cell, shares) for cell in cells([first])})
                alike = {cell.variant: answer for (_, cell), answer in found.items()}
                run(
                    {
                        ("throughput", cell): tests.throughput(cell, shares, alike[cell.variant])
                        for cell in cells(others)
                    }
                )
            rate = {cell: answer[0] if answer else None for (_, cell), answer in found.items()}
            jobs = {
                "loss": lambda cell: tests.loss(cell, wanted.loads, shares[0]),
                "burst": lambda cell: tests.burst(cell, shares[0]),
                "recovery": lambda cell: tests.recovery(cell, rate[cell], shares[0]),
                "reset": lambda cell: tests.reset(cell, rate[cell], shares[0]),
            }
            run(
                {
                    (name, cell): jobs[name](cell)
                    for name in names
                    if name in jobs
                    for cell in cells(wanted.frame_sizes)
                }
            )

    job = {name: "throughput" if name == "latency" else name for name in names}

    def render(found: dict, name: str) -> str:
        there = {
            cell: found[job[name], cell]
            for cell in cells(wanted.frame_sizes)
            if (job[name], cell) in found
        }
        return search_tables.RENDER[name](there) + "\n" if there else ""

    def show(found: dict, part: delivery.Part) -> int:
        delivery.deliver(
            lambda: "".join(render(found, name) for name in names) + part.note,
            conditions=kept.used[0]["conditions"] if kept.used else None,
        )
        unsound = {
            f"{record['name']} is unsound: {problem}"
            for record in kept.used
            for problem in record["problems"]
        }
        for line in sorted(unsound):
            print(f"moderato: trial {line}", file=sys.stderr)
        kept.name()
        return 1 if unsound else 0

    jobs = set(job.values()) | ({"throughput"} if wanted.searches else set())
    return delivery.keep(work, len(jobs) * len(cells(wanted.frame_sizes)), show)


def longest(wanted: Request) -> float:
    """Simulated seconds of the longest trial of the loss test: few frames at a low load."""
    return max(_steady(cell, min(wanted.loads)) for cell in wanted.cells(wanted.frame_sizes))


def expected(wanted: Request) -> list[float]:
    """Simulated seconds of about the trials that the tests make."""
    return [seconds for cell in wanted.cells(wanted.frame_sizes) for seconds in _expected(wanted, cell)]


def _expected(wanted: Request, cell: Cell) -> list[float]:
    """Simulated seconds of the trials of one variant and frame size."""
    most = frame_rate(cell.frame_bytes, 100, cell.link_mbps)
    load = min(100, 100 * PORT_RATE / most)
    found = []
    if wanted.searches:
        finer = round(max(0, math.log2(1 / cell.resolution)))
        found += [_steady(cell, load)] * (TRIALS + finer) * wanted.phases
    if "loss" in wanted.tests:
        found += [_steady(cell, each) for each in wanted.loads]
    if "burst" in wanted.tests:
        found += [BURST_SECONDS] * 9
    if "recovery" in wanted.tests:
        rate = most * min(100, 1.1 * load) / 100
        found.append(tests.RECOVERY_FRAMES / rate + 2 * trials.FRAMES / rate)
    if "reset" in wanted.tests:
        found.append(tests.RESET_SECONDS)
    return found


def _steady(cell: Cell, load: float) -> float:
    """Simulated seconds of a steady trial."""
    return cell.steady(load, 0).frames / frame_rate(cell.frame_bytes, load, cell.link_mbps)


def phase_shares(count: int) -> list[float]:
    """Shares of a slot by which the second generator is late: a half, none, quarters, eighths."""
    shares, denominator = [0.5, 0.0], 4
    while len(shares) < count:
        shares += [odd / denominator for odd in range(1, denominator, 2)]
        denominator *= 2
    return shares[:count]
