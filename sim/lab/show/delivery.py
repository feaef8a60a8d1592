# SPDX-License-Identifier: BSD-2-Clause
"""Tables and files of a run; if it was stopped or failed, of the results so far."""

import contextlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import outputs
from .columns import sentence
from .errors import LabError

ORIGIN = "Made by "  # prefix of the line below a table about the origin of its figures


@dataclass(frozen=True)
class Part:
    """How many of the requested results exist."""

    finished: int
    of: int

    @property
    def note(self) -> str:
        """A line after the tables; empty if the results are complete."""
        return (
            ""
            if self.finished == self.of
            else (f"\nPartial: {self.finished} of {self.of} had finished when it ended.\n")
        )

    def mark(self, results: Sequence[dict]) -> list[dict]:
        """Results for --json; if some are missing, each gets a field about that."""
        return (
            list(results)
            if self.finished == self.of
            else [each | {"partial": {"finished": self.finished, "of": self.of}} for each in results]
        )


# Fills a dict with results, one when each job ends.
Work = Callable[[dict], object]
# Delivers the results so far; returns the exit status.
Show = Callable[[dict, Part], int]


def keep(work: Work, of: int, show: Show) -> int:
    """Run `work`, then show its results: `of`, or those that exist when it raises an exception.

    Returns the exit status of `show`. Raises the exception of `work` again.
    """
    found = {}
    try:
        work(found)
    except BaseException:
        if found:
            try:
                show(found, Part(len(found), of))
            except (LabError, OSError) as error:
                print(f"moderato: {error}", file=sys.stderr)
        raise
    return show(found, Part(len(found), of))


def deliver(
    table: Callable[[], str],
    *files: tuple[Path | None, Callable[[Path], object]],
    made: Path | None = None,
    conditions: dict | None = None,
):
    """Write files, each with its function, print a table, and name the files.

    If one of these steps fails, the others are done first; then the error is raised. made: a folder that
    was written before. conditions: those of a result in the table; its last line then names the figures'
    machine.
    """
    written = []

    def write(path: Path, how: Callable[[Path], object]):
        how(path)
        written.append(path)

    with contextlib.ExitStack() as steps:  # executed in reverse order
        steps.callback(lambda: outputs.name(*written, made))
        steps.callback(lambda: print(table() + origin(conditions), end="", flush=True))
        for path, how in reversed(files):
            if path:
                steps.callback(write, path, how)


def origin(conditions: dict | None) -> str:
    """The line below a table that names commit, kernel and compiler."""
    if not conditions or "compiler" not in conditions:
        return ""
    made = f"{conditions['version']}; {conditions['kernel_source']}; {conditions['compiler']}"
    return f"\n{sentence(f'{ORIGIN}{made}.')}\n"
