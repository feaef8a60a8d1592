# SPDX-License-Identifier: BSD-2-Clause
"""Gates: frames leave while the gate of their queue is open, whatever else happens, and no frame
blocks its queue for ever.
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
US, MS = 1000, 1_000_000
CYCLE = 2 * MS
OPEN = 300 * US  # of queue 1
# 60 octets and FCS, from the octet after the SFD, at 100 Mb/s.
FRAME = 64 * 80
GATE_STATUS = 0xF1000904
# The shortest frame, and the driver's reserve, at 100 Mb/s; the longest one of queue 0 then has 116.
SHORT = 16 * US

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def guest():
    m = machine(system=SYSTEM)
    with state.loaded(m, True).open() as session:
        for name in ("launches", "lists"):
            program = userspace.compiled(name, HERE / f"{name}.c", userspace.toolchain())
            session.call("mailbox", file=str(program), address=m.mailbox)
            session.check(f"mailbox > /tmp/{name}; chmod +x /tmp/{name}")
        session.check("ethtool -L eth0 combined 2")
        yield session


def taprio(entries: str, cycle: int = CYCLE, base: int = 0, more: str = "") -> str:
    """The command for a list. Frames of priority 3 are in queue 1."""
    return (
        "tc qdisc replace dev eth0 parent root handle 100 taprio num_tc 2 "
        "map 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 queues 1@0 1@1 "
        f"base-time {base} cycle-time {cycle} {more} {entries} flags 0x2"
    )


def entries(*pairs: tuple[int, int]) -> str:
    return " ".join(f"sched-entry S {queues:#x} {ns}" for queues, ns in pairs)


TURNS = entries((2, OPEN), (1, CYCLE - OPEN))


def choose(guest, *words, **more) -> None:
    guest.check("tc qdisc del dev eth0 root 2> /dev/null; true")
    guest.check(taprio(*words, **more))


def stamps(guest, count: int = 4, bypass: bool = False) -> list[int | None]:
    """The times at which frames of queue 1 left."""
    said = guest.check(f"/tmp/launches {'-b ' * bypass}eth0 /dev/ptp0 {'0 ' * count}")
    found = re.findall(r"launch (?:none|-?\d+ at (\d+))", said)
    return [int(stamp) if stamp else None for stamp in found]


def in_windows(found: list[int | None], begin: int = 0, end: int = OPEN, cycle: int = CYCLE) -> bool:
    return bool(found) and all(
        stamp is not None and begin <= stamp % cycle <= end - FRAME for stamp in found
    )


def drops(guest) -> int:
    return statistics(guest, "eth0")["gate_drops"]


def test_frames_leave_while_their_gate_is_open(guest):
    choose(guest, TURNS)
    assert "index 1 cmd S gatemask 0x1 interval 1700000" in guest.check("tc qdisc show dev eth0")
    found = stamps(guest, 8)
    assert in_windows(found)
    # The program sends one after the other, and most wait for the gate.
    assert len({stamp // CYCLE for stamp in found}) > 2
    assert drops(guest) == 0
    assert complaints(guest) == []


def test_without_list_frames_leave_at_once(guest):
    choose(guest, entries((2, OPEN), (1, 100 * MS)), cycle=100 * MS + OPEN)
    guest.check("tc qdisc del dev eth0 root")
    assert int(guest.check(f"devmem {GATE_STATUS:#x}"), 16) == 0
    assert None not in stamps(guest)


@pytest.mark.parametrize(
    "change",
    [
        "ip link set eth0 down; ip link set eth0 up; sleep 0.1",
        "ethtool -G eth0 tx 64",
        "ip link set eth0 mtu 1400; ip link set eth0 mtu 1500",
        "tc qdisc show dev eth0",
    ],
)
def test_list_survives_changes_of_the_interface(guest, change):
    choose(guest, TURNS)
    guest.check(change)
    # The program also steps the clock.
    assert in_windows(stamps(guest))
    assert complaints(guest) == []


def test_list_is_replaced_while_it_runs(guest):
    choose(guest, TURNS)
    assert in_windows(stamps(guest))
    guest.check(taprio(entries((1, MS), (2, MS))))
    found = stamps(guest)
    assert in_windows(found[1:], MS, 2 * MS)
    assert complaints(guest) == []


def test_base_time_ahead(guest):
    """All gates stay open until then."""
    choose(guest, TURNS, base=9_000_000_000_000_000_000)
    assert int(guest.check(f"devmem {GATE_STATUS:#x}"), 16) == 2
    assert None not in stamps(guest)


def send(guest, octets: int) -> tuple[int, int]:
    """Sends a frame of queue 0. Returns how many frames are sent, and dropped. octets: without FCS."""
    before = drops(guest)
    said = guest.check(f"/tmp/launches -p 0 -l {octets} eth0 /dev/ptp0 0")
    return said.count(" at "), drops(guest) - before


def test_frame_without_window_is_dropped(guest):
    """Short ones pass the same gate, and another list lets all pass."""
    choose(guest, entries((1, SHORT), (2, CYCLE - SHORT)))
    assert send(guest, 116) == (1, 0)
    assert send(guest, 117) == (0, 1)
    assert send(guest, 1514) == (0, 1)
    guest.check(taprio(TURNS))
    assert send(guest, 1514) == (1, 0)
    assert complaints(guest) == []


def test_rejects_frames_of_queue_whose_gate_never_opens(guest):
    choose(guest, entries((2, CYCLE)))
    assert send(guest, 60) == (0, 1)
    assert None not in stamps(guest)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("eth0 64 20000", "accepted"),
        ("eth0 65 20000", "the list may have 64 entries at most"),
        ("-c 1200000000 eth0 1 20000", "cycle: 1000 to 1073741823 ns"),
        ("-x 1200000000 eth0 1 20000", "cycle: 1000 to 1073741823 ns"),
        ("-b -1 eth0 1 20000", "the base time is negative"),
        ("-k 1 eth0 1 20000", "no preemption"),
        ("-c 1000000 eth0 2 1073741824", "intervals may be 1073741823 ns long at most"),
        ("eth0 1 100", "Invalid interval"),
    ],
)
def test_reasons_for_rejected_lists(guest, words, says):
    choose(guest, TURNS)
    said = guest.check(f"/tmp/lists {words}")
    assert says in said
    assert complaints(guest) == []
    if says != "accepted":
        assert in_windows(stamps(guest, 2)), "the list that was in effect stays so"
