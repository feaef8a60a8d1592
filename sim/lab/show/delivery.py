# SPDX-License-Identifier: BSD-2-Clause
"""Tables and files of a run; of one that was stopped, or failed, what it had finished until then."""

import contextlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import outputs
from .columns import sentence
from .errors import LabError

ORIGIN = "Made by "  # begins the line below a table that says what made the figures


@dataclass(frozen=True)
class Part:
    """How much there is of what was asked for."""

    finished: int
    of: int

    @property
    def note(self) -> str:
        """A line after the tables; empty if nothing is missing."""
        return (
            ""
            if self.finished == self.of
            else (f"\nPartial: {self.finished} of {self.of} had finished when it ended.\n")
        )

    def mark(self, results: Sequence[dict]) -> list[dict]:
        """For --json: each as it is, and if others are missing, with a field that says so."""
        return (
            list(results)
            if self.finished == self.of
            else [each | {"partial": {"finished": self.finished, "of": self.of}} for each in results]
        )


# Fills a dict with results, one for each job that ends.
Work = Callable[[dict], object]
# Delivers the results so far; returns the exit status.
Show = Callable[[dict, Part], int]


def keep(work: Work, of: int, show: Show) -> int:
    """Work, then show what came of it: `of` results, or those that there are when it raises.

    Returns the exit status that `show` gives. Exceptions of `work` are raised again.
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
    """Write files, each by its function, print a table, and name what was written.

    If one fails, the others are done first; then the error is raised. made: a folder that exists by now.
    conditions: of a result in the table; its last line then names the machine of the figures.
    """
    written = []

    def write(path: Path, how: Callable[[Path], object]):
        how(path)
        written.append(path)

    with contextlib.ExitStack() as steps:  # from the last one to the first
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
