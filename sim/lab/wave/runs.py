# SPDX-License-Identifier: BSD-2-Clause
"""What the guest does while a wave is written: it forwards a trial's frames, executes a command, or gets
what was captured or recorded."""

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..captures import pcap
from ..explain.timeline import PREAMBLE
from ..live import live
from ..live.recording import Recording
from ..measure import estimate, replay, trial
from ..measure.forward import report_problems
from ..measure.results import OVERHEAD, Trial
from ..run import state
from ..run.console import package
from ..run.machine import Machine
from ..run.session import Session
from ..run.shell import TIMEOUT
from ..run.system import System
from ..show.errors import LabError, UsageError
from .wires import Captured

LINK_MBPS = 100  # where no trial has another one
SHORTER = "give fewer --frames"


class Run:
    """What all of them have."""

    @property
    def name(self) -> str:
        raise NotImplementedError

    @property
    def seconds(self) -> float:
        """Simulated, as far as they are known before."""
        return 0

    @property
    def link_mbps(self) -> int:
        return LINK_MBPS

    @property
    def in_order(self) -> bool:
        """Whether a frame that overtakes another one of its stream is damage."""
        return True

    def announce(self, patient: bool, system: System):
        """Print how long it takes, if that is known."""

    def ready(self, of: Machine) -> state.State:
        """Where it starts."""
        raise NotImplementedError

    def accept(self, ready: state.State):
        """Raise LabError if it cannot start there."""

    def begin(self, ready: state.State, session: Session) -> Any:
        """What comes before the cycles that a wave can show."""

    def run(self, ready: state.State, session: Session, captures: str = "") -> dict:
        """Its report, with `end_cycle`. captures: a folder for captures of all ports."""
        raise NotImplementedError

    def wires(self, ready: state.State, captures: Path, reply: dict) -> Captured:
        """From the captures. Times are since reset."""
        return {}

    def end(self, ready: state.State, session: Session, reply: dict, before: Any, captures: Path) -> int:
        """The exit status. `before`: what `begin` returned."""
        return 0


@dataclass(frozen=True)
class Forwarding(Run):
    trial: Trial

    @property
    def name(self) -> str:
        return self.trial.name

    @property
    def seconds(self) -> float:
        return self.trial.seconds

    @property
    def link_mbps(self) -> int:
        return self.trial.link_mbps

    @property
    def in_order(self) -> bool:
        return self.trial.traffic.in_order

    def announce(self, patient: bool, system: System):
        estimate.announce([self.seconds] * 2, patient, system, SHORTER)

    def ready(self, of: Machine) -> state.State:
        return state.prepare(of, [self.trial.variant])[self.trial.variant]

    def begin(self, ready: state.State, session: Session):
        return trial.begin(self.trial, ready, session)

    def run(self, ready: state.State, session: Session, captures: str = "") -> dict:
        of = ready.machine
        fields = trial.request(self.trial, of.sys_clk_hz, of.system.ethtool)
        return session.call("trial", **fields, **({"pcap": captures} if captures else {}))

    def wires(self, ready: state.State, captures: Path, reply: dict) -> Captured:
        return {file.stem: pcap.read(file) for file in sorted(captures.glob("*.pcap"))}

    def end(self, ready: state.State, session: Session, reply: dict, before: Any, captures: Path) -> int:
        return report_problems([trial.conclude(self.trial, ready, session, reply, 0, before)])


@dataclass(frozen=True)
class Executing(Run):
    """A command, in the shell of `moderato shell`."""

    command: str
    variant: str

    @property
    def name(self) -> str:
        return f"`{self.command}`"

    @property
    def script(self) -> bytes:
        return os.fsencode(self.command) + b"\n"

    def ready(self, of: Machine) -> state.State:
        return state.at_console(state.ready(of, self.variant), package(of.system.nic))

    def begin(self, ready: state.State, session: Session):
        session.put(self.script, ready.machine.mailbox)

    def run(self, ready: state.State, session: Session, captures: str = "") -> dict:
        """Returns its status; there are no captures."""
        status = session.run(self.script, TIMEOUT, lambda *_: None)
        return {"status": status, "end_cycle": session.call("run", cycles=0)["cycle"]}

    def end(self, ready: state.State, session: Session, reply: dict, before: Any, captures: Path) -> int:
        return reply["status"]


