# SPDX-License-Identifier: BSD-2-Clause
"""Trials side by side through dask.distributed: on this machine's cores, or on a cluster's.

Workers elsewhere need a clone of the same commit, and nothing built: simulator and checkpoints
travel to them by the hash of their content, once.
"""

import contextlib
import functools
import hashlib
import logging
import os
import queue
import socket
import time
from collections.abc import Callable, Container, Generator, Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from moderato.toolchain.cache import artifact, key

from ..show.errors import LabError, reason
from ..show.progress import Progress
from . import session
from .session import Session
from .state import State
from .store import Store

PROGRESS = "moderato-progress"  # the topic of workers' events
REACHED = 5  # seconds in which a scheduler's machine takes a connection,
PATIENCE = 20  # and in which it has to answer
RETRIES = 2  # of a trial whose worker went away


class Task(Protocol):
    """A trial: what it is called, and what its record depends on."""

    name: str

    def key(self, ready: State) -> str: ...


# Yields tasks and takes their records; what it returns is the job's result.
Job = Generator[Task, dict, object]
# Makes a task's record in a session; told sys_clk in Hz, and whom to tell the share done.
Work = Callable[[Task, Session, int, Callable[[float], None]], dict]


def require_scheduler(address: str | None):
    """Raises LabError if no scheduler is at an address: before anything is built for it."""
    if address is None or address.startswith("ucx:"):  # that need not be TCP
        return
    try:
        place = urlsplit(address if "://" in address else f"tcp://{address}")
        with socket.create_connection((place.hostname, place.port), REACHED) as stream:
            if place.scheme == "tcp":  # the scheduler speaks first, and dask would wait for ever
                stream.settimeout(PATIENCE)
                if not stream.recv(1):
                    raise ConnectionError("it hung up")
    except (OSError, ValueError) as error:
        raise _none_answers(address, error) from None


def _none_answers(scheduler: str, error: Exception) -> LabError:
    return LabError(
        f"no dask scheduler answers at {scheduler} ({reason(error)}); start one with `dask "
        "scheduler`, or leave out --scheduler"
    )


@contextlib.contextmanager
def farm(scheduler: str | None = None) -> Iterator["Farm"]:
    """A farm while the `with` block runs.

    scheduler: a dask scheduler's address; without one, this machine's cores are the workers.
    """
    require_scheduler(scheduler)
    import dask
    import distributed  # takes a second

    for name in ("distributed", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if scheduler is None:
        # Threads are enough: a trial spends its time in a simulator process. They are not given up
        # when nothing is heard of them, as after Ctrl-Z, or when the machine slept.
        with dask.config.set({"distributed.scheduler.worker-ttl": None}):
            place = distributed.LocalCluster(
                n_workers=len(os.sched_getaffinity(0)),
                threads_per_worker=1,
                processes=False,
                protocol="inproc",
                dashboard_address="127.0.0.1:0",
            )
    else:
        place = contextlib.nullcontext(scheduler)
    with contextlib.ExitStack() as closing, place as address:
        try:
            client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, MemoryError) as error:  # the last one is that of other protocols
            raise _none_answers(scheduler, error) from None
        with client:
            try:
                yield Farm(client, local=scheduler is None)
            finally:
                closing.enter_context(session.none_left())  # of workers in this process


