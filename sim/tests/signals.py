# SPDX-License-Identifier: BSD-2-Clause
"""Signals from outside of a live session's host, which sees no other processes."""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def meanwhile(process: int, number: int, first: Callable = lambda: None) -> Iterator[str]:
    """A command for a host. When it runs, `first` is called and a process gets a signal."""

    def kill():
        with open("begun"):
            first()
            os.kill(process, number)

    os.mkfifo("begun")
    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    yield ": > begun"
    thread.join()
