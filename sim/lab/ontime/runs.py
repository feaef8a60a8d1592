# SPDX-License-Identifier: BSD-2-Clause
"""One run: the guest's program sends frames at their launch times, while the guest forwards a load."""

import math
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..captures import pcap
from ..measure import trial
from ..measure.results import OVERHEAD, Trial, frame_rate
from ..measure.traffic import Traffic, reporter
from ..run import state
from ..run.machine import Machine
from ..run.session import Session
from ..run.state import State
from ..run.stations import TESTER
from ..run.variants import KNOWN
from . import figures
from .ways import CLASSES, CLOCK, INTERFACE, PORTS, PRIORITY, Gates, Way

KIND = "ontime"
VARIANT = "napi-full"
RESULT = "/tmp/result"
LEAD, AHEAD = 80_000_000, 30_000_000  # ns, of the program: start to base, socket to launch
TAIL = 30_000_000  # ns of load after the last launch time
QUIET = 3  # factor: under a load that the CPU cannot forward, the program may pause for some 20 ms


@dataclass(frozen=True)
class Run:
    """A way, its frames, and the load that the guest forwards meanwhile."""

    way: Way
    frames: int = 100
    interval: int = 1_000_000  # ns
    link_mbps: int = 100
    load_percent: float = 100
    frame_bytes: int = 64  # of the load

    @property
    def seconds(self) -> float:
        """Simulated time of the load."""
        return (LEAD + self.frames * self.interval + TAIL) / 1e9

    @property
    def command(self) -> str:
        """Starts the program in the background; prints its process when the launch times are fixed."""
        return (
            f"ontime{' -s' * self.way.sleeps} -n {self.frames} -i {self.interval} -l {LEAD} -a {AHEAD} "
            f"-p {PRIORITY} {INTERFACE} {CLOCK} {TESTER[0].ipv4} > {RESULT} 2>&1 & echo $!; "
            f"until [ -s {RESULT} ]; do :; done"
        )

    def trial(self, traffic: Traffic) -> Trial:
        rate = frame_rate(self.frame_bytes, self.load_percent, self.link_mbps)
        return Trial(
            VARIANT,
            self.frame_bytes,
            self.load_percent,
            math.ceil(rate * self.seconds),
            self.link_mbps,
            traffic=traffic,
        )


def ready(of: Machine) -> State:
    """The driver is loaded, and the settings are chosen that all ways have."""
    commands = [*KNOWN[VARIANT].commands(), *of.system.commands(), *PORTS, CLASSES]
    return state.chosen(of, "ontime", commands)


