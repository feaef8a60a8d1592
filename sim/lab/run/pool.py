# SPDX-License-Identifier: BSD-2-Clause
"""Runs jobs side by side, one on each core, with a line of progress; Ctrl-C ends them all."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from ..show.progress import Progress
from . import session

# A job gets a function to report its share done, from 0 to 1.
Job = Callable[[Callable[[float], None]], object]


def run_all(jobs: Sequence[tuple[str, Job]], what: str = "trials") -> list:
    """The results of named jobs, in their order. The first failure ends the others and is raised.

    A job spends its time in a simulator process, so threads are enough to keep every core busy.
    """
    executor = ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0)))
    progress = Progress(what, len(jobs))

    def run(name: str, job: Job):
        progress.share(name, 0)
        result = job(lambda done: progress.share(name, done))
        progress.done(name)
        return result

    try:
        futures = [executor.submit(run, name, job) for name, job in jobs]
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
        progress.end()
