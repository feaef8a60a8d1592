# SPDX-License-Identifier: BSD-2-Clause
"""The tests' own processes (top conftest.py) share the work, and all of them end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from moderato.toolchain.project import ROOT

# Starts a program in its own session, like a simulator, which Ctrl-C at the terminal does not reach.
ENDLESS = """
import os, pathlib, signal, subprocess

def test_endless():
    child = subprocess.Popen(["sleep", "infinity"], start_new_session=True)
    pathlib.Path(__file__).with_suffix(".pid").write_text(f"{os.getpid()} {child.pid}\\n")
    signal.pause()
"""

# After a test that stops a command of the lab, the next test can still be stopped.
STOPPED = """
import os, signal
from moderato.sim.lab import cli

def test_stopped(monkeypatch):
    monkeypatch.setattr(cli, "parse", lambda words: os.kill(os.getpid(), signal.SIGINT))
    assert cli.main([]) == 130
    assert signal.getsignal(signal.SIGINT) == signal.getsignal(signal.SIGTERM) == signal.SIG_IGN

def test_next():
    assert signal.SIG_IGN not in map(signal.getsignal, (signal.SIGINT, signal.SIGTERM))
"""


def start(folder: Path, text: str, count: int) -> subprocess.Popen:
    """pytest with our options and conftest.py, on `count` files with this text."""
    for number in range(count):
        (folder / f"test_{number}.py").write_text(text)
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "pytest",
            "-c",
            ROOT / "pyproject.toml",
            "--rootdir",
            folder,
            "-o",
            "pythonpath=",
            "-p",
            "conftest",
            "-p",
            "no:cacheprovider",
            "-n",
            str(count),
            folder,
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def is_there(pid: str) -> bool:
    try:
        return "(zombie)" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_leaves_no_process(tmp_path, how):
    running = start(tmp_path, ENDLESS, 2)
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


def test_signal_handlers_are_restored_after_a_test(tmp_path):
    running = start(tmp_path, STOPPED, 1)
    output, _ = running.communicate()
    assert running.returncode == pytest.ExitCode.OK and "2 passed" in output, output
