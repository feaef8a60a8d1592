# SPDX-License-Identifier: BSD-2-Clause
"""`moderato strategies`: all settings in all situations, as tables."""

import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..rfc2544 import metrics, tests
from ..rfc2544 import trials as rfc2544_trials
from ..run import runner, state, store
from ..run.machine import Machine, machine
from ..run.state import State
from ..run.system import System
from ..show import delivery, outputs
from ..show.errors import UsageError
from . import ping, strategy_tables, trials
from .settings import REFERENCE, SETTINGS, Setting
from .situations import LINK_MBPS, PING, Situation

RESOLUTION = 1.0  # percent: resolution of the reference's throughput
PHASE = 0.5  # delay of the second port's frames, as a share of a slot


@dataclass(frozen=True)
class Request:
    """Each setting in each of its situations."""

    settings: Sequence[Setting]
    situations: Sequence[Situation]
    frame_bytes: int = 64  # with the FCS
    json: Path | None = None
    where: store.Where = store.Where()


def strategies(wanted: Request) -> int:
    """Run the requested trials; prints tables, returns the exit status: 1 if a trial is unsound.

    Stored trials are not run again.
    """
    pairs = [
        (setting, situation)
        for situation in wanted.situations
        for setting in wanted.settings
        if situation.has(setting.name)
    ]
    if not pairs:
        raise UsageError(
            "nothing to run: "
            + "; ".join(f"{each.name} is for {', '.join(each.settings)}" for each in wanted.situations)
        )
    settings = [setting for setting in wanted.settings if any(setting is each for each, _ in pairs)]
    kept = store.Store(wanted.where.results or store.default("strategies"))
    runner.require_scheduler(wanted.where.scheduler)
    needs_throughput = any(each.share for each in wanted.situations)
    throughput = 0.0

    def work(found: dict[tuple[str, str], dict]):
        nonlocal throughput
        states = prepare([*settings, *([REFERENCE] if needs_throughput else [])])
        with runner.runner(wanted.where.scheduler) as workers:
            if needs_throughput:
                throughput = search(workers, states[REFERENCE], wanted.frame_bytes, kept)
            jobs = {
                (setting.name, situation.name): job(
                    setting, situation, wanted.frame_bytes, throughput, states[setting]
                )
                for setting, situation in pairs
            }
            workers.run(jobs, trials.run, lambda task: states[SETTINGS[task.setting]], kept, found=found)

    def show(found: dict[tuple[str, str], dict], part: delivery.Part) -> int:
        names = [(setting.name, situation.name) for setting, situation in pairs]
        records = [found[each] for each in names if each in found]
        delivery.deliver(
            lambda: strategy_tables.render(records, throughput) + part.note,
            (wanted.json, lambda path: outputs.write_json(path, part.mark(records))),
            conditions=records[0]["conditions"] if records else None,
        )
        kept.name()
        return report_problems(records)

    return delivery.keep(work, len(pairs), show)


def prepare(settings: Sequence[Setting]) -> dict[Setting, State]:
    """The states in which trials start; missing ones are made in parallel."""
    settings = list(dict.fromkeys(settings))
    machines = {each.kernel: machine(LINK_MBPS, System(kernel=each.kernel)) for each in settings}
    jobs = [(each.name, functools.partial(_ready, each, machines[each.kernel])) for each in settings]
    states = dict(zip(settings, runner.run_all(jobs, "settings ready")))
    for each in states.values():
        each.open().end()  # replaces a damaged checkpoint before a worker finds it
    return states


def _ready(setting: Setting, of: Machine, _) -> State:
    return state.chosen(of, setting.name.replace(" ", "-"), setting.commands())


def search(workers: runner.Runner, reference: State, frame_bytes: int, kept: store.Store) -> float:
    """Frames/s of both ports together that the reference sustains without loss."""
    cell = tests.Cell(REFERENCE.name, frame_bytes, LINK_MBPS, RESOLUTION)
    found = workers.run(
        {("throughput", cell): tests.throughput(cell, [PHASE])},
        rfc2544_trials.run,
        lambda _: reference,
        kept,
    )
    return metrics.offered(found["throughput", cell][0].sustained)


def job(
    setting: Setting, situation: Situation, frame_bytes: int, throughput: float, ready: State
) -> runner.Series:
    """A series of one trial, or of round trips."""
    if situation.name == PING:
        return (yield ping.Task(setting.name))
    trial = situation.trial(setting.name, frame_bytes, throughput)
    return (yield trials.Task(setting.name, situation.name, trial, ready.counters()))


def report_problems(records) -> int:
    """Print on standard error why trials are unsound; returns the exit status."""
    for record in records:
        for problem in record["problems"]:
            print(f"moderato: trial {record['name']} is unsound: {problem}", file=sys.stderr)
    return 1 if any(record["problems"] for record in records) else 0
