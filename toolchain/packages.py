# SPDX-License-Identifier: BSD-2-Clause
"""The packages that this machine needs: by its release, from the tables in pyproject.toml.

Imported before anything is installed: standard library only.
"""

import functools
import re
import shutil
from pathlib import Path

from .project import SKIP, settings, skips_packages

OS_RELEASE = Path("/etc/os-release")


@functools.cache
def release() -> str | None:
    """Codename of this system's release, or of the one it derives from; None if set-up knows neither."""
    try:
        text = OS_RELEASE.read_text()
    except OSError:
        return None
    words = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))
    codenames = (words.get(f"{word}_CODENAME") for word in ("VERSION", "DEBIAN", "UBUNTU"))
    known = settings()["releases"] if shutil.which("apt-get") else {}
    return next((name for name in codenames if name in known), None)


def known() -> str:
    """The releases that set-up knows, for a message."""
    return ", ".join(settings()["releases"])


def are_installed_here() -> bool:
    """Whether set-up installs packages: on a release that it knows, unless SKIP is set."""
    return release() is not None and not skips_packages()


def names(needs: list[str]) -> list[str]:
    """The packages of the lists `needs`, without those that this release lacks."""
    lists = settings()["debian"]
    lacks = settings()["releases"].get(release(), [])
    return sorted({name for need in needs for name in lists[need]} - set(lacks))


def how_to_install(package: str = "") -> str:
    """How a user gets a missing file of a package."""
    if skips_packages():
        return f"install it by hand: {SKIP} is set, so `./moderato setup` does not"
    if release() is None:
        return f"install it by hand: `./moderato setup` installs packages on {known()} only"
    if package in settings()["releases"][release()]:
        return f"{release()} has no package {package}; get it from Debian"
    return "run `./moderato setup`"
