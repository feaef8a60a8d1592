# SPDX-License-Identifier: BSD-2-Clause
"""RFC 2544's tests as jobs: each yields the trials that it needs next, and receives their records."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from ..measure.results import frame_rate
from ..measure.traffic import Traffic, entered
from . import metrics, trials
from .search import Grid, highest
from .trials import Task

BURST_MOST = 4096  # frames to each port: a longer burst counts as unlimited
RECOVERY_FRAMES = 4096  # to each port: a tenth of them is more than ring or backlog hold
RESET_SECONDS = 0.6  # of load: more than twice the time of the slowest reset


@dataclass(frozen=True)
class Cell:
    """The subject of a test."""

    variant: str
    frame_bytes: int
    link_mbps: int
    resolution: float  # percent of the rate
    traffic: Traffic = Traffic()

    @property
    def name(self) -> str:
        return f"{self.variant} {self.frame_bytes}"

    @property
    def grid(self) -> Grid:
        """Rates of one port."""
        line = frame_rate(self.frame_bytes, 100, self.link_mbps)
        return Grid(line, self.resolution / 100)

    def load(self, step: int) -> float:
        """Percent of the line rate, rounded as moderato-sim does."""
        return round(100 * self.grid.rate(step) / self.grid.line, 4)

    def steady(self, load_percent: float, phase: float) -> Task:
        return trials.steady(
            self.variant,
            self.frame_bytes,
            self.link_mbps,
            load_percent,
            phase,
            self.resolution,
            self.traffic,
        )


Job = Generator[Task, dict, object]


# Throughput and latency (26.1, 26.2) --------------------------------------------------------------


@dataclass(frozen=True)
class Throughput:
    """The highest rate that was sustained; the latency was measured in the same trial."""

    sustained: dict  # record
    exceeded: dict | None  # record of the next higher rate; None at the line rate

    @property
    def load(self) -> float:
        """Percent of the line rate."""
        return self.sustained["task"]["load_percent"]

    @property
    def port_rate(self) -> float:
        """Frames per second offered to each port."""
        return metrics.offered(self.sustained) / len(entered(self.sustained["report"]))


def throughput(
    cell: Cell, phases: list[float], alike: Sequence[Throughput] = ()
) -> Generator[Task, dict, list[Throughput]]:
    """One search per phase; an empty list if nothing passes.

    A deterministic system gives the same result for the same trial, so searches are repeated with other
    phases between the two generators. `alike`: the results of another frame size. The first search
    starts from its rate, or else from the line rate. Each later one starts from the previous result,
    scaled by the ratio between the same two results in `alike`.
    """
    found: list[Throughput] = []
    for number, phase in enumerate(phases):
        start = start_step(
            cell.grid,
            [each.port_rate for each in alike[: number + 1]],
            found[-1].port_rate if found else None,
        )
        records = {}
        search = highest(cell.grid, start)
        step = next(search)
        try:
            while True:
                records[step] = yield cell.steady(cell.load(step), phase)
                step = search.send(metrics.outcome(records[step]))
        except StopIteration as end:
            if end.value is None:
                return []
            found.append(Throughput(records[end.value], records.get(end.value - 1)))
    return found


def start_step(grid: Grid, alike: Sequence[float], before: float | None) -> int:
    """The step that a search starts from; see throughput()."""
    if before is None:
        return grid.step(alike[0]) if alike else 0
    change = alike[-1] / alike[-2] if len(alike) > 1 else 1
    return grid.step(before * change)


# Frame loss rate (26.3) ---------------------------------------------------------------------------


def loss(cell: Cell, loads: Sequence[float], phase: float) -> Generator[Task, dict, list[dict]]:
    """The records of the given loads, in percent of the line rate."""
    records = []
    for load in loads:
        records.append((yield trials.whole_window(cell.steady(load, phase))))
    return records


# Back-to-back (26.4) ------------------------------------------------------------------------------


def burst(cell: Cell, phase: float) -> Generator[Task, dict, dict | None]:
    """The record of the longest burst at the line rate that is forwarded without loss."""
    best, low, high = None, 0, None
    frames = 256
    while high is None or high - low > max(1, low // 100):
        record = yield Task(
            "burst",
            cell.variant,
            cell.frame_bytes,
            cell.link_mbps,
            100,
            frames,
            phase,
            traffic=cell.traffic,
        )
        if record["passed"]:
            best, low = record, frames
            if frames >= BURST_MOST:
                return best
        else:
            high = frames
        frames = 2 * low if high is None else (low + high) // 2
    return best


# System recovery (26.5) and reset (26.6) ----------------------------------------------------------


def recovery(cell: Cell, found: Throughput | None, phase: float) -> Generator[Task, dict, dict | None]:
    """The record of a load of 110 % of the throughput (at most the line rate), then half of that."""
    if found is None:
        return None
    load = min(100, round(1.1 * found.load, 4))
    return (
        yield Task(
            "recovery",
            cell.variant,
            cell.frame_bytes,
            cell.link_mbps,
            load,
            RECOVERY_FRAMES,
            phase,
            then=(round(load / 2, 4), trials.FRAMES),
            traffic=cell.traffic,
        )
    )


def reset(cell: Cell, found: Throughput | None, phase: float) -> Generator[Task, dict, dict | None]:
    """The record of a quarter of the throughput, during which both interfaces are reset.

    RFC 2544 offers all of it and presses a button. Here a program of the guest does the reset. That
    program gets no CPU time at the throughput. With NAPI it gets none at half of it, because each frame
    then has an interrupt of its own.
    """
    if found is None:
        return None
    return (
        yield Task(
            "reset",
            cell.variant,
            cell.frame_bytes,
            cell.link_mbps,
            round(found.load / 4, 4),
            round(RESET_SECONDS * found.port_rate / 4),
            phase,
            traffic=cell.traffic,
        )
    )
