# SPDX-License-Identifier: BSD-2-Clause
"""`moderato board console`: the board's console on this terminal, or one command in its shell."""

import contextlib
import os
import select
import sys
import termios
import tty
from collections.abc import Iterator

from ..show.errors import UsageError
from .serial_line import SerialLine
from .shell import Shell

CTRL_A = b"\x01"
LEAVE = b"x"


def run(device: str, baud_rate: int, command: str, timeout: float) -> int:
    """Run a command on the board; print its output and return its status."""
    with SerialLine(device, baud_rate) as line:
        shell = Shell(line, timeout)
        shell.connect()
        try:
            status, output = shell.run(command)
        finally:
            shell.close()
    print(output, end="")
    return status


def console(device: str, baud_rate: int) -> int:
    """Connect the terminal to the board until Ctrl-A x."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("a console needs a terminal; give a command with -c")
    with SerialLine(device, baud_rate) as line:
        with _raw():  # which discards keys of before
            sys.stderr.write(f"moderato: {device}, {baud_rate} baud; Ctrl-A x leaves\r\n")
            sys.stderr.flush()
            _relay(line)
    print(file=sys.stderr)
    return 0


def _relay(line: SerialLine):
    escaped = False
    while True:
        ready = select.select([sys.stdin, line], [], [])[0]
        if line in ready:
            os.write(sys.stdout.fileno(), line.read())
        if sys.stdin not in ready:
            continue
        for key in (bytes([octet]) for octet in os.read(sys.stdin.fileno(), 256)):
            if escaped and key == LEAVE:
                return
            if key == CTRL_A and not escaped:
                escaped = True
                continue
            line.type(key)
            escaped = False


@contextlib.contextmanager
def _raw() -> Iterator[None]:
    """Each key at once, also Ctrl-C. A signal that ends us leaves the terminal as it was, too."""
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setraw(sys.stdin)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
