# SPDX-License-Identifier: BSD-2-Clause
"""A pretended board: LiteX's BIOS and a shell on a pty, and with root a router between two veth pairs.

The BIOS' output is LiteX's, and it receives images by SFL. The shell is this machine's /bin/sh.
"""

import contextlib
import os
import pty
import random
import select
import signal
import subprocess
import sys
import termios
import threading
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from litex.tools.litex_term import SFLFrame, sfl_magic_ack, sfl_magic_req

BANNER = """\r
\x1b[1m        __   _ __      _  __\x1b[0m\r
\x1b[1m   Build your hardware, easily!\x1b[0m\r
\r
 BIOS CRC passed (61f2c5b3)\r
\r
--=============== \x1b[1mSoC\x1b[0m ==================--\r
\x1b[1mCPU\x1b[0m:\t\tModerato cluster @ 84MHz\r
--========== \x1b[1mInitialization\x1b[0m ============--\r
Initializing SDRAM @0x40000000...\r
Read leveling:\r
  m0, b00: |00000000| delays: -\r
  best: m0, b01 delays: 03+-{width}\r
  best: m1, b01 delays: {lane}\r
Memtest at 0x40000000 (2.0MiB)...\r
  Write: 0x40000000-0x40200000 2.0MiB   \r
   Read: 0x40000000-0x40200000 2.0MiB   \r
{memtest}\r
"""
MEMTEST_OK = """\
Memtest OK\r
Memspeed at 0x40000000 (Sequential, 2.0MiB)...\r
  Write speed: 91.2MiB/s\r
   Read speed: 60.3MiB/s"""
BAD_BIT = """\
  bus errors:  128/256\r
  addr errors: 0/8192\r
  data errors: 262144/524288\r
Memtest KO\r
Memory initialization failed"""
PROMPT = "\r\n\x1b[92;1mlitex\x1b[0m> "
LIFTOFF = """\
Executing booted program at 0x40f00000\r
\r
--============= \x1b[1mLiftoff!\x1b[0m ===============--\r
"""
BOOTED = "MODERATO-BOOTED\r\n"


@dataclass
class Faults:
    """drop: the share of octets that the UART loses; garbage: it sends noise; other: the line belongs to
    another device; power: power fails after that many frames of an upload."""

    drop: float = 0
    garbage: bool = False
    other: bool = False
    silent: bool = False
    memtest: str = MEMTEST_OK
    lane: str = "04+-03"
    width: str = "03"
    damage: int = 0  # every this many frames of an upload
    power: int | None = None


class Line:
    """The board's end of a serial line."""

    def __init__(self, faults: Faults):
        self.ours, theirs = pty.openpty()
        tty.setraw(theirs)
        self.device = os.ttyname(theirs)
        os.set_blocking(self.ours, False)
        self.ended = threading.Event()
        self.theirs = theirs  # open, so that the line exists while nobody uses it
        self.faults = faults
        self.random = random.Random(1)

    def send(self, octets: bytes | str):
        octets = octets.encode() if isinstance(octets, str) else octets
        octets = self._lossy(octets)
        while octets:
            try:
                octets = octets[os.write(self.ours, octets) :]
            except BlockingIOError:  # nobody reads
                if self.ended.wait(0.01):
                    return

    def read(self, seconds: float) -> bytes:
        if not select.select([self.ours], [], [], seconds)[0]:
            return b""
        return self._lossy(os.read(self.ours, 1 << 16))

    def _lossy(self, octets: bytes) -> bytes:
        drop = self.faults.drop
        return bytes(each for each in octets if self.random.random() >= drop) if drop else octets

    def close(self):
        os.close(self.ours)
        os.close(self.theirs)


