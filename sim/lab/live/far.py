# SPDX-License-Identifier: BSD-2-Clause
"""Boxes whose simulators run on workers of a dask scheduler, on other machines.

    host 0 ── TAP ── this process ══ worker 0 ── moderato-sim, box 0
                              ║                       ║ the wire
    host 1 ── TAP ────────────╨═════ worker 1 ── moderato-sim, box 1          ══, ║: TCP

The hosts stay on this machine. Where a box runs changes no cycle: it is told what comes in and when,
and the wire keeps two in the same simulated time, however long its messages take. dask starts the
simulators, and brings back what they print, reply and write.
"""

import contextlib
import itertools
import os
import queue
import secrets
import select
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from urllib.parse import urlsplit

from ..run import farm
from ..show.errors import LabError, reason
from . import streams
from .boxes import Box
from .far_box import FILES, TOPIC, Order, serve

LONGEST = 1 << 16  # octets of a frame
STEP = 0.05  # seconds between looks at a task
BUSY = 5  # seconds without a sign of a worker, after which we say that we wait for it


@contextlib.contextmanager
def opened(boxes: Sequence[Box], scheduler: str) -> Iterator[list["FarSession"]]:
    """A simulation of each, as boxes.opened() has them, on workers."""
    for box in boxes:
        box.started()  # the local wire is not needed
        box.ready.open().end()  # mends a checkpoint that can't be used
    with farm.farm(scheduler) as workers, contextlib.ExitStack() as closing:
        session, token = secrets.token_hex(8), secrets.token_hex(16)
        sessions = []
        places = _places(workers, scheduler, len(boxes))
        for number, box in enumerate(boxes):
            sessions.append(FarSession(number, box, places, workers))
            closing.callback(sessions[number].end)

        def hear(event):
            of, number, said = event[1]
            if of == session:
                sessions[number].said.put(said)

        workers.client.subscribe_topic(TOPIC, hear)
        closing.callback(workers.client.unsubscribe_topic, TOPIC)
        for each in sessions:
            each.begin(session, token)
        listening = [each.listening(sessions) for each in sessions]
        for each, address, peer in zip(sessions, listening, (None, listening[0]), strict=False):
            each.connect(address, token, peer)
        yield sessions


def _places(workers: farm.Farm, scheduler: str, count: int) -> list[str]:
    """Addresses of so many workers, of different machines if there are."""
    machines = {}
    for address in sorted(workers.addresses()):
        machines.setdefault(urlsplit(address).hostname, []).append(address)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*machines.values()))
    places = [address for address in turns if address][:count]
    if len(places) < count:
        raise LabError(
            f"each box needs a worker of its own, and the scheduler at {scheduler} has "
            f"{len(places)}; start more: dask worker {scheduler}"
        )
    print(
        "moderato: " + ", ".join(f"box {number} runs on {place}" for number, place in enumerate(places)),
        file=sys.stderr,
        flush=True,
    )
    return places


