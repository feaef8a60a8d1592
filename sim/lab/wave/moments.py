# SPDX-License-Identifier: BSD-2-Clause
"""The events of a run, cycle by cycle, and the search for the event that a wave shows."""

import difflib
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..explain.timeline import DROPS, PORTS, Frame
from ..show.errors import UsageError
from .triggers import BAD, DROP, FUNCTION, Trigger

MOST = 20  # moments that a message names


@dataclass(frozen=True)
class Moment:
    """An event of a run: its cycle, and the trigger that it matches."""

    cycle: int
    kind: str  # of triggers.py
    words: tuple[str, ...]  # a port, the function, a register and the port
    value: int | None = None

    def answers(self, trigger: Trigger) -> bool:
        return (
            self.kind == trigger.kind
            and self.words[: len(trigger.words)] == trigger.words
            and trigger.value in (None, self.value)
        )


@dataclass(frozen=True)
class Happened:
    """All events of a run. Rows of a hart are the profiler's timeline without events."""

    first: int  # cycle
    last: int
    events: Sequence[tuple[int, int, str]]  # cycle, port, name
    harts: Sequence[Sequence[tuple[int, str]]]  # cycle, function that was entered; "": one returned
    wires: dict[str, list[Frame]]  # by "port0-in", ...; in cycles
    bad: Sequence[tuple[int, str]] = ()  # cycle, port: frames that leave damaged or out of order

    def moments(self) -> Iterator[Moment]:
        for cycle, port, name in self.events:
            yield Moment(cycle, name.replace("_", "-"), (str(port),))
            if name in DROPS:
                yield Moment(cycle, DROP, (str(port),))
        for wire, frames in self.wires.items():
            port, way = wire.removeprefix("port").split("-")
            for frame in frames:
                yield Moment(frame.begin, f"frame-{way}", (port,))
        for cycle, port in self.bad:
            yield Moment(cycle, BAD, (port,))
        for rows in self.harts:
            for cycle, function in rows:
                if function:
                    yield Moment(cycle + 1, FUNCTION, (function,))


def find(moments: Sequence[Moment], trigger: Trigger, number: int = 1, count: int = 1) -> list[int]:
    """The cycles of a trigger's n-th time, from 1, and of the next ones: `count` at most. A UsageError
    reports what comes instead."""
    found = sorted(each.cycle for each in moments if each.answers(trigger))
    if len(found) >= number:
        return found[number - 1 :][:count]
    raise UsageError(
        f"{trigger} comes {len(found)} times in this run, not {number}; {_others(moments, trigger)}"
    )


def _others(moments: Iterable[Moment], trigger: Trigger) -> str:
    if trigger.kind == FUNCTION:
        functions = {each.words[0] for each in moments if each.kind == FUNCTION}
        near = difflib.get_close_matches(trigger.words[0], functions, n=3, cutoff=0.4)
        return f"functions near that name: {', '.join(near) or 'none'}"
    came = Counter(
        str(Trigger(each.kind, each.words, None if trigger.value is None else each.value))
        for each in moments
        if each.kind != FUNCTION and (each.kind == trigger.kind or each.value is None)
    )
    near = [*came]
    if len(came) > MOST:
        near = difflib.get_close_matches(str(trigger), came, n=MOST, cutoff=0)
    return "others come: " + (", ".join(f"{name} {came[name]}" for name in sorted(near)) or "none")


# Texts --------------------------------------------------------------------------------------------


def texts(happened: Happened) -> dict[str, list[tuple[int, str]]]:
    """The texts of each derived signal: (cycle, new text) at each change."""
    return {
        **{f"cpu{hart}_function": [*functions(rows)] for hart, rows in enumerate(happened.harts)},
        **{wire.replace("-", "_"): [*frames(happened, wire)] for wire in happened.wires},
        **{f"mac{port}_event": [*events(happened.events, port)] for port in PORTS},
    }


def bits(shown: dict[str, list[tuple[int, str]]]) -> dict[str, int]:
    """The width of each derived signal: eight bits for each character of its longest text."""
    return {
        name: 8 * max([1, *(len(text.encode()) for _, text in steps)]) for name, steps in shown.items()
    }


def lines(shown: dict[str, list[tuple[int, str]]]) -> str:
    """Texts in moderato-sim's format: "CYCLE NAME TEXT"."""
    return "".join(line for name, steps in shown.items() for line in _steps(name, steps))


def _steps(name: str, steps: Iterable[tuple[int, str]]) -> Iterator[str]:
    """If several texts have the same cycle, the last one counts."""
    yield f"0 {name}\n"
    for cycle, group in itertools.groupby(steps, lambda step: step[0]):
        *_, (_, text) = group
        yield f"{cycle} {name} {text}\n"


def functions(rows: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The innermost function, at each cycle in which it changes."""
    stack = []
    for cycle, function in rows:
        if function:
            stack.append(function)
        elif stack:
            stack.pop()
        yield cycle + 1, stack[-1] if stack else ""


def frames(happened: Happened, wire: str) -> Iterator[tuple[int, str]]:
    """The frame on a wire, as wires.py names it; `lost`: it is the tester's, and does not leave."""
    left = {frame.name for name, there in happened.wires.items() if "out" in name for frame in there}
    for frame in happened.wires[wire]:
        lost = wire.endswith("-in") and ":" in frame.name and frame.name not in left
        yield frame.begin, frame.name + " lost" * lost
        yield frame.end, ""


def events(of_all: Iterable[tuple[int, int, str]], port: int) -> Iterator[tuple[int, str]]:
    """Events that a MAC reports, in their cycles."""
    own = (event for event in of_all if event[1] == port)
    last = None
    for cycle, group in itertools.groupby(own, lambda event: event[0]):
        if last not in (None, cycle):
            yield last, ""
        yield cycle, " ".join(name for _, _, name in group)
        last = cycle + 1
    if last:
        yield last, ""
