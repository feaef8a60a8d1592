# SPDX-License-Identifier: BSD-2-Clause
"""`moderato compare A B`: two --json files, or two commits that run the same command."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from moderato.toolchain.project import ROOT

from ..show import outputs
from ..show.errors import LabError, UsageError
from . import commits, difference_tables
from .figures import Pairs, read

HERE = "."  # this clone's files, committed or not
USUAL = ("profile", "--variant", "napi-tx-off")


def compare(sides: Sequence[str], words: Sequence[str] | None, json: Path | None) -> int:
    """Prints the differences; returns the exit status: 1 if a commit's command failed.

    words: the command that two commits run, by default a profile.
    """
    files = [Path(side).is_file() for side in sides]
    if all(files):
        if words:
            raise UsageError(
                "--run is for commits, and two files are compared as they are; leave it out"
            )
        return _show(sides, [read(Path(side)) for side in sides], json)
    if any(files):
        file, other = sorted(sides, key=lambda side: not Path(side).is_file())
        raise UsageError(f"{file} is a file, and {other} is not; name two files, or two commits")
    wanted = [_commit(side) for side in sides]
    words = words or USUAL
    with commits.worktrees(wanted) as folders, tempfile.TemporaryDirectory() as work:
        results = [Path(work, f"{side}.json") for side in "ab"]
        statuses = commits.run(folders, words, results)
        for side, status, result in zip(sides, statuses, results):
            if not result.exists():
                raise LabError(f"{side}: `{' '.join(words)}` ended with status {status}; see above")
        names = [_said(side, each) for side, each in zip(sides, wanted)]
        return _show(names, [read(result) for result in results], json) or int(any(statuses))


def _show(sides: Sequence[str], results: Sequence[list[dict]], json: Path | None) -> int:
    pairs = Pairs(*results)
    print(difference_tables.render(sides, pairs), end="")
    if json:
        outputs.write_json(json, difference_tables.as_json(sides, pairs))
    outputs.name(json)
    return 0


def _commit(side: str) -> str | None:
    """The commit of a side; None for this clone as it is."""
    if Path(side).is_dir() and Path(side).resolve() == ROOT:
        return None
    found = commits.commit(side)
    if not found:
        raise UsageError(
            f"{side} is no file, and no commit of this clone; name what --json wrote, "
            f"a commit, or {HERE} for the files as they are"
        )
    return found


def _said(side: str, commit: str | None) -> str:
    """A side for people: the user's word, and the commit that it names."""
    what = commits.subject(commit) if commit else "this clone's files as they are"
    return what if what.startswith(f"{side} ") else f"{side}: {what}"
