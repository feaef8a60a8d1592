# SPDX-License-Identifier: BSD-2-Clause
"""A box on a worker of dask: what runs there. far.py is the other half."""

import contextlib
import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ..run import farm
from ..run.session import Session
from ..show.errors import LabError
from . import streams
from .boxes import ALONE

TOPIC = "moderato-live"  # of workers' events: (session, box, what it says)
FILES = ("record", "capture")  # that the simulator writes, and that go back
LONGEST = 1 << 16  # octets of a frame
STEP = 0.5  # seconds between looks whether the session is wanted


@dataclass(frozen=True)
class Order:
    """A box of a session. token: known to those who may connect. port: where its host is. fields: of the
    `live` command, without descriptors and files."""

    session: str
    box: int
    token: str
    port: int
    fields: dict
    files: tuple[str, ...]


def serve(order: Order, simulator, checkpoint, of_client: str) -> tuple[dict | None, str | None, dict]:
    """The command's reply, or what went wrong; and the content of the files that were written."""
    farm.require_version(of_client)
    here = farm.Here()
    simulator, checkpoint = farm.on_worker(simulator), farm.on_worker(checkpoint)

    def tell(said: dict):
        here.tell(TOPIC, (order.session, order.box, said))

    # dask clears its folder of workers that were killed.
    with tempfile.TemporaryDirectory(dir=here.worker.local_directory) as folder:
        files = {name: Path(folder) / name for name in order.files}
        fields = order.fields | {name: str(path) for name, path in files.items()}
        reply = wrong = None
        try:
            with _connections(order, here, tell) as (host, wire):
                reply = _run(simulator, checkpoint, order.port, fields, host, wire, tell)
        except LabError as error:
            wrong = str(error)
        return reply, wrong, {name: path.read_bytes() for name, path in files.items() if path.exists()}


@contextlib.contextmanager
def _connections(
    order: Order, here: farm.Here, tell
) -> Iterator[tuple[socket.socket, socket.socket | None]]:
    """From who has the host, and from or to the other box, if there is one."""
    wired, found = "wire" in order.fields, {}
    with (
        contextlib.ExitStack() as closing,
        streams.listener(urlsplit(here.worker.address).hostname) as listener,
    ):
        listener.settimeout(STEP)
        tell({"listening": listener.getsockname()[:2]})
        needed, limit = {"host", "wire"} if wired else {"host"}, None
        while needed - set(found):
            here.require_wanted()
            if limit and time.monotonic() > limit:
                raise LabError(f"{ALONE}: its worker has not connected to this one")
            if come := streams.accept(listener, order.token):
                stream, greeting = come
                found[greeting["for"]] = closing.enter_context(stream)
                limit = time.monotonic() + 2 * streams.PATIENCE
                if wired and order.box and greeting["for"] == "host":
                    found["wire"] = closing.enter_context(
                        streams.connect(tuple(greeting["peer"]), order.token, "wire")
                    )
        yield found["host"], found.get("wire")


def _run(
    simulator: Path,
    checkpoint: Path,
    port: int,
    fields: dict,
    host: socket.socket,
    wire: socket.socket | None,
    tell,
) -> dict:
    """The session, whose host's frames come and go by a stream; it ends when none can come any more."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.setblocking(False)
    read, write = os.pipe()
    fields |= {"hosts": [None] * port + [theirs.fileno()], "until_closed": read}
    if wire:
        fields["wire"] = fields["wire"] | {"socket": wire.fileno()}
    pumps = [
        threading.Thread(target=_to_box, args=(host, ours, write)),
        threading.Thread(target=_from_box, args=(ours, host)),
    ]
    for pump in pumps:
        pump.start()
    keep = [read, theirs.fileno(), *([wire.fileno()] if wire else [])]
    try:
        with Session(simulator, restore=checkpoint, keep=keep) as running:
            theirs.close()
            if wire:
                wire.close()  # or the other box would not notice this one's end
            running.progress = tell
            return running.call("live", stream=True, **fields)
    finally:
        theirs.close()
        pumps[1].join()  # with the last frame
        with contextlib.suppress(OSError):  # it is closed
            host.shutdown(socket.SHUT_RD)
        pumps[0].join()
        ours.close()
        os.close(read)


def _to_box(host: socket.socket, box: socket.socket, until_closed: int):
    with contextlib.suppress(OSError):
        while (frame := streams.receive(host)) is not None:
            box.send(frame)
    os.close(until_closed)


def _from_box(box: socket.socket, host: socket.socket):
    with contextlib.suppress(OSError):
        while frame := box.recv(LONGEST):
            streams.send(host, frame)
    with contextlib.suppress(OSError):
        host.shutdown(socket.SHUT_WR)
