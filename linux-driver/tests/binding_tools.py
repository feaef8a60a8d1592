# SPDX-License-Identifier: BSD-2-Clause
"""The programs that check device tree bindings (dtschema, from PyPI), in an environment of their own."""

import sys
from pathlib import Path

from moderato.toolchain.cache import artifact, run
from moderato.toolchain.project import settings

# Starts a Python script with the interpreter in the script's own folder.
HERE_PYTHON = """#!/bin/sh
'''exec' "$(dirname "$0")/python" "$0" "$@"
' '''
"""


def binding_tools() -> Path:
    """The folder with dt-validate and the other programs, which the kernel's own check also calls."""
    version = settings()["dtschema"]["version"]

    def install(directory: Path):
        run([sys.executable, "-m", "venv", directory / "venv"])
        run([directory / "venv/bin/python", "-m", "pip", "install", "--quiet", f"dtschema=={version}"])
        for script in (directory / "venv/bin").glob("dt-*"):  # their first line names this folder
            text = script.read_text().split("\n", 1)[1]
            script.write_text(HERE_PYTHON + text)

    return artifact("dtschema", [version, sys.version], install, "half a minute") / "venv/bin"
