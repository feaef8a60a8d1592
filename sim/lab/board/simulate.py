# SPDX-License-Identifier: BSD-2-Clause
"""`moderato board simulate`: the simulated system as a board on the desk, for rehearsals.

Its console is a pseudo-terminal. Its ports are TAP devices in a network namespace of this process, which
ends with it.
"""

import contextlib
import fcntl
import itertools
import json
import os
import pty
import random
import select
import socket
import struct
import subprocess
import sys
import tty
from pathlib import Path

from moderato.boards import SIMULATED
from moderato.toolchain.suspension import follow

from ..live import hosts
from ..run import state
from ..run.machine import machine
from ..run.session import PROMPT
from ..run.stations import TESTER
from ..show.errors import LabError
from . import bare, frames

LINK_MBPS = 100
NAMES = ("port0", "port1")
FRAMES = 4  # the faulty interface loses one of them
POWER = b"insmod"  # typed, it makes power fail
CLONE_NEWNS = 0x2_0000  # linux/sched.h
TUNSETCARRIER = 0x4004_54E2  # linux/if_tun.h
PAUSE_FRAME = frames.ethernet("01:80:c2:00:00:01", TESTER[0].mac, 0x8808, b"\0\1\xff\xff")
LARGEST = 1 << 16
GREETING = """\
moderato: a simulated board; Ctrl-C ends it. In another terminal:
moderato:   nsenter {}
moderato:   ./moderato board check {}
"""
BARE_GREETING = """\
moderato: a simulated board in its boot loader; Ctrl-C ends it. In another terminal:
moderato:   ./moderato board selftest {}
"""


def simulate(command: str | None, fault: str | None, in_bios: bool = False) -> int:
    """Runs a shell's command where the ports are, and returns its status; None: until Ctrl-C. fault: one
    of the command's FAULTS. in_bios: the board waits in its boot loader, its ports are connected."""
    if in_bios:
        with bare.Board(machine(LINK_MBPS), fault) as board:
            words = f"--board {SIMULATED} --serial {board.device}"
            return _run(board, command, words, BARE_GREETING.format(words))
    ready = state.on_desk(machine(LINK_MBPS))
    ready.open().end()  # replaces an unusable checkpoint
    user = "--user --preserve-credentials " * hosts.separate(False, CLONE_NEWNS)
    with _Board(ready, fault, _ports(fault)) as board:
        words = f"--board {SIMULATED} --serial {board.device} --port0 {NAMES[0]} --port1 {NAMES[1]}"
        namespaces = f"{user}--target {os.getpid()} --net --mount"
        return _run(board, command, words, GREETING.format(namespaces, words))


def _run(board: "_Board | bare.Board", command: str | None, words: str, greeting: str) -> int:
    """words: the options that name the board; greeting: without a command."""
    if command is None:
        print(greeting, end="", file=sys.stderr, flush=True)
        while True:
            board.relay()
    with contextlib.ExitStack() as stack:
        process = subprocess.Popen(["sh", "-c", command], env=os.environ | {"BOARD": words})
        stack.callback(process.wait)
        stack.callback(process.terminate)
        while process.poll() is None:
            board.relay()
    return process.returncode


def _ports(fault: str | None) -> list[int]:
    """The TAP devices, in the order of the board's ports, in namespaces of this process."""
    try:
        for words in "--make-rprivate /", "-t sysfs sysfs /sys":
            subprocess.run(["mount", *words.split()], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or error
        raise LabError(f"/sys of a network namespace can't be mounted: {said}; run it as root") from None
    with contextlib.suppress(OSError):  # a kernel without IPv6
        Path("/proc/sys/net/ipv6/conf/all/disable_ipv6").write_text("1")
    taps = [hosts.tap(name) for name in NAMES]
    lines = [f"link set {name} up" for name in NAMES]
    if fault == "jumbo":
        lines.append(f"link set {NAMES[1]} mtu 9000")
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)
    if fault == "cable":
        fcntl.ioctl(taps[1], TUNSETCARRIER, struct.pack("i", 0))
    return taps[::-1] if fault == "swapped" else taps


