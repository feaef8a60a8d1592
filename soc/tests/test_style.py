# SPDX-License-Identifier: BSD-2-Clause
"""Python follows the rules of pyproject.toml; C and C++ follow .clang-format and .clang-tidy."""

import importlib.metadata
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pypi_tools import programs

from moderato.sim.harness import build
from moderato.toolchain import project, verilator
from moderato.toolchain.cache import artifact
from moderato.toolchain.project import ROOT

HARNESS = ROOT / "sim/harness"


def test_ruff():
    found = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format", "concise", ROOT],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_ruff_format():
    found = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--no-cache", "--check", ROOT],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_types():
    found = subprocess.run(
        [programs("pyright") / "pyright", "--project", ROOT], capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_spelling():
    """codespell finds words of a list of common mistakes, so it accepts rare words."""
    command = [sys.executable, "-m", "codespell_lib", *project.git("ls-files").splitlines()]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


def test_clang_format():
    """C and C++ outside the driver, whose style checkpatch checks."""
    files = [
        file
        for folder in ROOT.iterdir()
        if folder.name[0] != "." and folder.name != "linux-driver"
        for file in folder.rglob("*")
        if file.suffix in (".c", ".cpp", ".h")
    ]
    assert len(files) > 100
    program = Path(sys.executable).with_name("clang-format")
    found = subprocess.run([program, "--dry-run", "--Werror", *files], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def test_clang_tidy():
    """The cache remembers clean files until they or a header change."""
    model = model_headers()
    options = [
        "-std=c++17",
        "-Wall",
        "-Wextra",
        *(
            word
            for kind, folders in {
                "-I": [HARNESS, HARNESS / "tcp", ROOT / "soc/linux"],
                "-isystem": [
                    build.library("clang-19") / "include",
                    model,
                    verilator.root() / "include",
                    verilator.root() / "include/vltstd",
                ],
            }.items()
            for folder in folders
            for word in (kind, folder)
        ),
        *(f"-DVM_{what}=0" for what in ("TRACE", "COVERAGE", "SC", "TIMING")),
    ]
    headers = [
        *sorted(HARNESS.rglob("*.h")),
        *sorted(HARNESS.rglob(".clang-tidy")),
        build.PATTERN,
        importlib.metadata.version("clang-tidy"),
        model.parent.name,
        *map(str, options[:3]),
    ]
    program = Path(sys.executable).with_name("clang-tidy")

    def findings(file: Path) -> str:
        def look(_):
            found = subprocess.run(
                [program, "--quiet", file, "--", *options], capture_output=True, text=True
            )
            if found.returncode:
                raise Finding(found.stdout + found.stderr)

        try:
            artifact("clang-tidy", [file, *headers], look)
            return ""
        except Finding as finding:
            return str(finding)

    files = sorted(HARNESS.rglob("*.cpp"))
    assert len(files) > 30
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as workers:
        found = "".join(workers.map(findings, files))
    assert not found, found


class Finding(Exception):
    """clang-tidy's output for a file."""


def model_headers() -> Path:
    """A folder with the headers that build.py generates for the mock of the SoC."""
    mock = HARNESS.parent / "tests/harness/mock"
    makers = [HARNESS / name for name in ("build.py", "cores.py", "meters.py", "rings.py", "top.py")]
    inputs = [mock / "soc.json", *sorted(mock.glob("*.sv")), *makers, verilator.version()]
    made = artifact(
        "model-headers", inputs, lambda folder: build.verilate(mock, folder / "model", "0" * 32)
    )
    return made / "model"