class Farm:
    """Workers, near or far."""

    def __init__(self, client, local: bool):
        self.client, self.local = client, local
        self.files = {}

    def run(
        self,
        jobs: Mapping[tuple, Job],
        work: Work,
        ready: Callable[[Task], State],
        store: Store,
        what: str = "searches",
        found: dict | None = None,
    ) -> dict:
        """The results of jobs, by their keys. Earlier ones go first, later ones fill the cores.

        ready: the state in which a task starts. work: a function that workers can import. what:
        jobs are called in the progress. found: gets each result when its job ends.
        A record that the store holds is not made again; a new one is stored when its trial ends.
        """
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        results = {} if found is None else found  # job → result
        running = {}  # future → (job, task, the state in which it starts, attempt)
        order = {job: -number for number, job in enumerate(jobs)}
        finished = queue.SimpleQueue()
        progress = Progress(what, len(jobs))

        def advance(job: tuple, record: dict | None):
            """Give a job its record, and go on with it as far as records are known."""
            new = record is not None
            while True:
                try:
                    task = jobs[job].send(record)
                except StopIteration as end:
                    results[job] = end.value
                    progress.done(_title(job), known=not new)
                    return
                state = ready(task)
                record = store.get(task.key(state))
                if record is None:
                    break
            submit(job, task, state)

        def submit(job: tuple, task: Task, state: State, attempt: int = 0):
            future = self._submit(work, task, state, order[job], attempt)
            running[future] = job, task, state, attempt
            future.add_done_callback(finished.put)

        self.client.subscribe_topic(PROGRESS, lambda event: progress.share(*event[1]))
        try:
            for job in jobs:
                advance(job, None)
            while running:
                with contextlib.suppress(queue.Empty):
                    future = finished.get(timeout=1)
                    job, task, state, attempt = running.pop(future)
                    try:
                        made = future.result()
                    except KilledWorker:
                        raise LabError(
                            f"each worker that had {task.name} ended; look there why"
                        ) from None
                    except (CancelledError, CommClosedError):
                        # Its files went with the only worker that had them, or its result came to
                        # nobody.
                        self._require_workers()
                        if attempt == RETRIES:
                            raise LabError(
                                f"dask cancelled {task.name}; look at its scheduler why"
                            ) from None
                        submit(job, task, state, attempt + 1)
                        continue
                    record = {"key": task.key(state), "conditions": state.conditions} | made
                    progress.stop(record["name"])
                    store.add(record)
                    advance(job, record)
                progress.show()
        finally:
            self.client.unsubscribe_topic(PROGRESS)
            if jobs:
                progress.end()
        return {job: results[job] for job in jobs}

    def _submit(self, work: Work, task: Task, state: State, priority: int, attempt: int):
        return self.client.submit(
            _serve,
            work,
            task,
            self.file(state.machine.simulator),
            self.file(state.checkpoint),
            state.machine.sys_clk_hz,
            version(),
            key=f"{task.name} {task.key(state)} {attempt}",  # dask forgets a key it cancelled late
            priority=priority,
            pure=False,
            retries=0 if self.local else RETRIES,
        )

    def file(self, path: Path):
        """A file as an argument: its path for workers here, its content for others.

        dask soon has one copy of it only, which may be lost with a worker.
        """
        if self.local:
            return path
        if path not in self.files or self.files[path].cancelled():
            content = path.read_bytes()
            self.files[path] = self._scatter(
                Blob(path.name, hashlib.sha256(content).hexdigest(), content)
            )
        return self.files[path]

    def _scatter(self, blob: "Blob"):
        """The blob at all workers. One that ends while it gets it fails for dask; the others get it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self.client.scatter(blob, broadcast=True)
            except OSError as error:
                self._require_workers()
                if time.monotonic() > deadline:
                    raise LabError(
                        f"dask could not bring {blob.name} to its workers "
                        f"({reason(error)}); look at its scheduler why"
                    ) from None

    def _require_workers(self):
        """Or what is given to none would be waited for, for ever."""
        if not self.addresses():
            raise LabError(
                "no worker of the dask scheduler is left; look there why. What was found is "
                "kept, and the same command goes on with it"
            )

    def addresses(self) -> Container[str]:
        """Of workers that are there. Raises LabError if their scheduler is not."""
        with contextlib.suppress(Exception):  # dask has many
            there = self.client.scheduler_info()["workers"]
            if self.client.status == "running":  # or dask gives what it knew before
                return there
        raise LabError("the dask scheduler is gone; look there why")


def _title(job: tuple) -> str:
    return " ".join(str(getattr(part, "name", part)) for part in job)


# Workers ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Blob:
    """A file under way to a worker."""

    name: str
    digest: str
    content: bytes

    def file(self) -> Path:
        """Where the worker's cache keeps it."""

        def build(folder: Path):
            (folder / self.name).write_bytes(self.content)
            (folder / self.name).chmod(0o755)

        return artifact("blob", [self.name, self.digest], build) / self.name


@functools.cache
def version() -> str:
    """Of the code that a worker runs."""
    return key("lab", [Path(__file__).parents[1]])


def require_version(of_client: str):
    """Raises LabError if this worker's code is not that of who asks."""
    if version() != of_client:
        raise LabError("a worker runs another commit of Moderato; update its clone and restart it")


def on_worker(file: Path | Blob) -> Path:
    """Where an argument is that `Farm.file` has made."""
    return file.file() if isinstance(file, Blob) else file


class Here:
    """The worker that runs the function which makes this, for one task."""

    def __init__(self):
        import distributed

        self.worker = distributed.get_worker()
        self.task = self.worker.get_current_task()

    def require_wanted(self):
        """Raises LabError if nobody waits for the task any more."""
        state = self.worker.state.tasks.get(self.task)
        if state is None or state.state in ("cancelled", "released"):
            raise LabError("the task is not wanted any more")

    def tell(self, topic: str, message):
        """Say something to who has subscribed to the topic."""
        self.worker.log_event(topic, message)


def _serve(
    work: Work,
    task: Task,
    simulator: Path | Blob,
    checkpoint: Path | Blob,
    sys_clk_hz: int,
    client_version: str,
) -> dict:
    """A trial's record; runs in a worker."""
    require_version(client_version)
    here = Here()

    def report(share: float):
        here.require_wanted()
        here.tell(PROGRESS, (task.name, share))

    # What a trial offers is judged, not returned.
    with Session(on_worker(simulator), restore=on_worker(checkpoint), udp_echo=True) as running:
        return work(task, running, sys_clk_hz, report)
