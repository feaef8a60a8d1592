# SPDX-License-Identifier: BSD-2-Clause
"""What happened in a run, cycle by cycle, and the cycle in which something happened that a wave is to
show."""

import difflib
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..explain.timeline import DROPS, PORTS, Frame
from ..show.errors import UsageError
from .triggers import DROP, FUNCTION


@dataclass(frozen=True)
class Moment:
    """Of a run: its cycle, and the trigger that names it."""

    cycle: int
    kind: str  # of triggers.py
    what: str  # a port, or the function


@dataclass(frozen=True)
class Happened:
    """In a run. Rows of a hart are those of the profiler's timeline, without the events."""

    first: int  # cycle
    last: int
    events: Sequence[tuple[int, int, str]]  # cycle, port, name
    harts: Sequence[Sequence[tuple[int, str]]]  # cycle, function that was entered; "": one was left
    wires: dict[str, list[Frame]]  # by "port0-in", ...; in cycles

    def moments(self) -> Iterator[Moment]:
        for cycle, port, name in self.events:
            yield Moment(cycle, name.replace("_", "-"), str(port))
            if name in DROPS:
                yield Moment(cycle, DROP, str(port))
        for wire, frames in self.wires.items():
            port, way = wire.removeprefix("port").split("-")
            for frame in frames:
                yield Moment(frame.begin, f"frame-{way}", port)
        for rows in self.harts:
            for cycle, function in rows:
                if function:
                    yield Moment(cycle + 1, FUNCTION, function)


def find(happened: Happened, trigger: str, number: int) -> int:
    """The cycle of a trigger's n-th time, from 1. A UsageError says what comes instead."""
    kind, _, what = trigger.partition(":")
    moments = [*happened.moments()]
    found = sorted(
        each.cycle for each in moments if each.kind == kind and (not what or each.what == what)
    )
    if len(found) >= number:
        return found[number - 1]
    came = Counter(f"{each.kind}:{each.what}" for each in moments if each.kind != FUNCTION)
    others = "others come: " + ", ".join(f"{name} {count}" for name, count in sorted(came.items()))
    if kind == FUNCTION:
        functions = {each.what for each in moments if each.kind == FUNCTION}
        near = difflib.get_close_matches(what, functions, n=3, cutoff=0.4)
        others = f"functions near that name: {', '.join(near) or 'none'}"
    raise UsageError(f"{trigger} comes {len(found)} times in this run, not {number}; {others}")


# Texts --------------------------------------------------------------------------------------------


def texts(happened: Happened) -> dict[str, list[tuple[int, str]]]:
    """What is shown next to the signals, by name: texts from each cycle on in which they change."""
    return {
        **{f"cpu{hart}_function": [*functions(rows)] for hart, rows in enumerate(happened.harts)},
        **{wire.replace("-", "_"): [*frames(happened, wire)] for wire in happened.wires},
        **{f"mac{port}_event": [*events(happened.events, port)] for port in PORTS},
    }


def bits(shown: dict[str, list[tuple[int, str]]]) -> dict[str, int]:
    """Of the signal of each name: eight for each character of its longest text."""
    return {
        name: 8 * max([1, *(len(text.encode()) for _, text in steps)]) for name, steps in shown.items()
    }


def lines(shown: dict[str, list[tuple[int, str]]]) -> str:
    """As moderato-sim reads texts: "CYCLE NAME TEXT"."""
    return "".join(line for name, steps in shown.items() for line in _steps(name, steps))


def _steps(name: str, steps: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Of several texts in a cycle, the last one holds."""
    yield f"0 {name}\n"
    for cycle, group in itertools.groupby(steps, lambda step: step[0]):
        *_, (_, text) = group
        yield f"{cycle} {name} {text}\n"


def functions(rows: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The innermost function from each cycle on in which that changes."""
    stack = []
    for cycle, function in rows:
        if function:
            stack.append(function)
        elif stack:
            stack.pop()
        yield cycle + 1, stack[-1] if stack else ""


def frames(happened: Happened, wire: str) -> Iterator[tuple[int, str]]:
    """The frame on a wire: the port where it entered and its number there; `lost`: it does not leave."""
    left = {frame.name for name, there in happened.wires.items() if "out" in name for frame in there}
    for frame in happened.wires[wire]:
        lost = wire.endswith("-in") and frame.name not in left
        yield frame.begin, frame.name + " lost" * lost
        yield frame.end, ""


def events(of_all: Iterable[tuple[int, int, str]], port: int) -> Iterator[tuple[int, str]]:
    """What a MAC reports, in the cycle in which it does."""
    own = (event for event in of_all if event[1] == port)
    last = None
    for cycle, group in itertools.groupby(own, lambda event: event[0]):
        if last not in (None, cycle):
            yield last, ""
        yield cycle, " ".join(name for _, _, name in group)
        last = cycle + 1
    if last:
        yield last, ""
