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

# Typical trials of `./moderato results` for each variant, within a factor of two: see expected().
TRIALS = 3  # complete ones in a search to 1 %; failing ones end early
PORT_RATE = 3000  # frames/s that the slower variants sustain at each port
BURST_SECONDS = 0.07  # simulated time of one of nine bursts, including the draining of queues


@dataclass(frozen=True)
class Request:
    """RFC 2544's tests of each variant with each frame size."""

    tests: Sequence[str]  # throughput, latency, loss, burst, ...
    variants: Sequence[str]  # one or more of the NIC's (variants.NICS)
    frame_sizes: Sequence[int]  # octets, with the FCS
    loads: Sequence[float]  # percent of the line rate, for `loss`
    phases: int = 1  # phases between the two generators for which a search is repeated
    resolution: float = 1.0  # percent of the rate: the resolution of a throughput
    link_mbps: int = 100
    system: System = System()
    traffic: Traffic = Traffic()
    where: store.Where = store.Where()
    patient: bool = False  # accept trials that take hours

    @property
    def searches(self) -> bool:
        return bool(SEARCHES & set(self.tests))

    def cells(self, sizes: Sequence[int]) -> list[Cell]:
        """The tests' variants with these frame sizes."""
        return [
            Cell(variant, size, self.link_mbps, self.resolution, self.traffic)
            for size in sizes
            for variant in self.variants
        ]


def rfc2544(wanted: Request) -> int:
    """Run the tests; prints tables, returns the exit status: 1 if a trial is unsound.

    Stored trials are not run again.
    """
    names, cells = wanted.tests, wanted.cells
    if "loss" in names:
        estimate.require_short(longest(wanted), wanted.patient, wanted.system)
    kept = store.Store(wanted.where.results or store.default())
    runner.require_scheduler(wanted.where.scheduler)
    if wanted.where.scheduler is None:  # the number of a scheduler's workers is unknown
        estimate.announce_searches(expected(wanted), wanted.patient, wanted.system)
    shares = phase_shares(wanted.phases)

    def work(found: dict):
        states = state.prepare(machine(wanted.link_mbps, wanted.system), wanted.variants)
        for each in states.values():
            each.open().end()  # replaces a damaged checkpoint before a worker finds it
        with runner.runner(wanted.where.scheduler) as workers:

            def run(jobs: dict):
                workers.run(jobs, trials.run, lambda task: states[task.variant], kept, found=found)

            if wanted.searches:
                # The rate hardly depends on the size: results of the first size are the guesses for the
                # others.
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
    """Simulated seconds of the loss test's longest trial: its frames take long at a low load."""
    return max(_steady(cell, min(wanted.loads)) for cell in wanted.cells(wanted.frame_sizes))


def expected(wanted: Request) -> list[float]:
    """Simulated seconds of the trials that the tests will need, roughly."""
    return [seconds for cell in wanted.cells(wanted.frame_sizes) for seconds in _expected(wanted, cell)]


def _expected(wanted: Request, cell: Cell) -> list[float]:
    """Simulated seconds of the trials for one variant and frame size."""
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
    """Phases, as shares of a slot, of the second generator: a half, none, quarters, eighths."""
    shares, denominator = [0.5, 0.0], 4
    while len(shares) < count:
        shares += [odd / denominator for odd in range(1, denominator, 2)]
        denominator *= 2
    return shares[:count]
