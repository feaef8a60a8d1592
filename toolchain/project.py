# SPDX-License-Identifier: BSD-2-Clause
"""The project's folders, its pyproject.toml, its version."""

import functools
import importlib.metadata
import os
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
IS_CLONE = (ROOT / "pyproject.toml").is_file()  # not a package from a wheel
UNKNOWN = "commit unknown"
DIRTY = "-dirty"  # at the end of a version: files differ from the commit
SKIP = "MODERATO_SKIP_PACKAGES"  # set: users install the system's packages themselves


@functools.cache
def pyproject() -> dict:
    """All of pyproject.toml."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)


def settings() -> dict:
    """The [tool.moderato] tables: Debian packages, the commands that need them, sources, Maven."""
    return pyproject()["tool"]["moderato"]


def release() -> str:
    """The version in pyproject.toml, or of the installed package."""
    return pyproject()["project"]["version"] if IS_CLONE else importlib.metadata.version("moderato")


def commit() -> str | None:
    """The clone's commit, with `-dirty` if files differ from it. None in a package, or without git."""
    return git("describe", "--always", f"--dirty={DIRTY}") if IS_CLONE else None


@functools.cache
def version() -> str:
    """The version that a result names: the commit, or else the release. A clone without a commit adds
    UNKNOWN."""
    return commit() or release() + f", {UNKNOWN}" * IS_CLONE


def title() -> str:
    """Release and commit, for people: `0.2.0, commit 1a2b3c4`."""
    return f"{release()}, commit {commit()}" if commit() else version()


def uncommitted() -> list[str] | None:
    """Files that differ from the commit, and untracked files that git does not ignore. None if the
    commit is unknown."""
    status = git("status", "--porcelain")
    return None if status is None else [line[3:] for line in status.splitlines()]


def git(*words: str) -> str | None:
    """git's output about this clone, without the last newline; None if git knows no commit.

    An unpacked tarball has no commit, even inside another repository. The clone may belong to another
    user (safe.directory): its programs run anyway.
    """
    # In a git hook, git's variables describe the hook's repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}

    def ask(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", ROOT, "-c", f"safe.directory={ROOT}", *words],
            text=True,
            capture_output=True,
            check=True,
            env=environment,
        ).stdout.rstrip("\n")

    try:
        return ask(*words) if Path(ask("rev-parse", "--show-toplevel")) == ROOT else None
    except (OSError, subprocess.CalledProcessError):
        return None


def cache_root() -> Path:
    """The folder of the build cache: $MODERATO_CACHE, or ~/.cache/moderato."""
    return Path(os.environ.get("MODERATO_CACHE") or Path.home() / ".cache" / "moderato").absolute()


def is_first_run() -> bool:
    """Whether the builds of a simulated system are still to be made: the cache has no kernel."""
    return not (cache_root() / "linux").is_dir()


def skips_packages() -> bool:
    return bool(os.environ.get(SKIP))
