# SPDX-License-Identifier: BSD-2-Clause
"""A guest with the debug kernel, worked on in rounds, each under traffic and each judged."""

import shlex
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from splats import (
    LOCKS,
    OUT_OF_TREE,
    VERDICTS,
    WARNED,
    locks_verdict,
    verdicts,
    without_the_kernels_own,
)

from moderato.sim.lab.run.machine import Machine
from moderato.sim.lab.run.session import Session
from moderato.soc.linux import kernel
from moderato.toolchain.cache import run

DEBUGFS = "/sys/kernel/debug"
FRAME_BYTES = 512
LOAD = 0.25  # percent of the line rate: a command takes this kernel 0.2 s, a frame 6 ms
QUIET = 15_000_000  # clocks: to refill a page_pool, 64 pages through DMA debugging, takes 11 million,
BUSY = 60_000_000  # and with full rings both ports' polls take all of their frames off them first
LONG = 5_000_000_000  # clocks that a command may take
HEALTHY_FRAMES = 5
SHORT = 60  # characters: typing more costs the guest more than a script through the mailbox


@dataclass(frozen=True)
class Round:
    """Commands that the guest runs while both ports are offered `frames`.

    may_fail: they may end with any status, and as many frames as they like may be lost.
    load_percent: beyond a few, the ring overflows; `quiet` clocks without a frame end the round.
    in_order: frames of a flow may not overtake each other.
    echoed: some leave as they came, which the tester takes for damage, or for another order.
    own_frames: so many at least of the guest's own leave it, while it is offered others.
    printed: a line of the kernel's with this, on the console among what the commands print, is none
    of theirs.
    """

    name: str
    commands: tuple[str, ...] = ()
    frames: int = 30
    load_percent: float = LOAD
    quiet: int = QUIET
    may_fail: bool = False
    in_order: bool = True
    echoed: bool = False
    own_frames: int = 0
    printed: str | None = None


@dataclass(frozen=True)
class Entry:
    """A line of the log of rounds."""

    name: str
    cycles: int
    offered: int
    forwarded: int
    seconds: float
    found: list[str]


HEAD = "| round | M cycles | seconds | frames offered | forwarded | found |\n|---|---|---|---|---|---|"


def row(entry: Entry) -> str:
    return (
        f"| {entry.name} | {entry.cycles / 1e6:.0f} | {entry.seconds:.0f} | {entry.offered} "
        f"| {entry.forwarded} | {'; '.join(entry.found) or 'nothing'} |"
    )


