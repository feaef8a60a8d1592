# SPDX-License-Identifier: BSD-2-Clause
"""One terminal for the consoles of two boxes; a key switches between them. Each simulator has a
pseudo-terminal, whose other end is here. Output of the hidden console is shown when it is chosen."""

import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import tty
from collections.abc import Iterator, Sequence

from moderato.toolchain.suspension import follow

from ..run.session import PROMPT, octets
from .boxes import Box

GREETING = """\
moderato: it is box 0 of two; Ctrl-A n goes to the other one's console, and back.
"""
CTRL_A = 1
MOST_HIDDEN = 1 << 20  # octets of hidden output that are kept: the latest


def words(box: Box) -> list[str]:
    """The command line of a simulator with the guest's console on its terminal."""
    fields = {name: octets(value) for name, value in box.fields.items()}
    simulator = str(box.ready.machine.simulator)
    return [
        simulator,
        "--restore",
        str(box.ready.checkpoint),
        "--interactive",
        "--prompt",
        PROMPT,
        "--live",
        json.dumps(fields),
    ]


def relay(boxes: Sequence[Box], greeting: str) -> int:
    """Connect our terminal until both have ended; returns the status of the first that failed, or 0."""
    for box in boxes:
        box.ready.open().end()  # replaces an unusable checkpoint
    print(greeting, end="", file=sys.stderr, flush=True)
    with _started(boxes) as (processes, terminals), _raw():
        Switch(terminals).run()
        statuses = [process.wait() for process in processes]
    return next(filter(None, statuses), 0)


@contextlib.contextmanager
def _started(boxes: Sequence[Box]) -> Iterator[tuple[list[subprocess.Popen], list[int]]]:
    """The simulators, and our ends of their terminals. SIGTERM lets a simulator complete its
    recording."""
    with contextlib.ExitStack() as stack:
        processes, ours = [], []
        size = fcntl.ioctl(sys.stdout, termios.TIOCGWINSZ, bytes(8))
        for box in boxes:
            end, theirs = pty.openpty()
            stack.callback(os.close, end)
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
            process = follow(
                subprocess.Popen(
                    words(box), stdin=theirs, stdout=theirs, pass_fds=box.keep, start_new_session=True
                )
            )
            os.close(theirs)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            processes.append(process)
            ours.append(end)
            box.started()
        yield processes, ours


@contextlib.contextmanager
def _raw() -> Iterator[None]:
    """Pass each key on at once, also Ctrl-C. Restores the terminal, even if a signal ends this
    process."""
    before = termios.tcgetattr(sys.stdin)
    handlers = {each: signal.signal(each, _leave) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        tty.setraw(sys.stdin)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        for each, handler in handlers.items():
            signal.signal(each, handler)


def _leave(number: int, _):
    raise SystemExit(128 + number)


class Switch:
    """Passes keys and output between our terminal and those of the simulators."""

    def __init__(self, terminals: Sequence[int]):
        self.terminals = list(terminals)
        self.shown = 0
        self.hidden = dict.fromkeys(range(len(terminals)), b"")
        self.escaped = False  # Ctrl-A was the last key

    def run(self):
        """Returns when all terminals are closed."""
        opened = dict(enumerate(self.terminals))
        while opened:
            ready, _, _ = select.select([sys.stdin, *opened.values()], [], [])
            for number, terminal in list(opened.items()):
                if terminal in ready and not self._printed(number, terminal):
                    del opened[number]
            if sys.stdin in ready:
                self._typed(os.read(sys.stdin.fileno(), 256))

    def _printed(self, number: int, terminal: int) -> bool:
        """Show its output; False if the terminal is closed."""
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:
            return False
        if number == self.shown:
            _write(piece)
        else:
            self.hidden[number] = (self.hidden[number] + piece)[-MOST_HIDDEN:]
        return bool(piece)

    def _typed(self, keys: bytes):
        """Handle Ctrl-A n; pass all other keys to the shown console."""
        passed = b""
        for key in keys:
            if self.escaped:
                self.escaped = False
                if key != ord("n"):
                    passed += bytes([CTRL_A, key])
                    continue
                self._pass(passed)
                passed = b""
                self._turn()
            elif key == CTRL_A:
                self.escaped = True
            else:
                passed += bytes([key])
        self._pass(passed)

    def _pass(self, keys: bytes):
        with contextlib.suppress(OSError):  # the simulator has ended
            os.write(self.terminals[self.shown], keys)

    def _turn(self):
        self.shown = 1 - self.shown
        _write(f"\r\nmoderato: box {self.shown}\r\n".encode())
        _write(self.hidden[self.shown])
        self.hidden[self.shown] = b""


def _write(octets: bytes):
    sys.stdout.buffer.write(octets)
    sys.stdout.buffer.flush()
