# SPDX-License-Identifier: BSD-2-Clause
"""Finds the highest rate that a device sustains, in few trials. Knows nothing of simulations.

Rates are steps of a geometric grid, counted downwards from the line rate. So the answer does not depend
on the path to it: the highest step that passes while the one above it fails.
"""

import math
from collections.abc import Generator
from dataclasses import dataclass

LOWEST = 0.001  # of the line rate: nothing below is looked at
IDLE_RX = 0.05  # forwarding less than this part of what it receives, a device is in livelock
# Of a single overload:
LIVELOCK = 5  # only receiving: forwarding a frame takes at most this many times as long
LEVEL = 4  # offered this many times what it forwards, a device that does not drop is in livelock
SLOPING = 1.1  # forwarding this factor less than offered is too far off to show the slope


@dataclass(frozen=True)
class Outcome:
    """The outcome of a trial; rates in frames per second while the load lasted."""

    passed: bool
    offered: float
    forwarded: float
    received: float


@dataclass(frozen=True)
class Grid:
    """Step n is the line rate, `line` frames/s, divided by (1 + resolution) n times."""

    line: float
    resolution: float  # 0.01: a percent

    def rate(self, step: int) -> float:
        return self.line / (1 + self.resolution) ** step

    def step(self, rate: float) -> int:
        """The highest step with at most `rate`."""
        return max(0, math.ceil(math.log(self.line / rate) / math.log1p(self.resolution) - 1e-9))

    @property
    def last(self) -> int:
        return self.step(self.line * LOWEST)


def highest(grid: Grid, start: int = 0) -> Generator[int, Outcome, int | None]:
    """Yields steps to try, takes their outcomes; returns the answer, None if nothing passes.

    A search from the line rate learns from how much an overloaded device still forwards; `start`
    is a better guess, as from another frame size.
    """
    failed: dict[int, Outcome] = {}
    passed: list[int] = []
    step = start
    while True:
        outcome = yield step
        if outcome.passed:
            passed.append(step)
        else:
            failed[step] = outcome
        above, below = max(failed, default=-1), min(passed, default=grid.last + 1)
        if above + 1 == below:
            return below if passed else None
        if not failed:  # feel the way up, from a guess that is rarely far off
            guess, sure = below - 2 ** max(0, len(passed) - 2), True
        else:
            rate, sure = _estimate(failed.values())
            guess = grid.step(rate)
        if guess >= below:
            # What passed is the answer that overload promised, or better: is it the highest? If the
            # promise was wrong, go half the way to where it failed: overload shows more near it.
            sure = sure and (guess == below or len(passed) < 2)
            guess = below - 1 if sure else (above + below) // 2
        elif len(failed) > 2 and not passed:
            guess = max(guess, above + 2 ** (len(failed) - 2))  # worse than promised: feel the way
        step = min(max(guess, above + 1), below - 1)


def _estimate(overloads) -> tuple[float, bool]:
    """The rate at which a device would forward all that it is offered, and whether that is sure.

    Under overload, the forwarded rate falls on a line over the offered rate if receiving a frame costs a
    fixed time, which forwarding lacks (Mogul and Ramakrishnan, 1997). The guess extends that line from
    its two lowest points to where forwarded = offered. A device that drops the surplus for nothing has a
    level line.
    """
    points = sorted({_point(outcome) for outcome in overloads})
    offered, forwarded = points[0]
    if not forwarded:
        return offered / LIVELOCK, False
    if len(points) == 1:
        if LEVEL * forwarded < offered or forwarded > offered / SLOPING:
            return forwarded, True
        return math.sqrt(offered * forwarded), False
    slope = (points[1][1] - forwarded) / (points[1][0] - offered)
    if slope >= 0:
        return forwarded, True
    return (forwarded - slope * offered) / (1 - slope), True


def _point(overload: Outcome) -> tuple[float, float]:
    """(offered, forwarded); in livelock, no more is taken than there is time to receive."""
    if overload.forwarded < IDLE_RX * overload.received:
        return overload.received, 0.0
    return overload.offered, overload.forwarded
