# SPDX-License-Identifier: BSD-2-Clause
"""The tests' own processes (conftest.py of the project): shared work, and none left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from moderato.soc.toolchain.project import ROOT

# Starts a program that no Ctrl-C at the terminal reaches, as a simulator is, and waits for ever.
ENDLESS = """
import os, pathlib, signal, subprocess

def test_endless():
    child = subprocess.Popen(["sleep", "infinity"], start_new_session=True)
    pathlib.Path(__file__).with_suffix(".pid").write_text(f"{os.getpid()} {child.pid}\\n")
    signal.pause()
"""


def start(folder: Path, count: int) -> subprocess.Popen:
    """pytest with our options and conftest.py, on files of a test each."""
    for number in range(count):
        (folder / f"test_{number}.py").write_text(ENDLESS)
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "--rootdir", folder,
         "-o", "pythonpath=", "-p", "conftest", "-p", "no:cacheprovider", "-n", str(count), folder],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=folder, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def is_there(pid: str) -> bool:
    try:
        return "(zombie)" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_leaves_no_process(tmp_path, how):
    running = start(tmp_path, 2)
    names = [tmp_path / f"test_{number}.pid" for number in range(2)]
    while not all(name.exists() and name.read_text().endswith("\n") for name in names):
        assert running.poll() is None, running.stdout.read()
        time.sleep(0.05)
    pids = [pid for name in names for pid in name.read_text().split()]
    assert len(set(pids)) == 4 and all(map(is_there, pids))  # two workers, each with a child
    running.send_signal(how)
    output, _ = running.communicate()
    assert running.returncode == pytest.ExitCode.INTERRUPTED, output
    assert not any(map(is_there, pids))
