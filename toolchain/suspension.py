# SPDX-License-Identifier: BSD-2-Clause
"""Ctrl-Z also stops the programs that this process started. The terminal does not signal them, because
they have process groups of their own."""

import os
import signal
import subprocess
import weakref

_following: "weakref.WeakKeyDictionary[subprocess.Popen, int]" = weakref.WeakKeyDictionary()


def follow(process: subprocess.Popen, how: int = signal.SIGSTOP) -> subprocess.Popen:
    """When this process stops, send `how` to the process group that `process` leads."""
    _following[process] = how
    return process


def suspend(*_):
    """Handler of SIGTSTP; returns after SIGCONT."""
    running = [(process, how) for process, how in _following.items() if process.poll() is None]
    for process, how in running:
        os.killpg(process.pid, how)
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    signal.raise_signal(signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, before)
    for process, _ in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGCONT)