class FarSession:
    """A box on a worker; to boxes.Running a Session that takes one command."""

    def __init__(self, number: int, box: Box, places: Sequence[str], workers: farm.Farm):
        """places: the workers of all boxes."""
        self.number, self.box, self.places, self.workers = number, box, places, workers
        self.place = places[number]
        self.progress = self.future = self.stream = None
        self.said = queue.SimpleQueue()  # by the worker: first where it listens, then what happens
        self.ended, self.hung_up = threading.Event(), threading.Event()
        self.until_closed = os.fdopen(os.dup(box.fields["until_closed"]), "rb", buffering=0)
        self.port, self.tap = next(
            (port, tap) for port, tap in enumerate(box.fields["hosts"]) if tap is not None
        )
        self.threads = [threading.Thread(target=pump) for pump in (self._to_box, self._from_box)]

    def begin(self, session: str, token: str):
        """Have dask start the simulator on the worker."""
        machine, fields = self.box.ready.machine, dict(self.box.fields)
        del fields["hosts"], fields["until_closed"]
        self.files = {name: Path(fields.pop(name)) for name in FILES if name in fields}
        order = Order(session, self.number, token, self.port, fields, tuple(self.files))
        self.future = self.workers.client.submit(
            serve,
            order,
            self.workers.file(machine.simulator),
            self.workers.file(self.box.ready.checkpoint),
            farm.version(),
            key=f"{session}-{self.number}",
            workers=[self.place],
            pure=False,
        )

    def listening(self, sessions: Sequence["FarSession"]) -> streams.Address:
        """Where, as soon as its worker is idle. Raises what went wrong with any of them."""
        asked = time.monotonic()
        while True:
            with contextlib.suppress(queue.Empty):
                return tuple(self.said.get(timeout=STEP)["listening"])
            for each in sessions:
                if each.future.done():
                    each._result()
            self._require_workers()
            if asked and time.monotonic() > asked + BUSY:
                print(f"moderato: waiting for {self.place}, which is busy", file=sys.stderr, flush=True)
                asked = None

    def connect(self, address: streams.Address, token: str, peer: streams.Address | None):
        """To the worker; peer: where the worker of box 0 listens for the wire, unless it is that one."""
        self.stream = streams.connect(address, token, "host", peer=peer)
        for thread in self.threads:
            thread.start()

    def call(self, *_, **__) -> dict:
        """The reply to the `live` command, when the session has ended."""
        while not self.future.done():
            if self.ended.is_set():
                raise LabError("the session is not wanted any more")
            if self.hung_up.is_set():
                self._require_workers()
            self._show(STEP)
        self._show()
        return self._result()

    def _show(self, patience: float = 0):
        """What the worker has said, or says in so many seconds."""
        with contextlib.suppress(queue.Empty):
            self.progress(self.said.get(timeout=patience))
            while True:
                self.progress(self.said.get_nowait())

    def _require_workers(self):
        """A task whose worker is gone would wait for it for ever, or is cancelled if the worker had
        the only copy of its files: of two tasks both may be."""
        there = self.workers.addresses()
        for number, place in enumerate(self.places):
            if place not in there:
                raise LabError(f"box {number}'s worker, {place}, is gone; look there why")

    def _result(self) -> dict:
        try:
            reply, error, files = self.future.result()
        except CancelledError:
            self._require_workers()
            raise LabError("dask cancelled the session; look at its scheduler why") from None
        except LabError as refused:
            reply, error, files = None, str(refused), {}
        except Exception as failed:  # dask has many
            reply, error, files = None, reason(failed), {}
        for name, content in files.items():
            try:
                self.files[name].write_bytes(content)
            except BrokenPipeError:
                print(f"moderato: {self.files[name]}: its reader left before the end", file=sys.stderr)
                if reply:
                    reply["written"].remove(name)
        if error:
            raise LabError(f"box {self.number}, on {self.place}: {error}")
        return reply

    def end(self):
        """Nobody wants it any more; harmless when it has ended, also by this. The pipe `until_closed`
        is closed."""
        self.ended.set()
        if self.future:
            self.future.cancel()
        if self.stream:
            with contextlib.suppress(OSError):
                self.stream.shutdown(socket.SHUT_RDWR)
            for thread in self.threads:
                thread.join()
            self.stream.close()
        self.until_closed.close()

    # Frames of the host ----------------------------------------------------------------------------

    def _to_box(self):
        """Until the session shall end, which the box notices because no further one can come."""
        looking = select.poll()
        looking.register(self.tap, select.POLLIN)
        looking.register(self.until_closed)
        looking.register(self.stream, 0)  # when end() shuts it
        with contextlib.suppress(OSError):
            while not {self.until_closed.fileno(), self.stream.fileno()} & set(dict(looking.poll())):
                with contextlib.suppress(BlockingIOError):
                    streams.send(self.stream, os.read(self.tap, LONGEST))
            self.stream.shutdown(socket.SHUT_WR)

    def _from_box(self):
        with contextlib.suppress(OSError):
            while (frame := streams.receive(self.stream)) is not None:
                with contextlib.suppress(OSError):  # the host does not take it
                    os.write(self.tap, frame)
        self.hung_up.set()
