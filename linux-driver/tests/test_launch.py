# SPDX-License-Identifier: BSD-2-Clause
"""Launch times: frames leave at the times that programs give, and each change of settings ends frames
that the MAC holds.
"""

import re
from pathlib import Path

import pytest
from guests import complaints, statistics

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import TIME
from moderato.soc.linux import userspace
from moderato.soc.linux.kernel import Choice

HERE = Path(__file__).parent
SYSTEM = System(nic=TIME, kernel=Choice("time"))
BASE = 0xF1000000  # registers of eth0
LAUNCH_AHEAD, LINK_OCTET = 0xC0, 0xC4
COUNTERS = ("launch_late", "launch_drops", "launch_invalid")
LATEST = 16  # ns; the MAC's clock has a period of 10 ns
MS = 1_000_000
HELD = 100 * MS
# Frames of priority 3 are in queue 1.
CLASSES = (
    "tc qdisc replace dev eth0 parent root handle 100 mqprio num_tc 2 "
    "map 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 queues 1@0 1@1 hw 0"
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def guest():
    m = machine(system=SYSTEM)
    program = userspace.compiled("launches", HERE / "launches.c", userspace.toolchain())
    with state.loaded(m, True).open() as session:
        session.call("mailbox", file=str(program), address=m.mailbox)
        session.check("mailbox > /tmp/launches; chmod +x /tmp/launches")
        session.check("ethtool -L eth0 combined 2")
        yield session


def choose(guest, delta: int = 2 * HELD):
    """Have etf give the frames of queue 1 to the MAC."""
    guest.check("tc qdisc del dev eth0 root 2> /dev/null; true")
    guest.check(CLASSES)
    guest.check(f"tc qdisc add dev eth0 parent 100:2 etf clockid CLOCK_TAI delta {delta} offload")


def launches(guest, *ahead: int, bypass: bool = False) -> list[int | None]:
    """The stamps of frames minus their launch times; None: without a stamp."""
    words = " ".join(map(str, ahead))
    said = guest.check(f"/tmp/launches {'-b ' * bypass}eth0 /dev/ptp0 {words}")
    found = re.findall(r"launch (none|-?\d+)", said)
    return [None if word == "none" else int(word) for word in found]


def counters(guest) -> list[int]:
    found = statistics(guest, "eth0")
    return [found[name] for name in COUNTERS]


def counted(guest, before: list[int]) -> list[int]:
    return [now - then for now, then in zip(counters(guest), before, strict=True)]


def on_time(late: list[int | None]) -> bool:
    return all(ns is not None and 0 <= ns <= LATEST for ns in late)


def hold(guest, change: str) -> str:
    """Do `change` while the MAC holds a frame. Returns what the frame's sender says."""
    guest.check(f"/tmp/launches eth0 /dev/ptp0 {HELD} > /tmp/held & sleep 0.01")
    guest.check(change)
    guest.check("wait")
    return guest.check("cat /tmp/held").strip()


def test_frames_leave_at_their_times(guest):
    choose(guest)
    assert "offload on" in guest.check("tc qdisc show dev eth0")
    before = counters(guest)
    late = launches(guest, 25 * MS, 10 * MS, 5 * MS)
    assert len(late) == 3 and on_time(late)
    assert counted(guest, before) == [0, 0, 0]
    assert complaints(guest) == []


def test_driver_tells_hardware_the_rate_of_the_link(guest):
    assert int(guest.check(f"devmem {BASE + LINK_OCTET:#x}"), 16) == 80
    assert int(guest.check(f"devmem {BASE + LAUNCH_AHEAD:#x}"), 16) == 576


def test_drops_frames_whose_time_the_hardware_cannot_keep(guest):
    """A time that is over is the hardware's to drop, a distant one the driver's. No qdisc checks them
    first."""
    choose(guest)
    before = counters(guest)
    assert launches(guest, -5 * MS, bypass=True) == [None]
    assert counted(guest, before) == [0, 1, 0]
    assert launches(guest, 2**31 + 100 * MS, -(2**31), bypass=True) == [None, None]
    assert counted(guest, before) == [0, 1, 2]
    assert on_time(launches(guest, 10 * MS))


def test_without_offload_frames_leave_at_once(guest):
    choose(guest)
    guest.check("tc qdisc del dev eth0 parent 100:2")
    before = counters(guest)
    (late,) = launches(guest, 50 * MS, bypass=True)
    assert -50 * MS < late < -40 * MS
    assert counted(guest, before) == [0, 0, 0]


@pytest.mark.parametrize(
    "change",
    [
        "ip link set eth0 down; ip link set eth0 up",
        "ethtool -G eth0 tx 64",
        "ethtool -L eth0 combined 1; ethtool -L eth0 combined 2",
    ],
)
def test_disabled_ring_drops_held_frame(guest, change):
    choose(guest)
    before = counters(guest)
    assert hold(guest, change) == "launch none"
    assert counted(guest, before) == [0, 1, 0]
    choose(guest)
    assert on_time(launches(guest, 10 * MS))
    assert complaints(guest) == []


def test_held_frame_leaves_after_offload_ends(guest):
    """The frame is the hardware's already."""
    choose(guest)
    assert on_time([int(hold(guest, "tc qdisc del dev eth0 parent 100:2").split()[1])])
