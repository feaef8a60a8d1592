# SPDX-License-Identifier: BSD-2-Clause
"""Runs jobs side by side, one on each core, with a line of progress; Ctrl-C ends them all."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from ..show.progress import Progress
from . import session

# A job gets a function to report its share done, from 0 to 1.
Job = Callable[[Callable[[float], None]], object]


def run_all(
    jobs: Sequence[tuple[str, Job]], what: str = "trials", found: dict[int, object] | None = None
) -> list:
    """The results of named jobs, in their order. The first failure ends the others and is raised.

    found: gets each result when its job ends, by the job's number, for who wants those that there
    are after a failure or a stop.

    A job spends its time in a simulator process, so threads are enough to keep every core busy.
    """
    executor = ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0)))
    progress = Progress(what, len(jobs))
    results = {} if found is None else found

    def run(number: int, name: str, job: Job):
        progress.share(name, 0)
        results[number] = job(lambda done: progress.share(name, done))
        progress.done(name)

    try:
        pending = {executor.submit(run, number, *job) for number, job in enumerate(jobs)}
        while pending:
            done, pending = wait(pending, timeout=1, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()  # raises what the job raised
            progress.show()
        return [results[number] for number in range(len(jobs))]
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        with session.none_left():
            executor.shutdown()
        progress.end()