def run(wanted: Run, at: State, progress: Callable[[float], None]) -> dict:
    """The record of a run."""
    started = time.monotonic()
    clock = at.machine.sys_clk_hz
    load = wanted.trial(Traffic(in_order=at.machine.system.in_order))
    with at.open(progress=reporter(progress, clock, wanted.seconds)) as session:
        for command in wanted.way.commands():
            session.check(command)
        drops = hardware_counts(session)
        before = trial.begin(load, at, session)
        pid = int(session.check(wanted.command))
        with tempfile.TemporaryDirectory() as folder:
            request = trial.request(load, clock)
            request["quiet_cycles"] *= QUIET
            session.call("offer", **request, pcap=folder)
            reply = session.call("collect")
            captured = pcap.read(Path(folder) / "port0-out.pcap")
        said = figures.said(session.check(f"wait {pid}; cat {RESULT}"))
        counts = {name: count - drops.get(name, 0) for name, count in hardware_counts(session).items()}
        of_qdisc = qdisc_drops(session)
        traffic = trial.conclude(load, at, session, reply, started, before)
    frames, marks = figures.departures(captured)
    nic_clock = figures.nic_clock(marks, said.stamps)
    late = figures.lateness(frames, nic_clock)
    where = figures.account(wanted.frames, len(frames), counts.get("launch_drops", 0), said)
    found = {
        "name": wanted.way.name,
        "kind": KIND,
        "way": wanted.way.name,
        "delta_ns": wanted.way.delta,
        "interval_ns": wanted.interval,
        "link_mbps": wanted.link_mbps,
        "load_percent": wanted.load_percent,
        "frame_bytes": wanted.frame_bytes,
        "harts": at.machine.system.harts,
        **where,
        "late": sum(value > figures.LATE for value in late),
        "late_by_hardware": counts.get("launch_late", 0),
        "lateness_ns": figures.summary(late),
        "jitter_ns": max(late) - min(late) if late else None,
        "histogram": figures.histogram(late),
        "frame_lateness_ns": {frame.number: value for frame, value in zip(frames, late)},
        "clock": {
            "offset_ns": said.offsets,
            "offset_error_ns": said.errors,
            "drift_ns": said.stamps[1] - said.stamps[0] - (marks[1].wire - marks[0].wire),
        },
        "traffic": traffic.as_json(),
        "problems": [*problems(where, said, of_qdisc), *traffic.problems],
    }
    if wanted.way.gates:
        found["gates"] = gated(wanted, wanted.way.gates, captured, frames, marks, nic_clock)
        if violated := found["gates"]["violations"]:
            found["problems"].append(f"{violated} frames left while the gate of their queue was closed")
    found["conditions"] = found["traffic"].pop("conditions")
    return found


def gated(
    wanted: Run,
    gates: Gates,
    captured: Sequence[tuple[int, bytes]],
    own: Sequence[figures.Departure],
    marks: Sequence[figures.Departure],
    clock: Callable[[int], int],
) -> dict:
    """What left through the gates: violations, and how many frames of the load left, and had time, in
    the cycles from one mark to the other. The program's frames `own` are in queue 1, its marks in 0."""
    octet = 8000 // wanted.link_mbps
    sent_by_program = {frame.wire for frame in own}
    sent = [
        (wire, int(wire in sent_by_program), max(len(octets), pcap.MIN_FRAME) + pcap.FCS)
        for wire, octets in captured
    ]
    before, after = (clock(mark.wire) // gates.cycle for mark in marks)
    whole = range(before + 1, after)  # cycles between the marks
    load = {wire for wire, _ in captured} - sent_by_program - {mark.wire for mark in marks}
    cycles = [clock(wire) // gates.cycle for wire in load]
    most = figures.most_frames(gates, 0, wanted.frame_bytes + OVERHEAD, octet)
    return {
        "cycle_ns": gates.cycle,
        "entries": [list(entry) for entry in gates.entries],
        "frames": len(sent),
        "violations": figures.violations(sent, clock, gates, octet),
        "load_frames": sum(cycle in whole for cycle in cycles),
        "most_load_frames": most * len(whole),
    }


def problems(where: dict[str, int], said: figures.Said, of_qdisc: int) -> list[str]:
    """Why a run is unsound; else empty."""
    found = []
    if where["missing"]:
        found.append(
            f"{where['frames']} frames were asked for, and {where['frames'] - where['missing']} are "
            "on the wire or in a counter of drops"
        )
    if of_qdisc != said.invalid + said.missed:
        found.append(
            f"the qdisc dropped {of_qdisc} frames, and the socket reported {said.invalid + said.missed}"
        )
    return found


def hardware_counts(session: Session) -> dict[str, int]:
    """The MAC's counters of launch times; empty if it has none."""
    shown = session.check(f"ethtool -S {INTERFACE}")
    return {name: int(count) for name, count in re.findall(r"(launch_\w+): (\d+)", shown)}


def qdisc_drops(session: Session) -> int:
    """Frames that etf has dropped since it was chosen."""
    shown = session.check(f"tc -s qdisc show dev {INTERFACE}")
    return sum(int(dropped) for dropped in re.findall(r"qdisc etf .*\n.*\(dropped (\d+),", shown))
