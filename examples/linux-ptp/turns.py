#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A TDMA pair: two simulated systems with clocks of their own send in turn over one wire.

    python turns.py CAPTURE     # prints how many frames collided; CAPTURE gets all frames, as pcapng

The systems are those of two_nodes.py, with gates in their MACs: linuxptp makes their clocks agree. A
program in each sends as much as it can. After a while, `taprio` gives each MAC a list: in every
millisecond of the common time, the first half belongs to one system, and the second half to the other
one. The capture has the frames of both, where the wire begins.
"""

import bisect
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import two_nodes
from two_nodes import DELAY, MASTER, SLAVE, Node, put, together

from moderato.sim.lab.captures import pcap, pcapng
from moderato.sim.lab.live import boxes
from moderato.sim.lab.ontime.ways import TRAFFIC
from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import around
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import TIME
from moderato.sim.lab.show.guest_output import GuestOutput
from moderato.sim.sim_soc import SimConfig, write
from moderato.soc.linux import userspace
from moderato.soc.linux.kernel import Choice

SYSTEM = System(nic=TIME, kernel=Choice("time"))
CONFIG = SimConfig(macs=2, time=True)
LINK = 100  # Mb/s
OCTET = 8000 // LINK  # ns
PREAMBLE = 8  # octets
CYCLE, TURN = 1_000_000, 450_000  # ns; 50 us between two turns
LISTS = {
    SLAVE: f"sched-entry S 3 {TURN} sched-entry S 0 {CYCLE - TURN}",
    MASTER: f"sched-entry S 0 {CYCLE // 2} sched-entry S 3 {TURN} sched-entry S 0 {CYCLE // 2 - TURN}",
}
LENGTH = 1514  # octets of a program's frames
AGREED, TOGETHER = 0.8, 0.03  # seconds until the clocks agree; of both programs without lists
LAST = 100_000_000  # ns of the capture in which the lists are in force
SECONDS = 1.1  # total simulated time
OPTIONS = {SLAVE: "-s --first_step_threshold 0.000001", MASTER: "--priority1 1"}


@dataclass(frozen=True)
class Frame:
    """A frame on the wire, with its preamble, in ns."""

    slave: bool  # sent by the system with the slave
    program: bool  # a program's, not ptp4l's
    begin: int
    end: int


@dataclass(frozen=True)
class Result:
    """collisions: frames that were on the wire while the other system sent, before and after the lists
    were in force. turns: frames of each system afterwards, and the shortest pause between two turns."""

    before: int
    after: int
    sent: tuple[int, int]  # by the master, and by the slave, afterwards
    pause: int


def commands(port: int) -> str:
    """What a guest does, as a line for its shell. ptp4l's frames have priority 3, for queue 1."""
    options = f"{OPTIONS[port]} --socket_priority 3 -i eth{port}"
    gates = f"taprio {TRAFFIC} base-time 0 {LISTS[port]} flags 0x2"
    return (
        f"/tmp/ptp4l -m -f /tmp/ptp.conf {options} > /tmp/log 2>&1 & "
        f"sleep {AGREED}; /tmp/flood eth{port} {LENGTH} & "
        f"sleep {TOGETHER}; tc qdisc add dev eth{port} parent root handle 100 {gates}\n"
    )


def record(capture: Path):
    """Let both systems run for SECONDS; the wire's frames are those of port 1 in `capture`."""
    m = around(two_nodes.verilog(Path(__file__)), LINK, SYSTEM)
    flood = userspace.compiled("flood", two_nodes.HERE / "flood.c", userspace.toolchain())
    ready = state.loaded(m, True)
    with (
        boxes.joined([ready, ready], DELAY) as made,
        boxes.opened(made) as (slave, master),
        GuestOutput(m.sys_clk_hz) as output,
    ):
        for guest, port in (slave, SLAVE), (master, MASTER):
            guest.call("link", mbps=LINK)
            put(guest, m, userspace.ptp4l(), "ptp4l")
            put(guest, m, flood, "flood")
            guest.check(f"echo '{two_nodes.CONFIG}' > /tmp/ptp.conf; ethtool -L eth{port} combined 2")
        end = together(slave, master) + round(SECONDS * m.sys_clk_hz)
        fields = {"until": end, "link_mbps": LINK, "pace": two_nodes.FAST}
        started = [
            made[0].with_fields(**fields, keys=commands(SLAVE), capture=str(capture)),
            made[1].with_fields(**fields, keys=commands(MASTER)),
        ]
        boxes.Running(started, [slave, master], output).result()
        for guest in slave, master:
            print(guest.check("tail -n 3 /tmp/log"))


def frames(capture: Path) -> Sequence[Frame]:
    """The frames at the slave's end of the wire, by time."""
    found = []
    for port, inbound, time, octets in pcapng.sides(capture):
        if port == SLAVE:
            length = max(len(octets), pcap.MIN_FRAME) + pcap.FCS
            program = octets[12:14] == b"\x88\xb5"
            found.append(Frame(not inbound, program, time - PREAMBLE * OCTET, time + length * OCTET))
    return sorted(found, key=lambda frame: frame.begin)


def collisions(sent: Sequence[Frame]) -> int:
    """Frames of the slave's system during which the other one sent."""
    others = [frame for frame in sent if not frame.slave]
    begins = [frame.begin for frame in others]
    found = 0
    for frame in sent:
        if frame.slave:
            last = bisect.bisect_left(begins, frame.end) - 1  # that began before this one ended
            found += last >= 0 and others[last].end > frame.begin
    return found


def evaluated(sent: Sequence[Frame]) -> Result:
    programs = [frame for frame in sent if frame.program]
    both = max(next(frame.begin for frame in programs if frame.slave is side) for side in (True, False))
    early = [frame for frame in sent if both <= frame.begin < both + TOGETHER * 1e9]
    late = [frame for frame in sent if frame.begin >= sent[-1].end - LAST]
    pauses = [
        after.begin - before.end
        for before, after in zip(late, late[1:])
        if before.slave is not after.slave
    ]
    slaves = sum(frame.slave for frame in late)
    return Result(collisions(early), collisions(late), (len(late) - slaves, slaves), min(pauses))


def measure(capture: Path) -> Result:
    record(capture)
    return evaluated(frames(capture))


def report(result: Result) -> str:
    master, slave = result.sent
    return (
        f"without lists, {TOGETHER * 1000:.0f} ms: {result.before} frames collided\n"
        f"in turn, {LAST // 10**6} ms: {result.after} frames collided; the master sent {master}, "
        f"and the slave {slave}; at least {result.pause} ns between two turns"
    )


if __name__ == "__main__":
    if sys.argv[1] == "build" and len(sys.argv) > 2:
        write(Node(CONFIG), Path(sys.argv[2]))
    else:
        print(report(measure(Path(sys.argv[1]))))
