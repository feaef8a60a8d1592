# SPDX-License-Identifier: BSD-2-Clause
"""`moderato forward`: trials of variants and frame sizes, side by side, as a table."""

import functools
import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from moderato.toolchain.project import ROOT

from ..run import runner, state
from ..run.machine import Machine, machine
from ..run.system import System
from ..show import delivery, outputs
from ..wave import again
from ..wave.triggers import BAD
from . import estimate, trial, trial_tables
from .results import Result, Trial, frames_for
from .traffic import Traffic

# Simulated seconds of load in a trial: with NAPI, long enough to forward four rings of frames.
DEFAULT_SECONDS = 0.2
PUBLISHED = ROOT / "docs/data/forward/lab.json"


@dataclass(frozen=True)
class Request:
    """Trials of each variant with each frame size and load, and the files to write."""

    variants: Sequence[str]  # one or more of the NIC's (variants.NICS)
    frame_sizes: Sequence[int]  # octets, with the FCS
    loads: Sequence[float]  # percent of the line rate, into each port
    frames: int | None = None  # into each port; None: as many as DEFAULT_SECONDS allow
    link_mbps: int = 100
    json: Path | None = None
    pcap: Path | None = None  # a folder
    system: System = System()
    traffic: Traffic = Traffic()
    patient: bool = False  # accept trials that take hours

    def trials(self) -> Iterator[Trial]:
        """In the order of the table's rows."""
        for size, load in itertools.product(self.frame_sizes, self.loads):
            count = self.frames or frames_for(DEFAULT_SECONDS, size, load, self.link_mbps)
            for variant in self.variants:
                yield Trial(variant, size, load, count, self.link_mbps, self.pcap, traffic=self.traffic)


def forward(wanted: Request) -> int:
    """Run the trials; prints the table, returns the exit status: 1 if one of them is unsound."""
    trials = [*wanted.trials()]
    for each in trials:
        if each.captures:
            outputs.require_ours(each.captures, trial.CAPTURES)
    estimate.announce(
        [each.seconds for each in trials],
        wanted.patient,
        wanted.system,
        "give fewer --frames or a higher --load",
    )

    of = machine(wanted.link_mbps, wanted.system)
    for line in other_tools(of.conditions):
        print(f"moderato: {line}", file=sys.stderr)

    def show(found: dict[int, Result], part: delivery.Part) -> int:
        results = [found[number] for number in sorted(found)]
        delivery.deliver(
            lambda: trial_tables.render(results) + part.note,
            (wanted.json, lambda path: outputs.write_json(path, part.mark(objects(results, of)))),
            made=wanted.pcap,
            conditions=of.conditions,
        )
        return report_problems(results, wanted.system)

    with outputs.not_left_empty(wanted.pcap):
        return delivery.keep(lambda found: run(of, trials, found), len(trials), show)


def other_tools(here: dict) -> list[str]:
    """Sentences about tools that affect figures, if they differ from those of the published table."""
    published = json.loads(PUBLISHED.read_text())[0]["conditions"]
    return [
        f"published figures were made with {published[name]}, these with {here[name]}: they can differ"
        for name in ("kernel_source", "compiler")
        if published.get(name, here[name]) != here[name]
    ]


def objects(results: Sequence[Result], of: Machine) -> list[dict]:
    """The content of --json: each result, and the cycle of the shell's first prompt on the machine."""
    boot = state.booted(of).cycle() if results else None
    return [result.as_json() | {"boot_cycles": boot} for result in results]


def run(of: Machine, trials: Sequence[Trial], found: dict[int, Result] | None = None) -> list[Result]:
    """The results of trials, in their order. found: see runner.run_all()."""
    states = state.prepare(of, list(dict.fromkeys(each.variant for each in trials)))
    return runner.run_all(
        [(each.name, functools.partial(trial.run, each, states[each.variant])) for each in trials],
        "trials",
        found,
    )


def report_problems(results: Sequence[Result], system: System | None = None) -> int:
    """Say on standard error what makes trials unsound; the exit status. system: theirs, for the command
    that shows a bad frame."""
    for result in results:
        for problem in result.problems:
            print(f"moderato: trial {result.trial.name} is unsound: {problem}", file=sys.stderr)
        if system and any(trial.BAD_FRAMES in problem for problem in result.problems):
            if command := again.command(result.trial, system, BAD):
                print(f"moderato: its first bad frame: {command}", file=sys.stderr)
    return 1 if any(result.problems for result in results) else 0
