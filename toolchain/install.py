# SPDX-License-Identifier: BSD-2-Clause
"""Set-up of the machine: Debian packages and the project's own Python environment.

Run by the launcher with the system's Python, so this file and what it imports use the standard
library only:  python3 -m toolchain.install SUBCOMMAND
"""

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
    # Ctrl-C during the imports below prints no traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import packages
from .cache import has_no_network, locked
from .progress import step
from .project import ROOT, SKIP, VENV, cache_root, is_first_run, pyproject, settings, skips_packages

STAMP = VENV / "moderato.stamp"  # keys of the environment
PLACE = VENV / "moderato.place"  # the clone's path when the environment was made
LISTS = Path("/var/lib/apt/lists")  # also in the launcher
MEMINFO = Path("/proc/meminfo")
MEMORY_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container
SKIP_SPACE = "MODERATO_SKIP_SPACE"
SKIP_HINT = f"{SKIP_SPACE}=1 skips this check"


class InstallError(Exception):
    """Set-up failed; the message is one line with cause and remedy."""


# Debian packages ----------------------------------------------------------------------------------


def missing_packages(wanted: list[str]) -> list[str]:
    """The packages of `wanted` that are not installed. Asks dpkg only: no network, no root, 10 ms."""
    if not shutil.which("dpkg-query"):
        return wanted
    status = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *wanted],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ).stdout
    installed = {line.split()[0] for line in status.splitlines() if line.endswith(" installed")}
    return [package for package in wanted if package not in installed]


def install_packages(wanted: list[str], log: Path):
    """Install Debian packages through apt, as root or through sudo."""
    names = " ".join(wanted)
    root = [] if os.geteuid() == 0 else ["sudo"]
    # `sudo true` asks for the password before the step's line is printed.
    lacks = ""
    if root and not shutil.which("sudo"):
        lacks = "there is no sudo"
    elif root and call(["sudo", "true"], log):
        lacks = f"sudo failed ({log})"
    if lacks:
        raise InstallError(
            f"Debian packages are missing, this user is not root, and {lacks}; "
            f"as root, run: apt-get install --no-install-recommends {names}"
        )
    apt = [
        "env",
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "-q",
        "-y",
        "-o",
        "DPkg::Lock::Timeout=600",
    ]
    with step(f"installing {len(wanted)} Debian package{'s' * (len(wanted) > 1)}", "up to 3 minutes"):
        # update also fails if a third-party archive does not answer. Only install's result counts. apt
        # waits for its other locks, but not for that of its lists.
        call([*root, "flock", LISTS, *apt, "update"], log)
        if call([*root, *apt, "install", "--no-install-recommends", *wanted], log):
            raise InstallError(f"apt-get could not install the Debian packages: {reason(log)}")


def missing_programs(needs: list[str]) -> list[str]:
    """Programs that are not in PATH, as `name (Fedora's package, Arch's package)`."""
    tables = settings()["programs"]
    rows = dict.fromkeys(tuple(row) for need in needs for row in tables.get(need, []))
    return [f"{name} ({fedora}, {arch})" for name, fedora, arch in rows if not shutil.which(name)]


# Python -------------------------------------------------------------------------------------------


def environment_key(extras: list[str]) -> str:
    """A hash of what .venv is made from: pyproject.toml's Python part, the clone's path, `extras`."""
    content = pyproject()
    made_from = [
        content["build-system"],
        content["project"],
        content["tool"]["setuptools"],
        str(ROOT),
        extras,
    ]
    return hashlib.sha256(json.dumps(made_from).encode()).hexdigest()


def environment_is_made(extras: list[str]) -> bool:
    return STAMP.is_file() and environment_key(extras) in STAMP.read_text().split()


def make_environment(extras: list[str], log: Path):
    """Make or refresh .venv: the pinned packages and the project itself, editable."""
    python = VENV / "bin" / "python"
    with step("installing Python packages into .venv", "about 1 minute"):
        if not usable(python):
            call([sys.executable, "-P", "-m", "venv", "--clear", VENV], log, "cannot make .venv")
        # pip mistakes a half-installed package for a whole one. Without these marks, the next run
        # makes .venv again.
        for mark in (STAMP, PLACE):
            mark.unlink(missing_ok=True)
        target = f"{ROOT}[{','.join(['lab', *extras])}]"
        call(
            [python, "-P", "-m", "pip", "install", "--quiet", "--editable", target],
            log,
            "pip could not install the Python packages",
        )
    PLACE.write_text(str(ROOT))
    STAMP.write_text(f"{environment_key(extras)}\n{environment_key([])}\n")


def usable(python: Path) -> bool:
    """Whether .venv still works: the clone was not moved (scripts hold its path), and Python's version
    is the same."""
    if not PLACE.is_file() or PLACE.read_text() != str(ROOT) or not python.exists():
        return False
    return subprocess.run([python, "-P", "-m", "pip", "--version"], capture_output=True).returncode == 0


