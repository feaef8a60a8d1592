# SPDX-License-Identifier: BSD-2-Clause
"""Where the project stands on disk, and what its pyproject.toml says."""

import functools
import os
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"


@functools.cache
def settings() -> dict:
    """The [tool.moderato] tables of pyproject.toml: Debian packages, sources, Maven versions."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["tool"]["moderato"]


def cache_root() -> Path:
    """The folder of everything that is built: $MODERATO_CACHE, or ~/.cache/moderato."""
    return Path(os.environ.get("MODERATO_CACHE") or Path.home() / ".cache" / "moderato").absolute()
