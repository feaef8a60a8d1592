# SPDX-License-Identifier: BSD-2-Clause
"""The simulators of a session: one box, or two joined by a wire.

    host 0 ── port 0, box, port 1 ── host 1
    host 0 ── port 0, box 0, port 1 ── wire ── port 0, box 1, port 1 ── host 1

Each runs in a process of its own. The harness keeps both at the same simulated time.
"""

import contextlib
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass

from ..run.session import Session
from ..run.state import State
from ..show.guest_output import GuestOutput

DELAY_NS = 1000  # of the wire: 200 m of cable
ALONE = "the other box is gone"  # moderato-sim's message when the other one has failed


@dataclass(frozen=True)
class Box:
    """fields: of its `live` command; keep: descriptors among them; wire: its end of the wire."""

    ready: State
    fields: dict
    keep: tuple[int, ...] = ()
    wire: socket.socket | None = None

    def with_fields(self, keep: Sequence[int] = (), **fields) -> "Box":
        return Box(self.ready, self.fields | fields, (*self.keep, *keep), self.wire)

    def started(self):
        """Close our copy of the wire's end, when its simulator has it. While any other process has it,
        the other box cannot detect that this one ended."""
        if self.wire:
            self.wire.close()


@contextlib.contextmanager
def joined(ready: Sequence[State], delay_ns: float) -> Iterator[list[Box]]:
    """The boxes. If there are two, their wire exists while the block runs."""
    if len(ready) == 1:
        yield [Box(ready[0], {})]
        return
    delay = round(delay_ns * ready[0].machine.sys_clk_hz / 1e9)
    first, second = socket.socketpair()
    with first, second:
        yield [
            Box(
                state,
                {"wire": {"port": 1 - number, "socket": end.fileno(), "delay": delay}},
                (end.fileno(),),
                end,
            )
            for number, (state, end) in enumerate(zip(ready, (first, second), strict=True))
        ]


@contextlib.contextmanager
def opened(boxes: Sequence[Box]) -> Iterator[list[Session]]:
    """A running simulation for each box."""
    with contextlib.ExitStack() as stack:
        sessions = [stack.enter_context(box.ready.open(keep=box.keep)) for box in boxes]
        for box in boxes:
            box.started()
        yield sessions


class Running:
    """The boxes' `live` commands, which run during the block."""

    def __init__(self, boxes: Sequence[Box], sessions: Sequence[Session], output: GuestOutput):
        self.lines = Lines(output) if len(boxes) > 1 else None
        self.output = output
        self.pool = ThreadPoolExecutor(len(boxes))
        self.replies = [
            self.pool.submit(self._run, number, box, session)
            for number, (box, session) in enumerate(zip(boxes, sessions, strict=True))
        ]

    def _run(self, number: int, box: Box, session: Session) -> dict:
        session.progress = lambda told: self._show(number, told)
        try:
            reply = session.call("live", stream=True, **box.fields)
        except BaseException:
            # A simulator that rejects the command keeps its end of the wire open: the other one would
            # wait.
            session.end()
            raise
        self._show(number, reply)
        return reply

    def _show(self, number: int, told: dict):
        for note in told.get("notes", []):
            print(f"moderato: {note}", file=sys.stderr, flush=True)
        printed = bytes.fromhex(told.get("printed", "")).decode(errors="surrogateescape")
        printed = printed.replace("\r\n", "\n")
        if self.lines:
            self.lines.show(number, printed, told["cycle"])
        else:
            self.output.show(printed, told["cycle"])

    def when_ended(self, call: Callable[[], None]):
        """Call this when any box has ended."""
        for reply in self.replies:
            reply.add_done_callback(lambda _: call())

    def ended(self) -> bool:
        return any(reply.done() for reply in self.replies)

    def over(self, seconds: float) -> bool:
        """Whether all have ended; waits for this many seconds at most."""
        return not wait_for(self.replies, seconds).not_done

    def result(self) -> list[dict]:
        """Waits for the replies of all boxes. With two, raises the first failure, not its
        consequence."""
        wait_for(self.replies)
        self.pool.shutdown()
        if self.lines:
            self.lines.end()
        errors = [error for reply in self.replies if (error := reply.exception())]
        for error in sorted(errors, key=lambda error: ALONE in str(error)):
            raise error
        return [reply.result() for reply in self.replies]


class Lines:
    """The output of several guests in whole lines, each with the number of its box."""

    def __init__(self, output: GuestOutput):
        self.output, self.begun, self.cycle = output, {}, 0
        self.lock = threading.Lock()

    def show(self, box: int, piece: str, cycle: int):
        with self.lock:
            *lines, self.begun[box] = (self.begun.get(box, "") + piece).split("\n")
            self.cycle = cycle
            self.output.show("".join(f"box {box}: {line}\n" for line in lines), cycle)

    def end(self):
        for box, line in sorted(self.begun.items()):
            if line:
                self.show(box, "\n", self.cycle)
