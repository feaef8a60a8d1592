# SPDX-License-Identifier: BSD-2-Clause
"""Ctrl-Z: programs that we have started stop and continue with us. The terminal does not reach those
that have a process group of their own."""

import os
import signal
import subprocess
import weakref

_following: "weakref.WeakKeyDictionary[subprocess.Popen, int]" = weakref.WeakKeyDictionary()


def follow(process: subprocess.Popen, how: int = signal.SIGSTOP) -> subprocess.Popen:
    """Stop the program's process group, whose number is its own, by the signal `how` when we stop."""
    _following[process] = how
    return process


def suspend(*_):
    """Handler of SIGTSTP: returns when SIGCONT has come."""
    running = [(process, how) for process, how in _following.items() if process.poll() is None]
    for process, how in running:
        os.killpg(process.pid, how)
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    signal.raise_signal(signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, before)
    for process, _ in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGCONT)