# Space --------------------------------------------------------------------------------------------


def require_space(needs: list[str], packages: float, environment: bool):
    """Raise InstallError if what a first run makes does not fit: the share `packages` of the Debian
    packages, .venv if `environment`, the builds if the cache has no kernel."""
    if os.environ.get(SKIP_SPACE):
        return
    sizes = settings()["space"]
    builds = "linux" in needs and is_first_run()
    wanted: dict[int, list] = {}  # by file system: [GB, one of the folders]
    for folder, size in (
        (Path("/usr"), sizes["packages"] * packages),
        (ROOT, sizes["environment"] * environment),
        (cache_root(), sizes["builds"] * builds),
    ):
        there = next(path for path in (folder, *folder.parents) if path.exists())
        entry = wanted.setdefault(there.stat().st_dev, [0, there])
        entry[0] += size
    for size, folder in wanted.values():
        disk = os.statvfs(folder)
        free = disk.f_bavail * disk.f_frsize / 1e9
        if disk.f_blocks and free < size:  # some network file systems give no size
            raise InstallError(
                f"this run needs {size:.1f} GB of disk at {folder}, and {free:.1f} GB are free; free "
                f"some space, or point MODERATO_CACHE at a larger disk; {SKIP_HINT}"
            )
    memory = max(sizes["memory"], sizes["memory-each-core"] * (os.cpu_count() or 1))
    if builds and (free := free_memory()) < memory:
        raise InstallError(
            f"the builds need {memory:.1f} GB of memory, and {free:.1f} GB are free; stop other "
            f"programs, or add swap space; {SKIP_HINT}"
        )


def free_memory() -> float:
    """GB that programs can still get, with swap space, and within the container's limit."""
    lines = dict(line.split(":") for line in MEMINFO.read_text().splitlines())
    free = [sum(int(lines[name].split()[0]) * 1024 for name in ("MemAvailable", "SwapFree"))]
    with contextlib.suppress(OSError, ValueError):  # no limit, or none that is visible
        free.append(int(MEMORY_LIMIT.read_text()))
    return min(free) / 1e9


# Helpers ------------------------------------------------------------------------------------------


def call(command: list, log: Path, failure: str = "") -> int:
    """Run a command with output to `log`. Raises InstallError if it fails and `failure` has a text."""
    with open(log, "a") as output:
        status = subprocess.run(
            list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output, stderr=output
        ).returncode
    if status and failure:
        raise InstallError(f"{failure}: {reason(log)}")
    return status


def reason(log: Path) -> str:
    """The likely cause of a failure, from the end of the log, with a remedy."""
    tail = log.read_text(errors="replace")[-20000:]
    # sudo also warns if it cannot resolve the host's name, and works.
    tail = re.sub(r"^sudo: .*$", "", tail, flags=re.MULTILINE)
    if "No space left on device" in tail or "enough free space" in tail:
        return f"a disk is full; free some space (also in {tempfile.gettempdir()}) and try again ({log})"
    if has_no_network(tail):
        return f"no network; connect this machine, or configure a mirror, and try again ({log})"
    if "Read-only file system" in tail or "Permission denied: " in tail:
        return f"{ROOT} is not writable; make it writable, or use a clone that is ({log})"
    lines = [line.strip() for line in tail.splitlines() if line.startswith(("E:", "ERROR", "error:"))]
    first = lines[0] if lines else "see the log"
    # Debian 12 has Linux 6.12 among its security updates.
    if "Unable to locate package" in first or "no installation candidate" in first:
        first += "; apt's sources need all of the release: main, updates and security"
    return f"{first} ({log})"


def main(arguments: list[str]) -> int:
    """Set up what the subcommand in `arguments` needs; quick and offline if all is installed."""
    needs = ["python", *settings()["needs"].get(arguments[0] if arguments else "", [])]
    extras = ["boards"] if "boards" in needs else []
    wanted = packages.names(needs)

    def missing():
        return missing_packages(wanted) if packages.are_installed_here() else []

    try:
        lacking, is_made = missing(), environment_is_made(extras)
        require_space(needs, len(lacking) / len(wanted), not is_made)
        if not lacking and is_made:
            return 0
        log = cache_root() / "setup.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with locked(log.with_suffix(".lock"), "another set-up"):
            log.write_text("")
            if lacking := missing():
                install_packages(lacking, log)
            elif (
                packages.release() is None
                and not skips_packages()
                and (lacking := missing_programs(needs))
            ):
                raise InstallError(
                    f"set-up installs packages on {packages.known()} only; install these programs (in "
                    "brackets: Fedora's and Arch's packages), or continue without them with "
                    f"{SKIP}=1: {', '.join(lacking)}"
                )
            if not environment_is_made(extras):
                make_environment(extras, log)
    except InstallError as error:
        print(f"moderato: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"moderato: set-up failed: {error.filename or cache_root()}: {error.strerror}; "
            "free some space, make it writable, or point MODERATO_CACHE at another folder",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
