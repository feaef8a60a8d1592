# SPDX-License-Identifier: BSD-2-Clause
"""`moderato board boot`: the images go to LiteX's BIOS over the serial line or by TFTP."""

import contextlib
import json
import select
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from moderato.toolchain.progress import redraws

from ..show.errors import LabError
from . import bios, findings, sfl, tftp, wire
from .built import Built
from .findings import Finding, passed
from .serial_line import SerialLine

RESET = 60  # seconds until a reset board prints something
BOOT = 180  # seconds without output while Linux boots
UP = (bios.BOOTED, b"forwards between its two ports.")  # /init, or the program without Linux
PROMPT = b"litex\x1b[0m> "
ASKED = b"MODERATO-ASKED"


@dataclass
class Boot:
    """A boot in progress. `text`: the output since the last banner; `loaded`: images are on their way or
    in memory."""

    built: Built
    line: SerialLine
    text: bytes = b""
    loaded: str = ""
    restarts: int = 0
    judged: list[Finding] = field(default_factory=list)

    def take(self, octets: bytes):
        """Output of the board."""
        sys.stdout.write(octets.decode(errors="replace").replace("\r\n", "\n"))
        sys.stdout.flush()
        self.text += octets
        at = self.text.rfind(bios.BANNER)
        if at > 0:
            if self.loaded:
                raise LabError(
                    f"the board started again {self.loaded}; check power supply and reset button"
                )
            self.text = self.text[at:]

    def require_memory(self):
        """Raises LabError if the BIOS found that its memory does not work."""
        self.judged = bios.judge(self.text.decode(errors="replace"), self.built.soc.get("sys_clk_hz"))
        bad = [each for each in self.judged if each.status == findings.FAIL]
        if bad:
            raise LabError(f"{bad[0].name}: {bad[0].found}; next: {bad[0].next}")


def boot(built: Built, device: str, interface: str | None, dry_run: bool) -> int:
    """Boot a board that is reset, or whose BIOS waits. `interface`: TFTP there; None: over the serial
    line."""
    if dry_run:
        print_steps(built, device, interface)
        return 0
    start = time.monotonic()
    with started(built, device, interface) as (job, found):
        _until_up(job)
        seconds = time.monotonic() - start
    print()
    for each in (
        *job.judged,
        *found,
        passed("boot", f"up {seconds:.0f} s after the first octet was asked"),
    ):
        print(each.line)
    return findings.status(job.judged)


def print_steps(built: Built, device: str, interface: str | None):
    """What `started` would do."""
    print(f"open {device} at {built.soc['baud_rate']} baud")
    if interface:
        print(f"answer ARP and TFTP for {tftp.SERVER} at {interface}; add no address to it")
    for path, address in built.images:
        print(f"load {path} at {address:#010x}")


@contextlib.contextmanager
def started(built: Built, device: str, interface: str | None) -> Iterator[tuple[Boot, list[Finding]]]:
    """The images have just been started, and their output follows at the line, which is open during the
    block. Raises LabError as `boot` does."""
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(wire.Wire(interface)) if interface else None
        if port:
            _require_free(port)
        line = stack.enter_context(SerialLine(device, built.soc["baud_rate"]))
        job = Boot(built, line)
        yield job, _by_tftp(job, port) if port else _by_serial(job)


def _require_free(port: wire.Wire):
    own = wire.own_address(port.name)
    if own in (tftp.SERVER, tftp.CLIENT):
        raise LabError(
            f"{port.name} has the address {own}, so the kernel would answer the board, too; remove it: "
            f"ip address del {own}/24 dev {port.name}"
        )
    port.require_unused(tftp.SERVER)


# Over the serial line ------------------------------------------------------------------------------


def _by_serial(job: Boot) -> list[Finding]:
    _wake(job, b"serialboot\n")
    _until(job, sfl.MAGIC, RESET, "press its reset button, or flash it")
    job.require_memory()
    total = sum(path.stat().st_size for path, _ in job.built.images)
    job.loaded = "while it was loaded"
    with _progress(total) as show:
        count = sfl.upload(job.line, job.built.images, show)
    job.loaded = "before Linux was up"
    return [
        passed("upload", f"{total} octets in {count.frames} frames, {count.errors} of them sent again")
    ]


