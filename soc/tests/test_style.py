# SPDX-License-Identifier: BSD-2-Clause
"""Python of the whole project by the rules in pyproject.toml, C++ by those beside it."""

import subprocess
import sys
from pathlib import Path

from moderato.soc.toolchain.project import ROOT


def test_ruff():
    found = subprocess.run([sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format",
                            "concise", ROOT], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


def test_clang_format():
    harness = ROOT / "sim/harness"
    files = sorted(file for kind in ("*.h", "*.cpp") for file in harness.rglob(kind))
    assert len(files) > 40
    program = Path(sys.executable).with_name("clang-format")
    found = subprocess.run([program, "--dry-run", "--Werror", *files], capture_output=True,
                           text=True)
    assert found.returncode == 0, found.stderr