@dataclass(frozen=True)
class Replaying(Run):
    """Captures, as `moderato replay` plays them."""

    files: Sequence[Path]
    variant: str
    entered: Sequence[replay.Frames]

    @property
    def name(self) -> str:
        return f"{' and '.join(map(str, self.files))} with {self.variant}"

    @property
    def seconds(self) -> float:
        return replay.length(self.entered) / 1e9

    def announce(self, patient: bool, system: System):
        estimate.announce(
            [self.seconds] * 2, patient, system, "play part of the capture (editcap -r FILE NEW 1-1000)"
        )

    def ready(self, of: Machine) -> state.State:
        return state.ready(of, self.variant, static=False)

    def begin(self, ready: state.State, session: Session):
        return replay.begin(session)

    def run(self, ready: state.State, session: Session, captures: str = "") -> dict:
        with tempfile.TemporaryDirectory() as own:
            return replay.play(session, ready.machine, self.entered, _files(Path(captures or own)))

    def wires(self, ready: state.State, captures: Path, reply: dict) -> Captured:
        """Frames enter at their times, or after the frame before; those that left are in captures whose
        times begin with the first frame's."""
        epoch = min(port[0].nanoseconds for port in self.entered if port)
        start = reply["start_cycle"] * 1_000_000_000 // ready.machine.sys_clk_hz
        octet = 8000 // self.link_mbps  # ns
        found: Captured = {}
        for port, frames in enumerate(self.entered):
            rows, free = found.setdefault(f"port{port}-in", []), 0
            for frame in frames:
                free = max(free, start + frame.nanoseconds - epoch)
                octets = frame.on_wire()
                rows.append((free + PREAMBLE * octet, octets[: -pcap.FCS]))
                free += (len(octets) + OVERHEAD) * octet
        for port, file in enumerate(_files(captures).left):
            found[f"port{port}-out"] = [
                (start + time - epoch, octets) for time, octets in pcap.read(file)
            ]
        return found

    def end(self, ready: state.State, session: Session, reply: dict, before: Any, captures: Path) -> int:
        files = _files(captures)
        found = replay.conclude(self.variant, ready, session, self.entered, reply, before, files)
        return report_problems([found])


def _files(folder: Path) -> replay.Captures:
    return replay.Captures([folder / f"left{port}" for port in range(2)], folder)


@dataclass(frozen=True)
class Playing(Run):
    """A recording of `moderato live`, until a cycle."""

    recorded: Recording
    variant: str | None
    until: int

    @property
    def name(self) -> str:
        return str(self.recorded.path)

    @property
    def seconds(self) -> float:
        return (self.until - self.recorded.start) / 1e8  # of a clock of 100 MHz: for the progress only

    def ready(self, of: Machine) -> state.State:
        return live.serving(of, self.variant)

    def accept(self, ready: state.State):
        live.require_same(self.recorded, ready)

    def run(self, ready: state.State, session: Session, captures: str = "") -> dict:
        report = session.progress
        session.progress = lambda told: report(told) if report and "cycles" in told else None
        fields = {"capture": str(Path(captures) / CAPTURE)} if captures else {}
        played = str(self.recorded.path)
        reply = session.call("live", replay=played, until=self.until, link_mbps=LINK_MBPS, **fields)
        if reply["difference"]:
            raise LabError(f"the replay differs from its recording: {reply['difference']}")
        return {name: reply[name] for name in live.REPORT}

    def wires(self, ready: state.State, captures: Path, reply: dict) -> Captured:
        from ..captures.pcapng import sides

        found: Captured = {f"port{port}-{way}": [] for port in range(2) for way in ("in", "out")}
        for port, inbound, time, octets in sides(captures / CAPTURE):
            found[f"port{port}-{'in' if inbound else 'out'}"].append((time, octets))
        return found


CAPTURE = "session.pcapng"


def playing(path: Path, begin: int | None, cycles: int) -> tuple[Playing, System]:
    """The replay of a recording, no further than needed, and the system that it ran on."""
    recorded = live.read(path)
    if len(recorded) > 1:
        raise LabError(f"a wave shows one box, and {path} is of two; record a session of one")
    (one,) = recorded
    if begin is not None and not one.start <= begin <= one.end:
        raise UsageError(f"--from {begin}: {path} is from cycle {one.start} to {one.end}")
    if not one.report:
        print(
            f"moderato: {path} was cut short, or is being recorded; it is played to cycle {one.end}",
            file=sys.stderr,
        )
    variant, system = live.recorded_system(one)
    until = one.end if begin is None else min(one.end, begin + cycles - 1)
    return Playing(one, variant, until), system
