# SPDX-License-Identifier: BSD-2-Clause
"""Signals from beyond a host, which itself sees no process of others."""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def meanwhile(process: int, number: int, first: Callable = lambda: None) -> Iterator[str]:
    """What a host runs, upon which, after `first`, a process gets a signal."""

    def kill():
        with open("begun"):
            first()
            os.kill(process, number)

    os.mkfifo("begun")
    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    yield ": > begun"
    thread.join()
