# SPDX-License-Identifier: BSD-2-Clause
"""`moderato forward`: trials of variants and frame sizes, side by side, as a table."""

import functools
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path


from ..run import pool, state
from ..run.machine import Machine, machine
from ..run.system import System
from ..show import delivery, outputs
from . import estimate, trial, trial_tables
from .results import Result, Trial, frames_for
from .traffic import Traffic

# Of simulated time in which a trial's frames are offered: NAPI forwards four rings of them.
DEFAULT_SECONDS = 0.2


def forward(variants: Sequence[str], frame_sizes: Sequence[int], loads: Sequence[float],
            frames: int | None, link_mbps: int, json: Path | None, pcap: Path | None,
            system: System = System(), traffic: Traffic = Traffic(), patient: bool = False) -> int:
    """Run every variant with every frame size and load; prints the table, returns the exit status.

    `variants` are among those of `nic` (variants.NICS). patient: also if that takes hours.
    """
    trials = []
    for size, load in itertools.product(frame_sizes, loads):
        count = frames or frames_for(DEFAULT_SECONDS, size, load, link_mbps)
        trials += [Trial(variant, size, load, count, link_mbps, pcap, traffic=traffic)
                   for variant in variants]
    for each in trials:
        if each.captures:
            outputs.require_ours(each.captures, trial.CAPTURES)
    estimate.announce([each.seconds for each in trials], patient, system.harts,
                      "give fewer --frames or a higher --load")

    def show(found: dict[int, Result], part: delivery.Part) -> int:
        results = [found[number] for number in sorted(found)]
        delivery.deliver(lambda: trial_tables.render(results) + part.note, (json, lambda path: (
            outputs.write_json(path, part.mark([result.as_json() for result in results])))),
            made=pcap)
        return report_problems(results)

    return delivery.keep(lambda found: run(machine(link_mbps, system), trials, found), len(trials),
                         show)


def run(of: Machine, trials: Sequence[Trial], found: dict[int, Result] | None = None) -> list[Result]:
    """The results of trials, in their order. found: as for pool.run_all()."""
    states = state.prepare(of, list(dict.fromkeys(each.variant for each in trials)))
    return pool.run_all([(each.name, functools.partial(trial.run, each, states[each.variant]))
                         for each in trials], "trials", found)


def report_problems(results: Sequence[Result]) -> int:
    """Say on standard error what makes trials unsound; the exit status."""
    for result in results:
        for problem in result.problems:
            print(f"moderato: trial {result.trial.name} is unsound: {problem}", file=sys.stderr)
    return 1 if any(result.problems for result in results) else 0