def _wake(job: Boot, command: bytes):
    """If the BIOS waits at its prompt, start it there; else a reset does."""
    job.line.type(b"\n")
    end = time.monotonic() + 1
    while time.monotonic() < end and select.select([job.line], [], [], 0.2)[0]:
        job.take(job.line.read())
    if job.text.endswith(PROMPT):
        job.require_memory()
        job.line.type(command)
    elif sfl.MAGIC not in job.text:
        print("moderato: waiting for the BIOS; reset the board", file=sys.stderr)


def _until(job: Boot, wanted: bytes, seconds: float, advice: str):
    """Read until `wanted`; `seconds`: without any output."""
    last = time.monotonic()
    while wanted not in job.text:
        left = last + seconds - time.monotonic()
        if left <= 0 or not select.select([job.line], [], [], left)[0]:
            said = f"after {job.text[-40:].decode(errors='replace').strip()!r}" if job.text else "at all"
            raise LabError(f"the board at {job.line.device} printed nothing {said}; {advice}")
        if octets := job.line.read():
            job.take(octets)
            last = time.monotonic()
        if bios.NO_MEDIUM in job.text or job.text.endswith(PROMPT):
            job.require_memory()
    at = job.text.index(wanted) + len(wanted)
    job.line.unread(job.text[at:])
    job.text = job.text[:at]


# By TFTP -------------------------------------------------------------------------------------------


def _by_tftp(job: Boot, port: wire.Wire) -> list[Finding]:
    contents = {path.name: path.read_bytes() for path, _ in job.built.images}
    boot_json = json.dumps({path.name: hex(address) for path, address in job.built.images}).encode()
    server = tftp.Server(port.mac, {"boot.json": boot_json, **contents}, port.send)
    total = sum(map(len, contents.values()))
    _wake(job, b"netboot\n")
    with _progress(total) as show:
        last = time.monotonic()
        while bios.LIFTOFF not in job.text:
            now = time.monotonic()
            if now - last > RESET:
                raise LabError(_silent(job, server))
            for each in select.select([job.line, port], [], [], 0.1)[0]:
                last = now
                if each is job.line:
                    job.take(job.line.read())
                    continue
                while found := port.receive():
                    if not found.outgoing:
                        server.take(found.frame, time.monotonic())
            server.tick(time.monotonic())
            if server.transfer:
                job.loaded = "while it was loaded"
                before = server.requested[:-1]
                done = sum(len(contents.get(name, b"")) for name in set(before))
                show(min(total, done + server.transfer.done * (server.transfer.name in contents)), total)
            if b"Network boot failed." in job.text:
                job.require_memory()
                raise LabError(_silent(job, server))
    job.require_memory()
    job.loaded = "before Linux was up"
    return [passed("upload", f"{total} octets by TFTP, {server.resent} blocks sent again")]


def _silent(job: Boot, server: tftp.Server) -> str:
    """Why the board got no images."""
    if server.missing:
        return f"the board asked for {server.missing[0]}, which {job.built.folder}/ does not have"
    if server.requested:
        return f"the board stopped in {server.requested[-1]}; try another cable"
    if not job.text:
        return (
            f"the board at {job.line.device} printed nothing at all; press its reset button, or flash it"
        )
    return (
        "the board asked for nothing at this interface; is the cable in its port 0, and is --port0 the "
        "interface at the cable's other end?"
    )


def _until_up(job: Boot):
    """Until the booted program reports."""
    last = time.monotonic()
    while not any(mark in job.text for mark in UP):
        left = last + BOOT - time.monotonic()
        if left <= 0 or not select.select([job.line], [], [], left)[0]:
            raise LabError(
                "the images were started, and print nothing; are they of this bitstream (--folder)?"
            )
        if octets := job.line.read():
            job.take(octets)
            last = time.monotonic()


@contextlib.contextmanager
def _progress(total: int):
    """A function that shows octets done, on standard error."""
    shown = [-1]
    live = redraws(sys.stderr)

    def show(done: int, total: int):
        percent = 100 * done // total if total else 100
        step = percent if live else percent // 10 * 10
        if step != shown[0]:
            shown[0] = step
            line = f"moderato: loading, {step} % of {total / 1e6:.1f} MB"
            print(
                f"\r\033[K{line}" if live else line,
                end="" if live else "\n",
                file=sys.stderr,
                flush=True,
            )

    yield show
    if live and shown[0] >= 0:
        print(file=sys.stderr)
