# SPDX-License-Identifier: BSD-2-Clause
"""Slow builds print their progress, also in tests whose output pytest captures."""

import os
import subprocess
import sys

import pytest

from moderato.toolchain import progress
from moderato.toolchain.project import ROOT

TEST = """
from moderato.toolchain import cache

def build(directory):
    print("kept for the report")

def test_builds():
    cache.artifact("thing", ["a"], build, note="9 minutes")

def test_looks(capsys):
    cache.artifact("thing", ["b"], build, note="9 minutes")
    assert "making thing (9 minutes)" in capsys.readouterr().err

def test_has_a_cache_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path))
    cache.artifact("thing", ["c"], build, note="9 minutes")
"""


@pytest.mark.parametrize("processes", [0, 2])
def test_progress_is_printed_while_tests_run(tmp_path, processes):
    (tmp_path / "test_it.py").write_text(TEST)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-o",
            "pythonpath=",
            "-p",
            "conftest",
            "-n",
            str(processes),
            "-c",
            ROOT / "pyproject.toml",
            "--rootdir",
            tmp_path,
            tmp_path,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "MODERATO_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)},
    )
    assert "3 passed" in done.stdout
    said = done.stdout + done.stderr
    assert said.count("moderato: making thing (9 minutes) ...") == 1
    assert said.count("moderato: making thing: done in 0 s") == 1
    assert "kept for the report" not in said


@pytest.mark.parametrize("raised, outcome", [(KeyboardInterrupt, "stopped"), (OSError, "failed")])
def test_stopped_step_is_not_failed(raised, outcome, capsys):
    with pytest.raises(raised), progress.step("making thing"):
        raise raised
    assert f"moderato: making thing: {outcome} after 0 s" in capsys.readouterr().err
