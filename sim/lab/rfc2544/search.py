# SPDX-License-Identifier: BSD-2-Clause
"""Finds the highest rate that a device sustains, in few trials. Independent of simulations.

Rates are steps of a geometric grid, counted downwards from the line rate. The result is the highest step
that passes while the next higher one fails. On a grid, it does not depend on the path of the search.
"""

import math
from collections.abc import Generator
from dataclasses import dataclass

LOWEST = 0.001  # of the line rate: lower rates are not tried
IDLE_RX = 0.05  # a device that forwards less than this part of what it receives is in livelock
# For an estimate from a single overload:
LIVELOCK = 5  # in livelock, forwarding a frame takes at most this many times as long as receiving it
LEVEL = 4  # offered this many times what it forwards without a drop, a device is in livelock
SLOPING = 1.1  # offered more than this times what it forwards, a device shows no slope


@dataclass(frozen=True)
class Outcome:
    """A trial's outcome; rates in frames per second during the load."""

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
    """Yields steps to try, receives their outcomes; returns the highest step that passes, or None.

    A search from the line rate uses the rate that an overloaded device still forwards. `start` is a
    better guess, such as the result of another frame size.
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
        if not failed:  # increase the step size, because a guess is rarely far off
            guess, sure = below - 2 ** max(0, len(passed) - 2), True
        else:
            rate, sure = _estimate(failed.values())
            guess = grid.step(rate)
        if guess >= below:
            # The estimate from the overload passed: try the next higher step. If the estimate was wrong,
            # halve the distance to the failed step: an overload near the throughput gives a better
            # estimate.
            sure = sure and (guess == below or len(passed) < 2)
            guess = below - 1 if sure else (above + below) // 2
        elif len(failed) > 2 and not passed:
            guess = max(guess, above + 2 ** (len(failed) - 2))  # the estimate was too high
        step = min(max(guess, above + 1), below - 1)


def _estimate(overloads) -> tuple[float, bool]:
    """The rate at which a device would forward all offered frames, and whether this is certain.

    Under overload, the forwarded rate falls linearly with the offered rate if receiving a frame that is
    not forwarded takes a fixed time (Mogul and Ramakrishnan, 1997). The estimate extends the line
    through the two lowest points to forwarded = offered. For a device that drops the surplus at no cost,
    the line is level.
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
    """(offered, forwarded). In livelock, the offered rate is limited to what the CPU can receive."""
    if overload.forwarded < IDLE_RX * overload.received:
        return overload.received, 0.0
    return overload.offered, overload.forwarded