class _Board:
    """The simulator while the block runs, with its console at `device`. The console, and with a faulty
    interface also the frames, pass `relay`, which adds the fault."""

    def __init__(self, ready: state.State, fault: str | None, taps: list[int]):
        self.ready, self.fault, self.taps = ready, fault, taps
        self.relayed = taps if fault in ("nic", "pause") else []
        self.ports: list[socket.socket] = []  # of `relayed`, at the simulator
        self.random = random.Random(1)
        self.typed = b""

    def __enter__(self) -> "_Board":
        self.line, self.theirs = pty.openpty()  # `theirs` is open while nobody uses the line
        tty.setraw(self.theirs)
        os.set_blocking(self.line, False)
        self.device = os.ttyname(self.theirs)
        self._switch_on(["--restore", str(self.ready.checkpoint)])
        return self

    def __exit__(self, *_):
        self._switch_off()
        for each in (self.line, self.theirs, *self.taps):
            os.close(each)

    def _switch_on(self, start: list[str]):
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in self.relayed]
        self.ports = [ours for ours, _ in pairs]
        inside = [theirs.fileno() for _, theirs in pairs] or self.taps
        for each in itertools.chain(*pairs):
            each.setblocking(False)
        self.console, console = pty.openpty()
        live = json.dumps({"hosts": inside, "pace": 1.0, "link_mbps": LINK_MBPS})
        self.process = follow(
            subprocess.Popen(
                [
                    *(str(self.ready.machine.simulator), *start),
                    *("--interactive", "--prompt", PROMPT, "--live", live),
                ],
                stdin=console,
                stdout=console,
                stderr=subprocess.PIPE,
                text=True,
                pass_fds=inside,
                start_new_session=True,
                env=os.environ | {"TERM": "dumb"},  # no titles of a window
            )
        )
        os.close(console)
        for _, theirs in pairs:
            theirs.close()

    def _switch_off(self):
        self.process.kill()
        self.process.communicate()
        os.close(self.console)
        for each in self.ports:
            each.close()

    def relay(self):
        """Pass on what has arrived, from the console or from the ports; waits for some of it."""
        if self.process.poll() is not None:
            said = self.process.communicate()[1].strip().splitlines()
            raise LabError(f"the simulated board stopped: {said[-1] if said else 'no message'}")
        places = [self.console, self.line, *self.relayed, *self.ports]
        for ready in select.select(places, [], [], 0.1)[0]:
            if ready == self.console:
                self._printed()
            elif ready == self.line:
                self._typed()
            elif ready in self.ports:
                self._left(self.ports.index(ready))
            else:
                self._entered(self.relayed.index(ready))
        if self.fault == "power" and POWER in self.typed:
            self.fault = None
            self._switch_off()
            of = self.ready.machine
            self._switch_on([word for file, at in of.images for word in ("--load", f"{file}@{at:#x}")])

    def _typed(self):
        with contextlib.suppress(OSError):  # nobody has the line open
            octets = os.read(self.line, 4096)
            self.typed = self.typed[-len(POWER) :] + octets
            os.write(self.console, bare.through_uart(octets, self.fault, self.random))

    def _printed(self):
        try:
            octets = os.read(self.console, 4096)
        except OSError:  # the simulator has ended
            return
        with contextlib.suppress(BlockingIOError):  # the line is full: octets are lost, as at a UART
            os.write(self.line, bare.through_uart(octets, self.fault, self.random))

    def _entered(self, port: int):
        with contextlib.suppress(BlockingIOError):  # the interface's loss
            frame = os.read(self.relayed[port], LARGEST)
            if self.fault == "pause" and port == 0:
                self.ports[port].send(PAUSE_FRAME)
            self.ports[port].send(frame)

    def _left(self, port: int):
        with contextlib.suppress(BlockingIOError, ConnectionError):
            frame = self.ports[port].recv(LARGEST)
            if self.fault != "nic" or port or self.random.randrange(FRAMES):
                os.write(self.relayed[port], frame)
