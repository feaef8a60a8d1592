# SPDX-License-Identifier: BSD-2-Clause
"""The simulated system as a board that waits in its boot loader, for `moderato board selftest`.

This process plays the boot loader: its prompt and serial boot. The loaded program runs on the simulated
system, with a cable from port 0 to port 1.
"""

import contextlib
import os
import pty
import random
import select
import socket
import struct
import tempfile
import time
import tty
from collections.abc import Callable
from pathlib import Path

from litex.tools.litex_term import (
    SFLFrame,
    sfl_ack_crcerror,
    sfl_ack_error,
    sfl_ack_success,
    sfl_cmd_jump,
    sfl_cmd_load,
    sfl_magic_ack,
    sfl_magic_req,
)

from ..run.machine import Machine
from ..run.session import Session
from . import bios, boot

SLICE = 250_000  # clocks between looks at the line
SHORT_SLICE = 10_000  # less than a pass over the tested memory
BAD_WORD = (1 << 20) + 0x1010  # offset in memory of a word that always has 0
OCTETS = 1000  # the faulty UART loses one of them
STOPPED = 0.25  # seconds, after which the boot loader drops a part of a frame
IDLE = 0.02  # seconds
HEADER = 4  # octets of a frame of the serial boot in front of its payload


class Loader:
    """A BIOS that waits at its prompt. memory: what was loaded, by address; jumped: where to."""

    def __init__(self, send: Callable[[bytes], None]):
        self.send = send
        self.memory: dict[int, bytes] = {}
        self.jumped: int | None = None
        self._text = b""
        self._booting = self._loading = False
        self._last = 0.0

    def take(self, octets: bytes):
        self._text += octets
        self._last = time.monotonic()
        while not self._booting and b"\n" in self._text:
            line, _, self._text = self._text.partition(b"\n")
            self._booting = line.strip() == b"serialboot"
            self.send(sfl_magic_req if self._booting else b"\r\n" + boot.PROMPT)
        if self._booting and not self._loading and sfl_magic_ack in self._text:
            self._text = self._text.partition(sfl_magic_ack)[2]
            self._loading = True
        while self._loading and self.jumped is None and self._is_frame():
            self._frame()

    def tick(self):
        """Drop a frame that has stopped in the middle."""
        if self._loading and self._text and time.monotonic() - self._last > STOPPED:
            self._text = b""
            self.send(sfl_ack_error)

    def _is_frame(self) -> bool:
        return bool(self._text) and len(self._text) >= HEADER + self._text[0]

    def _frame(self):
        end = HEADER + self._text[0]
        found, self._text = self._text[:end], self._text[end:]
        frame = SFLFrame()
        frame.cmd, frame.payload = found[3:4], found[HEADER:]
        if frame.encode() != found:
            self.send(sfl_ack_crcerror)
            return
        self.send(sfl_ack_success)
        address = int.from_bytes(frame.payload[:4], "big")
        if frame.cmd == sfl_cmd_load:
            self.memory[address] = frame.payload[4:]
        elif frame.cmd == sfl_cmd_jump:
            self.jumped = address
            self.send(b"\r\n" + bios.LIFTOFF + b"\r\n")


class Board:
    """While the block runs, its serial line is at `device`."""

    def __init__(self, of: Machine, fault: str | None):
        self.of, self.fault = of, fault
        self.random = random.Random(1)
        self.session: Session | None = None
        self.cycle = 0
        self.keys = b""

    def __enter__(self) -> "Board":
        with contextlib.ExitStack() as stack:
            self.line, self.theirs = pty.openpty()  # `theirs` is open while nobody uses the line
            tty.setraw(self.theirs)
            os.set_blocking(self.line, False)
            self.device = os.ttyname(self.theirs)
            for each in (self.line, self.theirs):
                stack.callback(os.close, each)
            self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            self.ends = [stack.enter_context(each) for each in _cables(self.fault)]
            self.loader = Loader(self._send)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def relay(self):
        """Pass on what was typed, and simulate a slice of time; waits for some of it."""
        idle = self.session is None or not self.busy
        if select.select([self.line], [], [], IDLE if idle else 0)[0]:
            with contextlib.suppress(OSError):  # nobody has the line open
                self._typed(through_uart(os.read(self.line, 4096), self.fault, self.random))
        if self.session:
            self._run(self.session)
        elif self.loader.jumped is None:
            self.loader.tick()
        else:
            self._start(self.loader.jumped)

    def _typed(self, octets: bytes):
        if self.session:
            self.keys += octets
        else:
            self.loader.take(octets)

    def _start(self, entry: int):
        soc = self.of.soc
        first = min(self.loader.memory)
        content = bytearray()
        for address, octets in sorted(self.loader.memory.items()):
            content[address - first :] = octets
        (self.folder / "image").write_bytes(content)
        # lui t0, ENTRY; jr t0
        (self.folder / "jump").write_bytes(struct.pack("<2I", entry & 0xFFFFF000 | 0x2B7, 0x28067))
        (self.folder / "zero").write_bytes(b"")
        self.session = self._stack.enter_context(
            Session(
                self.of.simulator,
                load=[
                    (self.folder / "jump", soc["rom"]["base"]),
                    (self.folder / "image", first),
                ],
                progress=self._printed,
                keep=[end.fileno() for end in self.ends],
            )
        )
        self.busy = True

    def _run(self, session: Session):
        bad = self.fault == "dram"
        self.cycle += SHORT_SLICE if bad else SLICE
        start = time.monotonic()
        reply = session.call(
            "live",
            hosts=[end.fileno() for end in self.ends],
            until=self.cycle,
            keys=self.keys.decode(errors="replace"),
            stream=True,
        )
        self.keys = b""
        self._printed(reply)
        self.busy = time.monotonic() - start > IDLE
        if bad:
            session.call(
                "mailbox",
                file=str(self.folder / "zero"),
                address=self.of.soc["memory"]["base"] + BAD_WORD,
            )

    def _printed(self, reply: dict):
        self._send(bytes.fromhex(reply.get("printed", "")))

    def _send(self, octets: bytes):
        with contextlib.suppress(BlockingIOError):  # the line is full: octets are lost, as at a UART
            os.write(self.line, through_uart(octets, self.fault, self.random))


def through_uart(octets: bytes, fault: str | None, chance: random.Random) -> bytes:
    """What the other end gets."""
    if fault != "uart":
        return octets
    return bytes(octet for octet in octets if chance.randrange(OCTETS))


def _cables(fault: str | None) -> list[socket.socket]:
    """The ends of a cable from port 0 to port 1; without it, two cables that end nowhere."""

    def pair() -> list[socket.socket]:
        return list(socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))

    ends = pair()
    if fault == "cable":
        ends = [ends[0], pair()[0]]
    for end in ends:
        end.setblocking(False)
    return ends
