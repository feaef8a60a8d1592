# SPDX-License-Identifier: BSD-2-Clause
"""Runs jobs side by side, one on each core, with a line of progress; Ctrl-C ends them all."""

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from . import session

# A job gets a function to report its share done, from 0 to 1.
Job = Callable[[Callable[[float], None]], object]


def run_all(jobs: Sequence[tuple[str, Job]], what: str = "trials") -> list:
    """The results of named jobs, in their order. The first failure ends the others and is raised.

    A job spends its time in a simulator process, so threads are enough to keep every core busy.
    """
    executor = ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0)))
    progress = _Progress(what, len(jobs))
    try:
        futures = [executor.submit(progress.run, name, job) for name, job in jobs]
        pending = set(futures)
        while pending:
            done, pending = wait(pending, timeout=1, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()  # raises what the job raised
            progress.show()
        return [future.result() for future in futures]
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        session.end_all()
        executor.shutdown()
        progress.finish()


class _Progress:
    """`moderato: 3 of 12 trials, 40 s: napi 64 41 %, original 64 7 %`."""

    def __init__(self, what: str, total: int):
        self.what, self.total, self.finished = what, total, 0
        self.start = time.monotonic()
        self.shares: dict[str, float] = {}
        self.lock = threading.Lock()
        self.live = sys.stderr.isatty()

    def run(self, name: str, job: Job):
        """Run one job while showing it; called in a worker's thread."""
        def report(share: float):
            with self.lock:
                self.shares[name] = share
        report(0)
        result = job(report)
        with self.lock:
            del self.shares[name]
            self.finished += 1
            if not self.live:
                print(self._head() + f": {name} done", file=sys.stderr, flush=True)
        return result

    def show(self):
        if self.live:
            with self.lock:
                running = ", ".join(f"{name} {share:.0%}" for name, share in self.shares.items())
                print(f"\r\033[K{self._head()}: {running}", end="", file=sys.stderr, flush=True)

    def finish(self):
        if self.live:
            print("\r\033[K" + self._head(), file=sys.stderr, flush=True)

    def _head(self) -> str:
        seconds = time.monotonic() - self.start
        return f"moderato: {self.finished} of {self.total} {self.what}, {seconds:.0f} s"
