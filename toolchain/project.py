# SPDX-License-Identifier: BSD-2-Clause
"""Where the project stands on disk, and what its pyproject.toml says."""

import functools
import importlib.metadata
import os
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
IS_CLONE = (ROOT / "pyproject.toml").is_file()  # the whole project, and not a package from a wheel
UNKNOWN = "commit unknown"
DIRTY = "-dirty"  # at the end of a version: files differ from the commit
SKIP = "MODERATO_SKIP_PACKAGES"  # set: Debian's packages, or what is like them, are the user's task


@functools.cache
def pyproject() -> dict:
    """All of pyproject.toml."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)


def settings() -> dict:
    """Its [tool.moderato] tables: Debian packages, what needs them, sources, Maven versions."""
    return pyproject()["tool"]["moderato"]


def release() -> str:
    """The version of CHANGELOG.md: it stands in pyproject.toml, and a package was made with it."""
    return pyproject()["project"]["version"] if IS_CLONE else importlib.metadata.version("moderato")


def commit() -> str | None:
    """The clone's, with `-dirty` if files differ from it; None of a package, and if git knows none."""
    return git("describe", "--always", f"--dirty={DIRTY}") if IS_CLONE else None


@functools.cache
def version() -> str:
    """What a result was made with: the commit; else the release, and of a clone that its commit is
    unknown."""
    return commit() or release() + f", {UNKNOWN}" * IS_CLONE


def title() -> str:
    """Both, for people: `0.2.0, commit 1a2b3c4`."""
    return f"{release()}, commit {commit()}" if commit() else version()


def uncommitted() -> list[str] | None:
    """Files that differ from the commit, or that git does not know and does not ignore. None if the
    commit is unknown."""
    status = git("status", "--porcelain")
    return None if status is None else [line[3:] for line in status.splitlines()]


def git(*words: str) -> str | None:
    """What git prints about this clone, less the end of the last line; None if it knows no commit.

    A tarball unpacked inside a repository is none of its commits. Whose the clone is does not matter:
    its programs run anyway.
    """
    # Of a hook that runs us, git's own variables are about another repository.
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
    """The folder of everything that is built: $MODERATO_CACHE, or ~/.cache/moderato."""
    return Path(os.environ.get("MODERATO_CACHE") or Path.home() / ".cache" / "moderato").absolute()


def skips_packages() -> bool:
    return bool(os.environ.get(SKIP))
