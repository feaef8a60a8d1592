# SPDX-License-Identifier: BSD-2-Clause
"""A guest with the debug kernel. Tests change it in rounds, each under traffic, and check each round."""

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
LOAD = 0.25  # percent of the line rate: on this kernel a command takes 0.2 s, a frame 6 ms
QUIET = 15_000_000  # clocks: a refill of a page_pool, 64 pages through DMA debugging, takes 11 million
BUSY = 60_000_000  # clocks: with full rings, both ports' polls first take all frames off the rings
LONG = 5_000_000_000  # clocks that a command may take
HEALTHY_FRAMES = 5
SHORT = 60  # characters: a longer script is faster through the mailbox than typed


@dataclass(frozen=True)
class Round:
    """Commands that the guest runs while both ports receive `frames`.

    may_fail: they may end with any status, and any number of frames may be lost.
    load_percent: above a few percent, the ring overflows. quiet: clocks without a frame that end it.
    in_order: frames of a stream must stay in order.
    echoed: some frames leave unchanged, which the tester counts as corrupted or reordered.
    own_frames: at least this many frames of the guest's own leave during the round.
    printed: the test ignores console lines of the kernel that contain this text.
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
    """An entry of the log of rounds."""

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
    """`log` has the results of the rounds. A round with findings does not end later rounds."""

    def __init__(self, session: Session, machine: Machine):
        self.session, self.machine = session, machine
        self.log: list[Entry] = []
        self.taints = OUT_OF_TREE
        # Otherwise the test would mistake console messages for a command's output.
        self.check(f"dmesg -n 1; mount -t debugfs none {DEBUGFS}")
        self.send("verdicts", VERDICTS)

    # Guest ----------------------------------------------------------------------------------------

    def check(self, command: str, accept: bool = False) -> str:
        """The output of a command, which must succeed unless `check` is False."""
        if len(command) > SHORT:
            self.send("command", command)
            command = "sh /tmp/command"
        status, output = self.session.type(command, max_cycles=LONG)
        assert accept or status == 0, f"`{command}` ended with status {status}: {output}"
        return output

    def send_file(self, file: Path):
        """Copy a file to the guest's /tmp, through the mailbox."""
        self.session.call("mailbox", file=str(file), address=self.machine.mailbox)
        self.check(f"mailbox > /tmp/{file.name}")

    def send(self, name: str, text: str):
        """A file of the guest's /tmp."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / name
            file.write_text(text + "\n")
            self.send_file(file)

    def run(self, commands: Sequence[str]) -> list[str]:
        """Run commands one after the other. Return messages for those that failed.

        They run as one script, because typing a command takes longer than running it.
        """
        self.send(
            "round",
            "\n".join(
                # ethtool's status is 80 if a value is set already.
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
        """The kernel's reports since the last call, which this call removes from the log."""
        text = self.check("sh /tmp/verdicts")
        rest = without_the_kernels_own(text)
        if rest != text:
            self.taints |= WARNED  # for good
        return verdicts(rest, self.taints)

    def round(self, each: Round):
        """Run a round, check it, and check that traffic continues after it."""
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
        """An entry of the log for a round that began at a cycle and a time.monotonic()."""
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
        """The findings of all rounds, and whether the lock validator was on until the end."""
        return self.found() + self.news() + locks_verdict(self.check(LOCKS))

    def mapped(self) -> int:
        """The number of DMA mappings. After the module is removed, each one is a leak."""
        total, free = self.check(
            f"cd {DEBUGFS}/dma-api; cat nr_total_entries num_free_entries; cd /"
        ).split()
        return int(total) - int(free)

    def leaks(self) -> str:
        """kmemleak's report. It lists objects that are 5 s old and equal in two scans."""
        self.check("sleep 5")
        return self.check(
            f"echo scan > {DEBUGFS}/kmemleak; echo scan > {DEBUGFS}/kmemleak; cat {DEBUGFS}/kmemleak"
        )
