# SPDX-License-Identifier: BSD-2-Clause
"""Folders for a run's log and results."""

import contextlib
import fcntl

from moderato.toolchain.project import cache_root


@contextlib.contextmanager
def run_folder(name: str):
    """The folder of the latest run with this `name`. Two test sessions at once take turns."""
    folder = cache_root() / "runs" / name
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
