# SPDX-License-Identifier: BSD-2-Clause
"""Runs jobs in parallel, one on each core, with a line of progress; Ctrl-C ends all of them.

The workers of a dask scheduler can run the trials instead. They need a clone of the same commit, but no
builds: simulator and checkpoints are sent to them, and cached by a hash of their content.
"""

import contextlib
import functools
import hashlib
import logging
import os
import socket
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import urlsplit

from moderato.toolchain.cache import artifact, key

from ..show.errors import LabError, reason
from ..show.progress import Progress
from . import session
from .session import Session
from .store import Store

if TYPE_CHECKING:
    from .state import State  # it runs jobs, too

REACHED = 5  # seconds in which a scheduler's machine must accept a connection,
TIMEOUT = 20  # and in which it must answer
HELLO = 1 << 16  # octets: larger than a scheduler's first message
STEP = 2  # seconds between checks whether any worker is left
RETRIES = 2  # of a trial whose worker was lost

Result = TypeVar("Result")
# A job's argument is a function that reports the share done, from 0 to 1.
Job = Callable[[Callable[[float], None]], Result]


def run_all(
    jobs: Sequence[tuple[str, Job[Result]]],
    what: str = "trials",
    found: dict[int, Result] | None = None,
    known: Sequence[str] = (),
    cores: int | None = None,
) -> list[Result]:
    """The results of named jobs, in their order. The first failure ends the others and is raised.

    found: receives each result when its job ends, by the job's number, so that results are there after a
    failure or Ctrl-C. known: names of jobs with earlier results. cores: None: all of this machine's.

    A job spends its time in a simulator process, so threads are enough to keep every core busy.
    """
    executor = ThreadPoolExecutor(cores or len(os.sched_getaffinity(0)))
    progress = Progress(what, len(known) + len(jobs))
    for name in known:
        progress.done(name, known=True)
    results = {} if found is None else found
    # The executor does not wait for a thread whose start was interrupted, so jobs wait for the last
    # start.
    started: Future = Future()

    def run(number: int, name: str, job: Job):
        started.result()
        progress.share(name, 0)
        results[number] = job(lambda done: progress.share(name, done))
        progress.done(name)

    try:
        pending = {executor.submit(run, number, *job) for number, job in enumerate(jobs)}
        started.set_result(None)
        while pending:
            done, pending = wait(pending, timeout=1, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()  # raises the job's exception
            progress.show()
        return [results[number] for number in range(len(jobs))]
    finally:
        started.cancel()
        executor.shutdown(wait=False, cancel_futures=True)
        with session.none_left():
            executor.shutdown()
        progress.end()


# Stored trials ------------------------------------------------------------------------------------


class Task(Protocol):
    """A trial: its name, and a hash of all that its record depends on."""

    @property
    def name(self) -> str: ...

    def key(self, ready: "State") -> str: ...


T = TypeVar("T", bound=Task)
# Yields tasks and receives their records; its return value is the result of the series.
Series = Generator[T, Any, object]
# Makes a task's record in a session. Arguments: sys_clk in Hz, a function that reports the share done.
Work = Callable[[T, Session, int, Callable[[float], None]], dict]


class Runner:
    """Runs trials on this machine's cores."""

    cores: int | None = None

    def run(
        self,
        series: Mapping[tuple, Series[T]],
        work: Work[T],
        ready: Callable[[T], "State"],
        store: Store,
        what: str = "searches",
        found: dict | None = None,
    ) -> dict:
        """The results of series of trials, by their keys. Earlier series begin first.

        ready: the state in which a task starts. what: the name of a series in the progress. found:
        receives each result when its series ends. A stored record is not made again; a new one is stored
        when its trial ends.
        """
        results = {} if found is None else found
        known, jobs = [], []

        def advance(each: tuple, record: dict | None = None) -> "tuple[T, State] | None":
            """Continue a series with stored records; returns its next trial that has none, or None."""
            while True:
                try:
                    task = series[each].send(record)
                except StopIteration as end:
                    results[each] = end.value
                    return None
                state = ready(task)
                record = store.get(task.key(state))
                if record is None:
                    return task, state

        def finish(each: tuple, trial: "tuple[T, State] | None", share: Callable[[float], None]):
            while trial:
                task, state = trial
                made = self.trial(work, task, state, share)
                record = {"key": task.key(state), "conditions": state.conditions} | made
                store.add(record)
                trial = advance(each, record)

        for each in series:
            trial = advance(each)
            if trial:
                jobs.append((_title(each), functools.partial(finish, each, trial)))
            else:
                known.append(_title(each))
        if series:
            run_all(jobs, what, known=known, cores=self.cores)
        return {each: results[each] for each in series}

    def trial(self, work: Work[T], task: T, state: "State", share: Callable[[float], None]) -> dict:
        """A task's record."""
        return _record(
            work, task, state.machine.simulator, state.checkpoint, state.machine.sys_clk_hz, share
        )


def _title(series: tuple) -> str:
    return " ".join(str(getattr(part, "name", part)) for part in series)


def _record(
    work: Work[T],
    task: T,
    simulator: Path,
    checkpoint: Path,
    sys_clk_hz: int,
    share: Callable[[float], None],
) -> dict:
    # The echo is for round trips: the tester evaluates a trial's frames, and does not return them.
    with Session(simulator, restore=checkpoint, udp_echo=True) as running:
        return work(task, running, sys_clk_hz, share)


@contextlib.contextmanager
def runner(scheduler: str | None = None) -> Iterator[Runner]:
    """Yields a runner for trials: on this machine's cores, or a dask scheduler's workers."""
    if scheduler is None:
        yield Runner()
        return
    require_scheduler(scheduler)
    import distributed  # takes a second

    for name in ("distributed", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(scheduler, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise _none_answers(scheduler, error) from None
    with client:
        yield Workers(client)


# Workers of a scheduler ---------------------------------------------------------------------------


def require_scheduler(address: str | None):
    """Raises LabError if no scheduler answers at an address. Called before anything is built."""
    if address is None or address.startswith("ucx:"):  # UCX may use another protocol than TCP
        return
    try:
        place = urlsplit(address if "://" in address else f"tcp://{address}")
        with socket.create_connection((place.hostname, place.port), REACHED) as stream:
            if place.scheme == "tcp":
                # The scheduler sends first: a message's length, then the message. Connected to another
                # service, dask might wait for ever.
                stream.settimeout(TIMEOUT)
                length = stream.recv(8, socket.MSG_WAITALL)
                if len(length) < 8:
                    raise ConnectionError("it hung up")
                if int.from_bytes(length, "little") > HELLO:
                    raise ConnectionError("it is another service")
    except (OSError, ValueError) as error:
        raise _none_answers(address, error) from None


def _none_answers(scheduler: str, error: Exception) -> LabError:
    return LabError(
        f"no dask scheduler answers at {scheduler} ({reason(error)}); start one with `dask "
        "scheduler`, or leave out --scheduler"
    )


class Workers(Runner):
    """Runs trials on a dask scheduler's workers."""

    def __init__(self, client):
        self.client, self.files, self.lock = client, {}, threading.Lock()
        self._require_workers()
        self.cores = sum(client.nthreads().values())

    def trial(self, work: Work[T], task: T, state: "State", share: Callable[[float], None]) -> dict:
        from distributed import KilledWorker

        for attempt in range(RETRIES + 1):  # dask forgets a cancelled key with a delay
            try:
                return self._result(
                    _remote,
                    work,
                    task,
                    self._file(state.machine.simulator),
                    self._file(state.checkpoint),
                    state.machine.sys_clk_hz,
                    version(),
                    key=f"{task.name} {task.key(state)} {attempt}",
                )
            except KilledWorker:
                raise LabError(f"each worker that had {task.name} ended; look there why") from None
            except (CancelledError, OSError):  # its worker is lost, or one with its files
                self._require_workers()
        raise LabError(f"dask cancelled {task.name}; look at its scheduler why")

    def _result(self, *call, key: str) -> dict:
        future = self.client.submit(*call, key=key, pure=False, retries=RETRIES)
        while True:
            try:
                return future.result(STEP)
            except TimeoutError:  # a task waits for ever if there is no worker
                session.require_wanted()
                self._require_workers()

    def _file(self, path: Path):
        """A file's content as an argument. dask may lose it together with a worker."""
        with self.lock:
            if path not in self.files or self.files[path].cancelled():
                content = path.read_bytes()
                blob = Blob(path.name, hashlib.sha256(content).hexdigest(), content)
                self.files[path] = self.client.scatter(blob, broadcast=True)
            return self.files[path]

    def _require_workers(self):
        with contextlib.suppress(Exception):  # dask raises many kinds
            # Updates the status: otherwise dask returns the previous workers.
            if self.client.scheduler_info()["workers"] and self.client.status == "running":
                return
        raise LabError(
            "the dask scheduler or its last worker is gone; look there why. What was found is "
            "kept, and the same command goes on with it"
        )


@dataclass(frozen=True)
class Blob:
    """A file to send to a worker."""

    name: str
    digest: str
    content: bytes

    def file(self) -> Path:
        """Its path in the worker's cache."""

        def build(folder: Path):
            (folder / self.name).write_bytes(self.content)
            (folder / self.name).chmod(0o755)

        return artifact("blob", [self.name, self.digest], build) / self.name


@functools.cache
def version() -> str:
    """A hash of the code that a worker runs."""
    return key("lab", [Path(__file__).parents[1]])


def _remote(
    work: Work, task: Task, simulator: Blob, checkpoint: Blob, sys_clk_hz: int, of_client: str
) -> dict:
    """A task's record; runs on a worker."""
    import distributed

    if version() != of_client:
        raise LabError("a worker runs another commit of Moderato; update its clone and restart it")
    worker = distributed.get_worker()
    name = worker.get_current_task()

    def share(_: float):
        state = worker.state.tasks.get(name)
        if state is None or state.state in ("cancelled", "released"):
            raise LabError("the task is not wanted any more")

    return _record(work, task, simulator.file(), checkpoint.file(), sys_clk_hz, share)
