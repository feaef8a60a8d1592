# SPDX-License-Identifier: BSD-2-Clause
"""`moderato board rfc2544`: RFC 2544's throughput (26.1) of a real board.

The search is that of `moderato rfc2544`. Each trial is one of `board forward`: a rate passes if no frame
is lost, and the account closes to the frame.
"""

import itertools
import sys
from dataclasses import dataclass

from ..measure import trial_tables
from ..measure.forward import Request
from ..measure.results import Result, Trial, frame_rate, frames_for
from ..rfc2544.search import Grid, Outcome, highest
from ..show import delivery, outputs
from ..show.errors import LabError
from .desk import Desk
from .forward import SLOW_HOST, note, trial


@dataclass(frozen=True)
class Found:
    """best: the trial of the highest rate that passed, if one did. at_least: this machine offered no
    more."""

    name: str
    best: Result | None
    at_least: bool = False

    @property
    def line(self) -> str:
        if self.best is None:
            return f"{self.name}: no rate passed"
        assert self.best.hardware
        more = "at least " if self.at_least else ""
        return f"{self.name}: {more}{self.best.hardware['offered_fps']:.0f} frames/s, {note(self.best)}"


def rfc2544(wanted: Request, resolution: float, seconds: float, at: Desk) -> int:
    """A search for each variant and frame size. resolution: percent of the rate; seconds: of a trial."""
    at.start()
    at.require_ports()
    found: list[Found] = []
    for size, variant in itertools.product(wanted.frame_sizes, wanted.variants):
        found.append(_search(wanted, variant, size, resolution, seconds, at))
    best = [each.best for each in found if each.best]
    delivery.deliver(
        lambda: trial_tables.render(best) + "\n".join(each.line for each in found) + "\n",
        (wanted.json, lambda path: outputs.write_json(path, [each.as_json() for each in best])),
    )
    return 0


def _search(
    wanted: Request, variant: str, size: int, resolution: float, seconds: float, at: Desk
) -> Found:
    link = wanted.link_mbps
    grid = Grid(frame_rate(size, 100, link), resolution / 100)
    search = highest(grid)
    passed: dict[int, Result] = {}
    name = f"{variant} {size} bytes"
    step = next(search)
    try:
        while True:
            load = round(100 * grid.rate(step) / grid.line, 4)
            count = wanted.frames or frames_for(seconds, size, load, link)
            result = trial(Trial(variant, size, load, count, link), at)
            if result.problems:
                raise LabError(f"trial {result.trial.name} is unsound: {result.problems[0]}")
            outcome = _outcome(result)
            print(
                f"moderato: {result.trial.name}: {outcome.offered:.0f} frames/s into each port, "
                f"{result.total('lost')} lost",
                file=sys.stderr,
            )
            if outcome.passed:
                passed[step] = result
                if outcome.offered < SLOW_HOST * grid.rate(step) and not at.built.simulated:
                    return Found(name, result, at_least=True)
            step = search.send(outcome)
    except StopIteration as end:
        return Found(name, passed.get(end.value))


def _outcome(result: Result) -> Outcome:
    """Rates of one port."""
    assert result.hardware
    return Outcome(
        passed=not result.total("lost"),
        offered=result.hardware["offered_fps"] / 2,
        forwarded=result.total("fps") / 2,
        received=result.total("received") / 2 / result.hardware["seconds"],
    )
