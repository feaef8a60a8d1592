# SPDX-License-Identifier: BSD-2-Clause
"""Where the project stands on disk, and what its pyproject.toml says."""

import functools
import os
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"


@functools.cache
def pyproject() -> dict:
    """All of pyproject.toml."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)


def settings() -> dict:
    """Its [tool.moderato] tables: Debian packages, what needs them, sources, Maven versions."""
    return pyproject()["tool"]["moderato"]


@functools.cache
def version() -> str:
    """The commit, with `-dirty` if files differ from it; without git, the package's version."""
    try:
        return subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], text=True,
                              capture_output=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return pyproject()["project"]["version"]


def uncommitted() -> list[str]:
    """Files that differ from the commit, or that git does not know and does not ignore."""
    status = subprocess.run(["git", "-C", ROOT, "status", "--porcelain"], text=True,
                            capture_output=True, check=True).stdout
    return [line[3:] for line in status.splitlines()]


def cache_root() -> Path:
    """The folder of everything that is built: $MODERATO_CACHE, or ~/.cache/moderato."""
    return Path(os.environ.get("MODERATO_CACHE") or Path.home() / ".cache" / "moderato").absolute()
