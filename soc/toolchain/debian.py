# SPDX-License-Identifier: BSD-2-Clause
"""Versions of the installed Debian packages that shape a build's result, for cache keys."""

import functools
import subprocess

from .cache import BuildError


@functools.cache
def version(package: str) -> str:
    """`name version` of an installed Debian package. Raises BuildError if it is not installed."""
    try:
        answer = subprocess.run(
            ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package],
            text=True, capture_output=True).stdout.split()
    except FileNotFoundError:
        answer = []
    if len(answer) != 2 or answer[0] != "installed":
        raise BuildError(f"the Debian package {package} is missing: run `./moderato setup`")
    return f"{package} {answer[1]}"
