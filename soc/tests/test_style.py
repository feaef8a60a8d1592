# SPDX-License-Identifier: BSD-2-Clause
"""Python of the whole project by the rules in pyproject.toml."""

import subprocess
import sys

from moderato.soc.toolchain.project import ROOT


def test_ruff():
    found = subprocess.run([sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format",
                            "concise", ROOT], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
