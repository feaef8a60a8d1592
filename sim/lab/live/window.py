# SPDX-License-Identifier: BSD-2-Clause
"""The page of a live session. A process next to the simulator serves it on this host.

    page (page/) ── WebSocket ── this process ── SOCK_SEQPACKET ── moderato-sim

Messages are JSON; sim/harness/README.md describes them. This process passes them on, and adds data that
only the lab has. The server ends with the simulator, for whatever reason.
"""

import asyncio
import contextlib
import hmac
import json
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ..show.errors import LabError
from .cpu_terms import Busy

PAGE = Path(__file__).parent / "page"
LONGEST = 1 << 20  # octets of a message from the simulator
CONTROLS = {"pause", "run", "step", "goto", "pace", "load", "type"}  # requests that a page may send
MOST_ASKED = 4096  # octets of a message from a page
MOST_WAITING = 16  # for a page: more than half a second


@contextlib.contextmanager
def opened(about: dict) -> Iterator[int]:
    """Serve the page while any process has the descriptor that this yields: the simulator's end.

    about: data for the page: variant, names, the CPU's terms (cpu_terms.py). Prints the address.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(theirs.fileno()), json.dumps(about)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        assert process.stdout is not None
        with process.stdout:
            address = process.stdout.readline().strip()
        if not address:
            process.wait()
            raise LabError("the window could not be opened: no port of 127.0.0.1 is free")
        print(
            f"moderato: the window, for a browser on this machine: {address}",
            file=sys.stderr,
            flush=True,
        )
        yield ours.fileno()


# The process ---------------------------------------------------------------------------------------


class Relay:
    """Passes messages between the simulator and the open pages."""

    def __init__(self, simulator: socket.socket, about: dict):
        self.simulator = simulator
        self.about = about
        self.pages: set[Page] = set()
        self.busy = Busy()
        self.ended = asyncio.Event()

    def add(self, page: "Page"):
        self.pages.add(page)
        self.send({"do": "open"})  # makes the simulator send the data that only a new page needs

    def remove(self, page: "Page"):
        page.writing.cancel()
        self.pages.discard(page)
        if not self.pages:
            self.send({"do": "close"})

    def asked(self, message: str | bytes) -> str | None:
        """Handle a page's request; returns an error message, or None."""
        try:
            control = json.loads(message)
            if control["do"] not in CONTROLS or len(message) > MOST_ASKED:
                return "this is no control of a window"
        except (ValueError, TypeError, KeyError):
            return "this is no control of a window"
        return self.send(control)

    def send(self, control: dict) -> str | None:
        try:
            self.simulator.send(json.dumps(control).encode())
        except BlockingIOError:
            return "the simulator is busy; try again"
        except OSError:
            return "the session has ended"
        return None

    def read(self):
        """Handle a message of the simulator."""
        try:
            message = self.simulator.recv(LONGEST)
        except BlockingIOError:
            return
        except OSError:
            message = b""
        if not message:
            self.ended.set()
            return
        message = json.dumps(self.fuller(json.loads(message)))
        for page in self.pages:
            page.tell(message)

    def fuller(self, message: dict) -> dict:
        """A message with the lab's additional data."""
        if "about" in message:
            message["about"] |= self.about
        if stacks := message.get("state", {}).pop("stacks", None):
            message["state"]["terms"] = self.busy.take(stacks)
        return message


def application(token: str, relay: Relay):
    """The web application; every address begins with the token."""
    import tornado.web
    import tornado.websocket

    class Private(tornado.web.RequestHandler):
        def prepare(self):
            if not hmac.compare_digest(self.path_args[0].encode(), token.encode()):
                raise tornado.web.HTTPError(403)

        def set_default_headers(self):
            self.set_header("Cache-Control", "no-store")
            self.set_header("Referrer-Policy", "no-referrer")
            self.set_header("Content-Security-Policy", "default-src 'self'")

        def write_error(self, status_code, **_):
            if status_code == 403:
                self.finish("403: give the whole address that ./moderato live --watch has printed\n")
            else:
                self.finish(f"{status_code}\n")

    class File(Private, tornado.web.StaticFileHandler):
        async def get(self, _, path, include_body=True):
            await super().get(path, include_body)

        async def head(self, _, path):
            await super().get(path, include_body=False)

    class Connection(Private, tornado.websocket.WebSocketHandler):
        def open(self, _):
            self.page = Page(self.write_message)
            relay.add(self.page)

        def on_message(self, message):
            if wrong := relay.asked(message):
                self.write_message(json.dumps({"note": wrong}))

        def on_close(self):
            relay.remove(self.page)

    class Other(Private):
        def prepare(self):
            raise tornado.web.HTTPError(403)

    return tornado.web.Application(
        [
            (r"/([^/]+)/socket", Connection),
            (r"/([^/]+)/(.*)", File, {"path": PAGE, "default_filename": "index.html"}),
        ],
        default_handler_class=Other,
        websocket_max_message_size=MOST_ASKED,
    )


class Page:
    """An open page. It skips messages while MOST_WAITING are in its queue."""

    def __init__(self, write):
        self.write = write
        self.waiting = asyncio.Queue(MOST_WAITING)
        self.writing = asyncio.create_task(self._write())

    def tell(self, message: str):
        with contextlib.suppress(asyncio.QueueFull):
            self.waiting.put_nowait(message)

    async def _write(self):
        import tornado.iostream
        import tornado.websocket

        with contextlib.suppress(
            tornado.websocket.WebSocketClosedError, tornado.iostream.StreamClosedError
        ):
            while True:
                await self.write(await self.waiting.get())


async def serve(simulator: socket.socket, about: dict):
    """Until the simulator ends. Prints the address."""
    import tornado.httpserver
    import tornado.netutil

    relay, token = Relay(simulator, about), secrets.token_urlsafe(16)
    simulator.setblocking(False)
    asyncio.get_running_loop().add_reader(simulator, relay.read)
    sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
    server = tornado.httpserver.HTTPServer(application(token, relay))
    server.add_sockets(sockets)
    print(f"http://127.0.0.1:{sockets[0].getsockname()[1]}/{token}/", flush=True)
    sys.stdout.close()
    await relay.ended.wait()
    asyncio.get_running_loop().remove_reader(simulator)
    await asyncio.sleep(0.2)  # time to send the last message


def main():
    import logging

    logging.disable(logging.CRITICAL)  # the terminal belongs to the guest
    with socket.socket(fileno=int(sys.argv[1])) as simulator:
        asyncio.run(serve(simulator, json.loads(sys.argv[2])))


if __name__ == "__main__":
    main()
