# SPDX-License-Identifier: BSD-2-Clause
"""The results of each cell: a variant with a frame size."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..rfc2544 import metrics
from . import model

Cell = tuple[str, int]  # variant, frame size


# Throughput ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sustained:
    """The highest rate of one phase between the generators."""

    record: dict
    step: int  # of the search's grid; 0 is the line rate
    exact: bool  # the next higher step failed, or does not exist


@dataclass(frozen=True)
class Throughput:
    """RFC 2544, 26.1; rates in frames per second of both ports."""

    phases: tuple[Sustained, ...]

    @property
    def rates(self) -> list[float]:
        return sorted(metrics.offered(each.record) for each in self.phases)

    @property
    def median(self) -> Sustained:
        """The lower median of an even number: a rate that was measured."""
        ordered = sorted(self.phases, key=lambda each: metrics.offered(each.record))
        return ordered[(len(ordered) - 1) // 2]

    @property
    def record(self) -> dict:
        return self.median.record

    @property
    def rate(self) -> float:
        return metrics.offered(self.record)

    @property
    def mbps(self) -> float:
        """Mb/s of one port, preamble and gap counted."""
        return metrics.mbps(self.record)

    @property
    def at_line(self) -> bool:
        """Whether the line limits the rate, not the device."""
        return self.median.step == 0

    @property
    def exact(self) -> bool:
        """Whether the search finished. If not, the throughput may be higher."""
        return all(each.exact for each in self.phases)


def throughputs(trials: Iterable[dict]) -> dict[Cell, Throughput]:
    """The throughputs of steady trials, without cells that passed no trial.

    If a cell was searched at several resolutions, the finest one with a result counts.
    """
    searches = defaultdict(lambda: defaultdict(dict))  # cell → resolution, phase → step → record
    for trial in trials:
        task = trial["task"]
        cell = task["variant"], task["frame_bytes"]
        searches[cell][task["resolution"], task["phase"]][_step(task)] = trial
    found = {}
    for cell, of_cell in searches.items():
        answers = [(resolution, highest(steps)) for (resolution, _), steps in of_cell.items()]
        answers = [(resolution, one) for resolution, one in answers if one]
        if answers:
            _, finest = min((not one.exact, resolution) for resolution, one in answers)
            found[cell] = Throughput(tuple(one for resolution, one in answers if resolution == finest))
    return found


def highest(steps: dict[int, dict]) -> Sustained | None:
    """The highest step that passed while the next one failed, else the highest that passed."""
    passed = sorted(step for step, record in steps.items() if record["passed"])
    for step in passed:
        above = steps.get(step - 1)
        if step == 0 or above and not above["passed"]:
            return Sustained(steps[step], step, exact=True)
    return Sustained(steps[passed[0]], passed[0], exact=False) if passed else None


def _step(task: dict) -> int:
    """The step on the search's grid: rfc2544/search.py."""
    return round(math.log(100 / task["load_percent"]) / math.log1p(task["resolution"] / 100))


# Model --------------------------------------------------------------------------------------------


def frame_times(found: Mapping[Cell, Throughput], variant: str) -> dict[int, float]:
    """Microseconds per frame by size, for the sizes at which the device is the limit."""
    return {
        size: 1e6 / answer.rate
        for (name, size), answer in sorted(found.items())
        if name == variant and answer.exact and not answer.at_line
    }


def models(found: Mapping[Cell, Throughput]) -> dict[str, model.Model]:
    """The model of each variant with enough sizes."""
    fits = {variant: model.fit(frame_times(found, variant)) for variant, _ in found}
    return {variant: line for variant, line in fits.items() if line}


# Overload -----------------------------------------------------------------------------------------


def curves(trials: Iterable[dict]) -> dict[Cell, list[dict]]:
    """Records of steady state by rising load, if they were measured over the whole window."""
    found = defaultdict(dict)
    for trial in trials:
        task, report = trial["task"], trial["report"]
        if report["cycle"] >= report["window"]["end_cycle"]:
            found[task["variant"], task["frame_bytes"]].setdefault(task["load_percent"], trial)
    return {cell: [records[load] for load in sorted(records)] for cell, records in found.items()}


def full_load(found: dict[Cell, list[dict]], frame_bytes: int) -> dict[str, dict]:
    """For each variant, the record at 100 % of the line rate."""
    return {
        variant: records[-1]
        for (variant, size), records in found.items()
        if size == frame_bytes and records[-1]["task"]["load_percent"] == 100
    }


# Bursts, recovery, reset --------------------------------------------------------------------------


def bursts(trials: Iterable[dict]) -> dict[Cell, tuple[dict, bool]]:
    """The longest burst that was forwarded without loss, and whether a longer one lost frames."""
    found = defaultdict(list)
    for trial in trials:
        found[trial["task"]["variant"], trial["task"]["frame_bytes"]].append(trial)
    answers = {}
    for cell, records in found.items():
        passed = [record for record in records if record["passed"]]
        if passed:
            best = max(passed, key=_frames)
            longer = any(_frames(record) > _frames(best) for record in records)
            answers[cell] = best, longer
    return answers


def _frames(record: dict) -> int:
    return record["task"]["frames"]


def latest(trials: Iterable[dict]) -> dict[Cell, dict]:
    """The last record of each cell."""
    return {(trial["task"]["variant"], trial["task"]["frame_bytes"]): trial for trial in trials}
