# SPDX-License-Identifier: BSD-2-Clause
"""Runs the same command on several commits, each in a worktree of its own.

Builds are kept by content, so each commit builds only its changes.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from moderato.toolchain.project import ROOT, VENV, cache_root
from moderato.toolchain.suspension import follow

from ..show.errors import LabError

LAUNCHER = PACKAGE = "moderato"


def commit(word: str) -> str | None:
    """The full hash of the commit that a word names in this clone, or None."""
    found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{word}^{{commit}}")
    return found.stdout.strip() if found.returncode == 0 else None


def subject(commit: str) -> str:
    """A commit's short hash and its subject."""
    return _git("log", "-1", "--format=%h %s", commit).stdout.strip()


@contextlib.contextmanager
def worktrees(commits: Sequence[str | None]) -> Iterator[list[Path]]:
    """A folder with the files of each commit, removed when the block ends; None is this clone itself."""
    with tempfile.TemporaryDirectory(prefix="moderato-compare-") as work:
        folders = [Path(work, str(number), "clone") for number in range(len(commits))]
        try:
            for each, folder in zip(commits, folders):
                if each and _git("worktree", "add", "--detach", folder, each).returncode:
                    raise LabError(
                        f"git could not check out {each[:10]}; see whether the disk is "
                        "full, or `git fsck`"
                    )
            yield [folder if each else ROOT for each, folder in zip(commits, folders)]
        finally:
            for each, folder in zip(commits, folders):
                if each:
                    _git("worktree", "remove", "--force", folder)
            _git("worktree", "prune")


def _git(*words) -> subprocess.CompletedProcess:
    try:
        # In a session of its own: Ctrl-C does not leave an incomplete worktree.
        return subprocess.run(
            ["git", "-C", ROOT, *words], text=True, capture_output=True, start_new_session=True
        )
    except FileNotFoundError:
        raise LabError(
            "git is missing, which commits are checked out with; install it, or compare files"
        ) from None


def run(folders: Sequence[Path], words: Sequence[str], results: Sequence[Path]) -> list[int]:
    """Run a command of `moderato` in all at once, with --json to `results`; returns their statuses."""
    processes = []
    try:
        for folder, result in zip(folders, results):
            processes.append(_start(folder, [*words, "--json", str(result)]))
        readers = [
            threading.Thread(target=_pass_on, args=pair, daemon=True)
            for pair in zip("AB", processes, results)
        ]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()  # until its process has closed its output
        return [process.wait() for process in processes]
    finally:
        for process in processes:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
        for process in processes:
            process.wait()


def _start(folder: Path, words: Sequence[str]) -> subprocess.Popen:
    """Start it with this clone's Python packages if the commit requires the same, else with its own."""
    environment = {**os.environ, "MODERATO_CACHE": str(cache_root())}  # the path may be relative
    command = [str(folder / LAUNCHER)]
    if folder != ROOT and _requirements(folder) == _requirements(ROOT):
        command = [str(VENV / "bin" / "python"), "-m", "moderato.sim.lab.cli"]
        environment["PYTHONPATH"] = str(_importable(folder))  # searched before the installed clone
    # Ctrl-C reaches only this process. In a session of its own, a child would ignore SIGTSTP.
    return follow(
        subprocess.Popen(
            [*command, *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,
        ),
        signal.SIGTSTP,
    )


def _pyproject(folder: Path) -> dict:
    with open(folder / "pyproject.toml", "rb") as file:
        return tomllib.load(file)


def _requirements(folder: Path) -> tuple:
    """A checkout's requirements for its Python environment."""
    content = _pyproject(folder)
    return content["build-system"], content["project"]


def _importable(folder: Path) -> Path:
    """A folder from which a checkout can be imported: links, laid out as in pyproject.toml."""
    place = folder.parent / "python"
    (place / PACKAGE).mkdir(parents=True)
    for package, path in _pyproject(folder)["tool"]["setuptools"]["package-dir"].items():
        _, *below = package.split(".")
        if not below:
            for file in (folder / path).glob("*.py"):
                (place / PACKAGE / file.name).symlink_to(file)
        elif len(below) == 1:
            (place / PACKAGE / below[0]).symlink_to(folder / path)
    return place


def _pass_on(name: str, process: subprocess.Popen, result: Path):
    """Prefix a command's messages on standard error with its side, except those about its temporary
    file."""
    assert process.stderr is not None
    for line in process.stderr:
        if str(result) in line:
            continue
        print(
            f"moderato: {name}: {line.rstrip().removeprefix('moderato: ')}", file=sys.stderr, flush=True
        )
