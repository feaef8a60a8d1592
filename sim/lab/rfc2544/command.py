# SPDX-License-Identifier: BSD-2-Clause
"""`moderato rfc2544`: RFC 2544's tests of variants and frame sizes, as tables."""

import sys
from collections.abc import Sequence
from pathlib import Path

from ..measure import estimate
from ..measure.results import frame_rate
from ..run import farm, state, store
from ..run.machine import machine
from ..run.system import System
from . import search_tables, tests, trials
from .tests import Cell


def rfc2544(names: Sequence[str], variants: Sequence[str], frame_sizes: Sequence[int],
            loads: Sequence[float], phases: int, resolution: float, link_mbps: int,
            scheduler: str | None, results: Path | None, system: System = System(),
            patient: bool = False) -> int:
    """Run the tests named on every variant and frame size; prints tables, returns the status.

    Each trial is kept in `results` (by default in the build cache) and not run again.
    patient: also if one trial takes hours.
    """
    if "loss" in names:
        estimate.require_short(longest(variants, frame_sizes, loads, link_mbps, resolution), patient)
    kept = store.Store(results or store.default())
    of = machine(link_mbps, system)
    states = state.prepare(of, variants)
    for each in states.values():
        each.open().end()  # a damaged checkpoint is made again now, not found by a worker
    shares = phase_shares(phases)

    def cells(sizes: Sequence[int]) -> list[Cell]:
        return [Cell(variant, size, link_mbps, resolution) for size in sizes for variant in variants]

    found = {}
    with farm.farm(scheduler) as workers:
        def run(jobs: dict):
            found.update(workers.run(jobs, trials.run, lambda task: states[task.variant], kept))

        if {"throughput", "latency", "recovery", "reset"} & set(names):
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
    for name in names:
        job = "throughput" if name == "latency" else name
        print(search_tables.RENDER[name]({cell: found[job, cell] for cell in cells(frame_sizes)}))
    unsound = {f"{record['name']} is unsound: {problem}"
               for record in kept.used for problem in record["problems"]}
    for line in sorted(unsound):
        print(f"moderato: trial {line}", file=sys.stderr)
    kept.name()
    return 1 if unsound else 0


def longest(variants: Sequence[str], frame_sizes: Sequence[int], loads: Sequence[float],
            link_mbps: int, resolution: float) -> float:
    """Simulated seconds of the longest trial of the loss test: few frames at a low load."""
    tasks = [trials.steady(variants[0], size, link_mbps, min(loads), 0, resolution)
             for size in frame_sizes]
    return max(task.frames / frame_rate(task.frame_bytes, task.load_percent, link_mbps)
               for task in tasks)


def phase_shares(count: int) -> list[float]:
    """Shares of a slot by which the second generator is late: a half, none, quarters, eighths."""
    shares, denominator = [0.5, 0.0], 4
    while len(shares) < count:
        shares += [odd / denominator for odd in range(1, denominator, 2)]
        denominator *= 2
    return shares[:count]