@dataclass
class Bios:
    """Boots over the line: what arrives goes to `memory`, by address. `then` runs after the jump."""

    line: Line
    ended: threading.Event
    memory: dict[int, bytes] = field(default_factory=dict)
    jumped: int | None = None

    def run(self) -> bool:
        """From reset to the jump; False if it gave up."""
        faults = self.line.faults
        self.line.send(BANNER.format(memtest=faults.memtest, width=faults.width, lane=faults.lane))
        if "KO" in faults.memtest:
            self.line.send(f"--============= \x1b[1mConsole\x1b[0m ================--\r\n{PROMPT}")
            return False
        self.line.send("--============== \x1b[1mBoot\x1b[0m ==================--\r\n")
        self.line.send("Booting from serial...\r\nPress Q or ESC to abort boot completely.\r\n")
        self.line.send(sfl_magic_req)
        self.got = b""
        while sfl_magic_ack not in self.got:
            self.got += self.line.read(0.1)
            if self.ended.is_set():
                return False
        self.got = self.got[self.got.index(sfl_magic_ack) + len(sfl_magic_ack) :]
        return self._frames()

    def _frames(self) -> bool:
        count = 0
        while not self.ended.is_set():
            frame = self._frame()
            if frame is None:
                continue
            count += 1
            faults = self.line.faults
            if faults.power is not None and count == faults.power:
                self.line.send(BANNER.format(memtest=MEMTEST_OK, width="03", lane="04+-03"))
                return False
            damaged = faults.damage and count % faults.damage == 0
            if damaged or frame.compute_crc() != self.crc:
                self.line.send(b"C")
                continue
            self.line.send(b"K")
            address = int.from_bytes(frame.payload[:4], "big")
            if frame.cmd == b"\x02":
                self.jumped = address
                self.line.send(LIFTOFF)
                return True
            self.memory[address] = frame.payload[4:]
        return False

    def _frame(self) -> SFLFrame | None:
        """None: none began, or one stopped in the middle (SFL_ACK_ERROR)."""
        if not self._more(1, 0.1):
            return None
        length = self.got[0]
        if not self._more(length + 4, 0.25):
            self.got = b""
            self.line.send(b"E")
            return None
        frame = SFLFrame()
        self.crc, frame.cmd = int.from_bytes(self.got[1:3], "big"), self.got[3:4]
        frame.payload = self.got[4 : 4 + length]
        self.got = self.got[4 + length :]
        return frame

    def _more(self, wanted: int, seconds: float) -> bool:
        while len(self.got) < wanted:
            piece = self.line.read(seconds)
            if not piece:
                return False
            self.got += piece
        return True

    def content(self) -> dict[int, bytes]:
        """Contiguous pieces of memory, joined."""
        joined: dict[int, bytes] = {}
        for address in sorted(self.memory):
            start = next((at for at, data in joined.items() if at + len(data) == address), address)
            joined[start] = joined.get(start, b"") + self.memory[address]
        return joined


@contextlib.contextmanager
def playing(faults: Faults, play: Callable[[Line, threading.Event], None]) -> Iterator[Line]:
    """A line, and a thread that plays the board at its other end."""
    line = Line(faults)
    ended = line.ended
    failed: list[BaseException] = []

    def run():
        try:
            play(line, ended)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield line
    finally:
        ended.set()
        thread.join()
        line.close()
    if failed:
        raise failed[0]


def noise(line: Line, ended: threading.Event):
    """Another baud rate."""
    while not ended.is_set():
        line.send(bytes(line.random.randrange(256) for _ in range(40)))
        line.read(0.05)


def modem(line: Line, ended: threading.Event):
    """A device that is no board."""
    while not ended.is_set():
        if line.read(0.1):
            line.send("\r\nERROR\r\n")


def nothing(line: Line, ended: threading.Event):
    while not ended.is_set():
        line.read(0.1)


def at_bios_prompt(line: Line, ended: threading.Event):
    while not ended.is_set():
        if line.read(0.1):
            line.send(PROMPT)


# A shell -------------------------------------------------------------------------------------------


def shell(environment: dict[str, str] | None = None, enter: list[str] | None = None):
    """Plays a shell: /bin/sh on a terminal of its own, run by the words of `enter`."""

    def play(line: Line, ended: threading.Event):
        ours, theirs = pty.openpty()
        settings = termios.tcgetattr(theirs)
        process = subprocess.Popen(
            [*(enter or []), "sh", "-i"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: _control(theirs),
            env=os.environ | {"PS1": "# ", "ENV": "", "TERM": "linux"} | (environment or {}),
        )
        del settings
        os.close(theirs)
        try:
            while not ended.is_set():
                ready = select.select([ours, line.ours], [], [], 0.1)[0]
                if ours in ready:
                    line.send(os.read(ours, 4096))
                if line.ours in ready:
                    os.write(ours, line.read(0))
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(ours)

    return play


def _control(terminal: int):
    import fcntl

    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


def bios_then_shell(found: list[Bios], **options):
    """Plays a reset board, which boots and has a shell."""

    def play(line: Line, ended: threading.Event):
        found.append(Bios(line, ended))
        while not line.read(0.1) and not ended.is_set():  # the command has opened the line
            pass
        if found[0].run():
            line.send(BOOTED)
            shell(**options)(line, ended)
        else:
            nothing(line, ended)

    return play


def folder(place: Path, commit: str, board: str = "versa_ecp5") -> Path:
    """A folder like that of `moderato bitstream`, with small images."""
    import json

    place.mkdir(exist_ok=True)
    images = {"Image": 0x40000000, "moderato.dtb": 0x40800000, "boot.bin": 0x40F00000}
    for number, name in enumerate(images):
        (place / name).write_bytes(random.Random(number).randbytes(1000 + 77 * number))
    (place / f"{board}.bit").write_bytes(b"bitstream")
    (place / "boot.json").write_text(json.dumps({name: hex(at) for name, at in images.items()}))
    soc = {"device": "LFE5UM5G-45F-8BG381C", "baud_rate": 1_000_000, "sys_clk_hz": 84_375_000}
    (place / "soc.json").write_text(json.dumps(soc))
    (place / "report.json").write_text(json.dumps({"board": board, "commit": commit}))
    return place


if __name__ == "__main__":
    sys.exit("this module is for tests")
