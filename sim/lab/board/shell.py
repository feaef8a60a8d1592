# SPDX-License-Identifier: BSD-2-Clause
"""Commands in the shell of a booted board, over a serial line that may lose octets.

A function in the shell checks the length of each command before it runs it. It keeps the output in a
file, and prints it with its MD5, so a damaged output is printed again and the command is not run again.
Each attempt has a number, because an earlier one may still answer.
"""

import contextlib
import hashlib
import re
import select
import shlex
import time

from ..show.errors import LabError
from . import bios
from .serial_line import SerialLine

PROMPT = b"# "
# The quotes keep the marks out of the terminal's echo.
# A shell without echo and line editing: in the simulation, a typed octet then takes 3500 clocks instead
# of 23 000.
START = (
    "sh -s",
    "stty -echo",
    "r() { [ ${#1} = $2 ] || { echo @gar''bled@$3@; return; }; "
    "moderato_n=$3; echo @be''gin@$moderato_n@; eval \"$1\" >/tmp/.said$$ 2>&1; s=$?; a; }",
    "a() { cat /tmp/.said$$; echo @en''d@$moderato_n@$s@$(md5sum </tmp/.said$$)@; }",
)
BEGUN = rb"@(begin|garbled)@%d@\r*\n|not found"
END = rb"@end@%d@(\d+)@([0-9a-f]{32}) +-@\r*\n"
TRIES = 5
LONGEST = 900  # characters of a command: the shell takes no line of a thousand
INTERRUPT = b"\x03"
QUIET = 0.2  # seconds
LONGEST_OUTPUT = 3  # times the timeout
RESET = re.compile(b"|".join(map(re.escape, (bios.BANNER, bios.BOOTED))))
BOOTLOADER = re.compile(rb"litex(?:\x1b\[0m)?> ")


class Silence(LabError):
    """Nothing arrives any more."""


class Restarted(LabError):
    """The board starts, or has started."""


class Shell:
    """`timeout`: seconds without an octet, after which nobody is there. `repeated`: commands and outputs
    that had to be sent again. `restarted`: the board was, and has no settings of ours."""

    def __init__(self, line: SerialLine, timeout: float):
        self.line, self.timeout = line, timeout
        self.repeated = 0
        self.restarted = False
        self._attempt = 0
        self._text = b""

    def connect(self):
        """Find the shell. Raises LabError with what is there instead."""
        self._drain()
        self.line.type(INTERRUPT + b"\n")
        try:
            self._until(re.compile(rb"(?:^|\n)[^\n]*# "))
        except Silence:
            raise self._nobody() from None
        self._drain()
        for _ in range(TRIES if is_text(self.line.log) else 0):
            self._start()
            if self._try("true") is not None:
                return
            self._interrupt()
        if not is_text(self.line.log):
            raise self._nobody()
        raise LabError(
            f"the shell at {self.line.device} does not understand what is typed; octets are lost or "
            "damaged: use a shorter USB cable, and no hub"
        )

    def run(self, command: str, tries: int = TRIES) -> tuple[int, str]:
        """A command's exit status and output."""
        assert len(command) <= LONGEST
        heard = len(self.line.log)
        for _ in range(tries):
            if (result := self._try(command)) is not None:
                return result
            self.recover()
        if len(self.line.log) == heard:
            raise Silence(f"nothing arrives from the board at {self.line.device}; is it on?")
        raise LabError(
            f"the serial line {self.line.device} loses octets: `{command[:40]}` failed {tries} times; "
            "use a shorter USB cable, and no hub"
        )

    def check(self, command: str) -> str:
        """As `run`, for a command that has to succeed: its output."""
        status, output = self.run(command)
        if status:
            raise LabError(
                f"on the board, `{command}` ended with status {status}: " + " ".join(output.split())
            )
        return output

    def _try(self, command: str) -> tuple[int, str] | None:
        """None if octets were lost."""
        self._attempt += 1
        self._type_line(f"r {shlex.quote(command)} {len(command)} {self._attempt}")
        try:
            if self._until(re.compile(BEGUN % self._attempt))[1] != b"begin":
                return None
            return self._output() or self._output_again()
        except Silence:
            return None

    def _output_again(self) -> tuple[int, str] | None:
        for _ in range(TRIES):
            self.repeated += 1
            self._drain()
            self._type_line("a")
            if (result := self._output()) is not None:
                return result
        return None

    def _output(self) -> tuple[int, str] | None:
        """None if the output is not that of its MD5."""
        end = self._until(re.compile(END % self._attempt))
        output = end.string[: end.start()].replace(b"\r", b"")
        for each in output, output.partition(b"\n")[2]:  # without an echo that is still on
            if hashlib.md5(each).hexdigest() == end[2].decode():
                return int(end[1]), each.decode(errors="replace")
        return None

    def recover(self):
        """Start again, also from within quotes that lost their end."""
        self._interrupt()
        self._start()

    def close(self):
        """Leave the board's own shell at its prompt."""
        with contextlib.suppress(LabError):  # the line is gone
            self.line.type(INTERRUPT + b"stty echo\n")

    def _start(self):
        for text in START:
            self._type_line(text)

    def _interrupt(self):
        self.repeated += 1
        self.line.type(INTERRUPT + b"\n")
        self._drain()

    def _type_line(self, text: str):
        self.line.type(text.encode() + b"\n")

    def _until(self, pattern: re.Pattern) -> re.Match:
        """The first match in what arrives. What precedes it is in its `string`."""
        last = time.monotonic()
        end = last + LONGEST_OUTPUT * self.timeout
        while not (found := pattern.search(self._text)):
            left = min(last + self.timeout, end) - time.monotonic()
            if left <= 0 or not select.select([self.line], [], [], left)[0]:
                raise Silence(f"nothing arrives from the board at {self.line.device}")
            if piece := self.line.read():
                self._take(piece)
                last = time.monotonic()
        self._text = self._text[found.end() :]
        return found

    def _drain(self):
        """Until nothing arrives, or too much."""
        end = time.monotonic() + self.timeout
        while time.monotonic() < end and select.select([self.line], [], [], QUIET)[0]:
            self._take(self.line.read())
        self._text = b""

    def _take(self, piece: bytes):
        self._text += piece
        if self._attempt and RESET.search(self._text):
            self.restarted = True
            raise Restarted("the board started again; check its power supply and its reset button")

    def _nobody(self) -> LabError:
        """What is at the line instead of a shell."""
        text, device = bytes(self.line.log), self.line.device
        if BOOTLOADER.search(text):
            return LabError(
                f"the board at {device} is in LiteX's BIOS and has no Linux yet; boot it: "
                "./moderato board boot"
            )
        if not text:
            return LabError(
                f"nothing answers at {device}; is the board on and flashed, and is this its console? "
                "(of two lines of one adapter, the console is the second one)"
            )
        if not is_text(text):
            return LabError(
                f"what arrives at {device} is not text: another device is there, or another baud rate; "
                "check --serial and --board"
            )
        return LabError(
            f"no shell answers at {device}, but another device, or a board that has not booted: "
            f"{text[-60:].decode(errors='replace').strip()!r}"
        )


def is_text(octets: bytes | bytearray) -> bool:
    """Whether a console printed it, and not another device, or one at another baud rate."""
    printable = sum(32 <= octet < 127 or octet in b"\r\n\t\x1b" for octet in octets)
    return printable >= 0.9 * len(octets)
