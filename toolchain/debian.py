# SPDX-License-Identifier: BSD-2-Clause
"""Versions of the installed Debian packages that shape a build's result, for cache keys."""

import functools
import subprocess

from .cache import BuildError
from .packages import are_installed_here, how_to_install


@functools.cache
def version(package: str) -> str:
    """`name version` of an installed Debian package. Raises BuildError if it is not installed.

    Where users install packages themselves, the version is unknown: keys contain the name only, and an
    upgrade changes no key.
    """
    try:
        answer = subprocess.run(
            ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package],
            text=True,
            capture_output=True,
        ).stdout.split()
    except FileNotFoundError:
        answer = []
    if len(answer) != 2 or answer[0] != "installed":
        if not are_installed_here():
            return f"{package} of this machine"
        raise BuildError(f"the Debian package {package} is missing: {how_to_install(package)}")
    return f"{package} {answer[1]}"