class DebugGuest:
    """`log` has what happened; a round that found something does not end the ones behind it."""

    def __init__(self, session: Session, machine: Machine):
        self.session, self.machine = session, machine
        self.log: list[Entry] = []
        self.taints = OUT_OF_TREE
        # What the console prints would be read as a command's output.
        self.check(f"dmesg -n 1; mount -t debugfs none {DEBUGFS}")
        self.send("verdicts", VERDICTS)

    # Guest ----------------------------------------------------------------------------------------

    def check(self, command: str, accept: bool = False) -> str:
        """A command's output; it has to succeed if not told otherwise."""
        if len(command) > SHORT:
            self.send("command", command)
            command = "sh /tmp/command"
        status, output = self.session.type(command, max_cycles=LONG)
        assert accept or status == 0, f"`{command}` ended with status {status}: {output}"
        return output

    def send_file(self, file: Path):
        """Into the guest's /tmp, through the mailbox."""
        self.session.call("mailbox", file=str(file), address=self.machine.mailbox)
        self.check(f"mailbox > /tmp/{file.name}")

    def send(self, name: str, text: str):
        """A file of the guest's /tmp."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / name
            file.write_text(text + "\n")
            self.send_file(file)

    def run(self, commands: Sequence[str]) -> list[str]:
        """Run commands one by one; what is to be said of those that failed.

        They are one script: to type a command costs more than to run it.
        """
        self.send(
            "round",
            "\n".join(
                # ethtool's status is 80 where a value is the present one.
                f"{{ {command}\n}} > /tmp/said 2>&1; s=$?; case $s in 0|80) ;; *) "
                f"echo {shlex.quote(command)} ended with status $s: $(cat /tmp/said) ;; esac"
                for command in commands
            ),
        )
        return self.check("sh /tmp/round").splitlines()

    @property
    def built_kernel(self) -> kernel.Kernel:
        return kernel.kernel(self.machine.system.harts, self.machine.system.kernel)

    def send_module(self, source: Path, folder: Path):
        """Build a test's module for this kernel in `folder` and send it."""
        work, built = folder / source.name, self.built_kernel
        shutil.copytree(source, work)
        run(kernel.make(built.source, built.build, f"M={work}", "modules"), log=folder / "log")
        self.send_file(work / f"{source.name}.ko")

    # Traffic --------------------------------------------------------------------------------------

    def offer(self, frames: int, load_percent: float = LOAD, quiet: int = QUIET):
        port = {"frame_bytes": FRAME_BYTES, "load_percent": load_percent, "frames": frames}
        self.session.call(
            "offer", ports=[port, {**port, "phase": 1000}], quiet_cycles=quiet, max_cycles=LONG
        )

    def collect(self) -> list[dict]:
        return self.session.call("collect")["ports"]

    # Judgement ------------------------------------------------------------------------------------

    def news(self) -> list[str]:
        """What the kernel found since the last call; takes it out of the log."""
        text = self.check("sh /tmp/verdicts")
        rest = without_the_kernels_own(text)
        if rest != text:
            self.taints |= WARNED  # for good
        return verdicts(rest, self.taints)

    def round(self, each: Round):
        """Run a round, judge it, and see that traffic goes on after it."""
        begin, start = self.cycle(), time.monotonic()
        self.offer(each.frames, each.load_percent, each.quiet)
        failed = self.run(each.commands) if each.commands else []
        if each.printed:
            failed = [line for line in failed if each.printed not in line]
        found = [] if each.may_fail else failed
        ports = self.collect()
        self.offer(HEALTHY_FRAMES)
        after = self.collect()
        never = ["corrupted", "duplicated", *(["reordered"] if each.in_order else [])]
        meanwhile = ["duplicated"] if each.echoed else never
        found += [
            f"{kind} frames"
            for kinds, of in ((meanwhile, ports), (never, after))
            for port in of
            for kind in kinds
            if port[kind]
        ]
        own = sum(port["left"]["other"] for port in ports)
        if own < each.own_frames:
            found.append(f"{own} frames of its own left, not {each.own_frames}")
        found += [
            f"port {number} lost {port['lost']} of {HEALTHY_FRAMES} frames after the round"
            for number, port in enumerate(after)
            if port["lost"]
        ]
        found += self.news()
        self.note(each.name, begin, start, ports + after, found)

    def note(self, name: str, begin: int, start: float, ports: list[dict], found: list[str]):
        """An entry of the log, for what began at a cycle and a time.monotonic()."""
        entry = Entry(
            name,
            self.cycle() - begin,
            sum(port["offered"] for port in ports),
            sum(port["forwarded"] for port in ports),
            time.monotonic() - start,
            found,
        )
        self.log.append(entry)
        print(row(entry), flush=True)

    def cycle(self) -> int:
        return self.session.call("counters")["cycle"]

    def found(self) -> list[str]:
        """Of all rounds."""
        return [f"{entry.name}: {line}" for entry in self.log for line in entry.found]

    def last_words(self) -> list[str]:
        """All that was found in all rounds, and whether the lock validator saw them all."""
        return self.found() + self.news() + locks_verdict(self.check(LOCKS))

    def mapped(self) -> int:
        """How many DMA mappings there are: with the module gone, each one is a leak."""
        total, free = self.check(
            f"cd {DEBUGFS}/dma-api; cat nr_total_entries num_free_entries; cd /"
        ).split()
        return int(total) - int(free)

    def leaks(self) -> str:
        """What kmemleak reports. An object has to be 5 s old, and the same in two scans."""
        self.check("sleep 5")
        return self.check(
            f"echo scan > {DEBUGFS}/kmemleak; echo scan > {DEBUGFS}/kmemleak; cat {DEBUGFS}/kmemleak"
        )
