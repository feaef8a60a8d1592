# SPDX-License-Identifier: BSD-2-Clause
"""The guest's call stacks, with the cycles that the simulator charged to them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..measure.results import Result


@dataclass(frozen=True)
class Stack:
    """Cycles that a hart spent in the last of these functions, each called by its predecessor."""

    functions: tuple[str, ...]
    causes: Counter  # cycles by cause, named as in sim/harness/README.md
    enabled: int  # the part of these cycles with interrupts enabled
    entries: int = 0  # number of entries into the last function
    hart: int = 0

    @property
    def cycles(self) -> int:
        return self.causes.total()


@dataclass(frozen=True)
class Profile:
    """The profile of a trial's window."""

    result: Result
    stacks: list[Stack]
    counts: Counter  # in the window: forwarded, received, rx_interrupts, tx_interrupts
    memory: dict[str, dict[str, int]]  # cycles of the memory port by client and kind of use


def read(file: Path) -> list[Stack]:
    """The stacks that moderato-sim wrote, in its order: callers before callees.

    Stacks of a second hart are in a second file, next to the first.
    """
    others = sorted(file.parent.glob(f"{file.name}.[0-9]"))
    return [stack for hart, each in enumerate([file, *others]) for stack in _read(each, hart)]


def _read(file: Path, hart: int) -> list[Stack]:
    head, *lines = (line.split() for line in file.read_text().splitlines())
    causes = head[: head.index("interrupts_enabled")]
    rows = [dict(zip(head, line)) for line in lines]
    return [
        Stack(
            tuple(row["stack"].split(";")),
            Counter({name: int(row[name]) for name in causes}),
            int(row["interrupts_enabled"]),
            int(row["entries"]),
            hart,
        )
        for row in rows
    ]


def fold(profiles: Sequence[Profile]) -> str:
    """Lines "variant;function;function cycles", the format of Gregg's flamegraph.pl."""
    return "".join(folded(each.result.trial.variant, each.stacks) for each in profiles)


def folded(name: str, stacks: Sequence[Stack]) -> str:
    """As `fold`, for one variant."""
    lines = []
    for stack in stacks:
        path = ";".join([name, *stack.functions])
        idle = stack.causes["idle"]
        lines += [f"{path} {stack.cycles - idle}"] * (stack.cycles > idle)
        lines += [f"{path};[idle] {idle}"] * (idle > 0)
    return "".join(f"{line}\n" for line in lines)
