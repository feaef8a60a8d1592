# SPDX-License-Identifier: BSD-2-Clause
"""Programs from PyPI that only tests run, each in an environment of its own."""

import sys
from pathlib import Path

from moderato.toolchain.cache import artifact, run
from moderato.toolchain.project import settings

# Starts a Python script with the interpreter in the script's own folder.
HERE_PYTHON = """#!/bin/sh
'''exec' "$(dirname "$0")/python" "$0" "$@"
' '''
"""


def programs(name: str) -> Path:
    """The bin folder of an environment with the packages that [tool.moderato.tools] lists for `name`."""
    packages = settings()["tools"][name]

    def install(directory: Path):
        folder = directory / "venv/bin"
        run([sys.executable, "-m", "venv", directory / "venv"])
        run([folder / "python", "-m", "pip", "install", "--quiet", *packages])
        for script in folder.iterdir():  # the first line of pip's scripts names this folder
            if not script.is_symlink() and script.read_bytes().startswith(b"#!/"):
                text = script.read_text().split("\n", 1)[1]
                script.write_text(HERE_PYTHON + text)

    return artifact(name, [*packages, sys.version], install, "half a minute") / "venv/bin"
