# SPDX-License-Identifier: BSD-2-Clause
"""`moderato rfc2544`: RFC 2544's tests of variants and frame sizes, as tables."""

import math
import sys
from collections.abc import Sequence
from pathlib import Path

from ..measure import estimate
from ..measure.results import frame_rate
from ..measure.traffic import Traffic
from ..run import farm, state, store
from ..run.machine import machine
from ..run.system import System
from ..show import delivery
from . import SEARCHES, search_tables, tests, trials
from .tests import Cell


# What `./moderato results` took of each variant, within a factor of two: see expected().
TRIALS = 3           # whole ones of a search to 1 %; those that fail give up early
PORT_RATE = 3000     # frames/s of each port that the slower variants sustain
BURST_SECONDS = 0.07  # simulated, of one of nine bursts, with what drains after it


def rfc2544(names: Sequence[str], variants: Sequence[str], frame_sizes: Sequence[int],
            loads: Sequence[float], phases: int, resolution: float, link_mbps: int,
            scheduler: str | None, results: Path | None, system: System = System(),
            traffic: Traffic = Traffic(), patient: bool = False) -> int:
    """Run the tests named on every variant and frame size; prints tables, returns the status.

    Each trial is kept in `results` (by default in the build cache) and not run again.
    patient: also if it takes hours.
    """
    if "loss" in names:
        estimate.require_short(longest(frame_sizes, loads, link_mbps, resolution), patient,
                               system.harts)
    kept = store.Store(results or store.default())
    if scheduler is None:  # else nobody knows how many work on it
        estimate.announce_searches(
            [seconds for size in frame_sizes
             for seconds in expected(names, size, loads, phases, resolution, link_mbps)
             for _ in variants], patient, system.harts)
    shares = phase_shares(phases)

    def cells(sizes: Sequence[int]) -> list[Cell]:
        return [Cell(variant, size, link_mbps, resolution, traffic)
                for size in sizes for variant in variants]

    def work(found: dict):
        states = state.prepare(machine(link_mbps, system), variants)
        for each in states.values():
            each.open().end()  # a damaged checkpoint is made again now, not found by a worker
        with farm.farm(scheduler) as workers:
            def run(jobs: dict):
                workers.run(jobs, trials.run, lambda task: states[task.variant], kept, found=found)

            if SEARCHES & set(names):
                # The rate hardly depends on the size: the first size's answers are the others' guesses.
                first, *others = frame_sizes
                run({("throughput", cell): tests.throughput(cell, shares) for cell in cells([first])})
                alike = {cell.variant: answer for (_, cell), answer in found.items()}
                run({("throughput", cell): tests.throughput(cell, shares, alike[cell.variant])
                     for cell in cells(others)})
            rate = {cell: answer[0] if answer else None for (_, cell), answer in found.items()}
            jobs = {
                "loss":     lambda cell: tests.loss(cell, loads, shares[0]),
                "burst":    lambda cell: tests.burst(cell, shares[0]),
                "recovery": lambda cell: tests.recovery(cell, rate[cell], shares[0]),
                "reset":    lambda cell: tests.reset(cell, rate[cell], shares[0]),
            }
            run({(name, cell): jobs[name](cell)
                 for name in names if name in jobs for cell in cells(frame_sizes)})

    job = {name: "throughput" if name == "latency" else name for name in names}

    def render(found: dict, name: str) -> str:
        there = {cell: found[job[name], cell] for cell in cells(frame_sizes)
                 if (job[name], cell) in found}
        return search_tables.RENDER[name](there) + "\n" if there else ""

    def show(found: dict, part: delivery.Part) -> int:
        delivery.deliver(lambda: "".join(render(found, name) for name in names) + part.note)
        unsound = {f"{record['name']} is unsound: {problem}"
                   for record in kept.used for problem in record["problems"]}
        for line in sorted(unsound):
            print(f"moderato: trial {line}", file=sys.stderr)
        kept.name()
        return 1 if unsound else 0

    wanted = set(job.values()) | ({"throughput"} if SEARCHES & set(names) else set())
    return delivery.keep(work, len(wanted) * len(variants) * len(frame_sizes), show)


def longest(frame_sizes: Sequence[int], loads: Sequence[float], link_mbps: int,
            resolution: float) -> float:
    """Simulated seconds of the longest trial of the loss test: few frames at a low load."""
    return max(_steady(size, min(loads), link_mbps, resolution) for size in frame_sizes)


def expected(names: Sequence[str], size: int, loads: Sequence[float], phases: int,
             resolution: float, link_mbps: int) -> list[float]:
    """Simulated seconds of about the trials that the tests make of one variant and frame size."""
    most = frame_rate(size, 100, link_mbps)
    load = min(100, 100 * PORT_RATE / most)
    found = []
    if SEARCHES & set(names):
        finer = round(max(0, math.log2(1 / resolution)))
        found += [_steady(size, load, link_mbps, resolution)] * (TRIALS + finer) * phases
    if "loss" in names:
        found += [_steady(size, each, link_mbps, resolution) for each in loads]
    if "burst" in names:
        found += [BURST_SECONDS] * 9
    if "recovery" in names:
        rate = most * min(100, 1.1 * load) / 100
        found.append(tests.RECOVERY_FRAMES / rate + 2 * trials.FRAMES / rate)
    if "reset" in names:
        found.append(tests.RESET_SECONDS)
    return found


def _steady(size: int, load: float, link_mbps: int, resolution: float) -> float:
    """Simulated seconds of a steady trial, of any variant."""
    task = trials.steady("", size, link_mbps, load, 0, resolution)
    return task.frames / frame_rate(size, load, link_mbps)


def phase_shares(count: int) -> list[float]:
    """Shares of a slot by which the second generator is late: a half, none, quarters, eighths."""
    shares, denominator = [0.5, 0.0], 4
    while len(shares) < count:
        shares += [odd / denominator for odd in range(1, denominator, 2)]
        denominator *= 2
    return shares[:count]
