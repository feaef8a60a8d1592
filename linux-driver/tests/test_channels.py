# SPDX-License-Identifier: BSD-2-Clause
"""Two queues on two harts: their number, RSS, and moderation per queue, changed with ethtool under
traffic.
"""

import re
import shutil
from pathlib import Path

import modified
import pytest
from guests import collect, complaints, offer

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import QUEUES, System
from moderato.sim.lab.run.variants import OFFLOAD
from moderato.soc.linux import kernel
from moderato.toolchain.cache import run

pytestmark = pytest.mark.slow

SYSTEM = System(nic=OFFLOAD, harts=2, spread=QUEUES)
DIRECT = Path(__file__).with_name("direct")
BASE = 0xF1000000  # registers of eth0
RX_FRAMES = 0x110, 0x510  # of each queue
RING_ORDERS = 0x104, 0x204, 0x504, 0x604  # Rx and Tx of queue 0, of queue 1
KEY = ":".join(f"{n:02x}" for n in range(40))


@pytest.fixture
def guest():
    with state.loaded(machine(system=SYSTEM), True).open() as session:
        yield session


def register(guest, offset: int) -> int:
    return int(guest.check(f"devmem {BASE + offset:#x}"), 16)


def raised(guest, line: str) -> int:
    """Interrupts of this name on both harts; 0 if the line is not in use."""
    rows = [row.split() for row in guest.check("cat /proc/interrupts").splitlines()]
    assert any("eth0-rx" in row for row in rows)
    return sum(int(count) for row in rows if row[-1:] == [line] for count in row[1:3])


def served(guest, frames: int = 32) -> list[bool]:
    """The queues of eth0 that raised interrupts for frames of 16 streams, all of them forwarded."""
    lines = "eth0-rx", "eth0-rx1"
    before = [raised(guest, line) for line in lines]
    offer(guest, frames, load=5, flows=16)
    for port in collect(guest):
        assert port["forwarded"] == frames
    return [raised(guest, line) > was for line, was in zip(lines, before, strict=True)]


def test_channels_change_rings_and_statistics(guest):
    """`-l` shows the number of queues. `-L` changes it, with both rings, the statistics and the netdev's
    queues."""
    for number in (1, 2):
        guest.check(f"ethtool -L eth0 combined {number}")
        assert re.findall(r"Combined:\s+(\d)", guest.check("ethtool -l eth0")) == ["2", str(number)]
        assert served(guest) == [True, number == 2]
    for wrong in ("combined 3", "combined 0", "rx 1", "tx 1"):
        assert "status 0" not in guest.check(f"ethtool -L eth0 {wrong} 2>&1; echo status $?")
    assert served(guest) == [True, True]
    assert complaints(guest) == []


def test_rss_table_and_key_outlive_rings(guest):
    """`-X` sets shares and key at once. Both survive new rings, down and up. The driver rejects invalid
    values."""
    guest.check("ethtool -X eth0 weight 1 0")
    assert served(guest) == [True, False]
    guest.check(f"ethtool -X eth0 hkey {KEY}")
    guest.check("ethtool -X eth0 weight 0 1")
    for change in ("ethtool -G eth0 rx 128 tx 128", "ip link set eth0 mtu 1400"):
        guest.check(change)
    for wrong in ("weight 1 1 1", "equal 3", "hfunc xor", "hkey 01:02"):
        assert "status 0" not in guest.check(f"ethtool -X eth0 {wrong} 2>&1; echo status $?")
    said = guest.check("ethtool -x eth0")
    assert KEY in said
    assert set(sum(table(said), [])) == {"1"} and len(sum(table(said), [])) == 128
    assert served(guest) == [False, True]
    guest.check("ethtool -X eth0 equal 2")
    assert served(guest) == [True, True]
    for flow, fields in {"tcp4": 4, "udp6": 4, "sctp4": 2, "ah6": 2}.items():
        said = guest.check(f"ethtool -n eth0 rx-flow-hash {flow}")
        assert said.count("IP ") == 2 and said.count("L4 bytes") == fields - 2, said
    assert complaints(guest) == []


def send_direct(guest, tmp_path):
    """The module direct/ for the guest."""
    place, built = tmp_path / "direct", kernel.kernel(SYSTEM.harts, SYSTEM.kernel)
    shutil.copytree(DIRECT, place)
    run(kernel.make(built.source, built.build, f"M={place}", "modules"), log=tmp_path / "log")
    guest.call("mailbox", file=str(place / "direct.ko"), address=machine(system=SYSTEM).mailbox)
    guest.check("mailbox > /tmp/direct.ko")


def counted(guest) -> list[int]:
    """The numbers of frames that eth0 sent, and that it dropped."""
    return [
        int(guest.check(f"cat /sys/class/net/eth0/statistics/tx_{name}"))
        for name in ("packets", "dropped")
    ]


def test_drops_frames_for_unused_queue(guest, tmp_path):
    """No queue sends them, and they have no other effect. pktgen asks the stack for a queue only
    once."""
    send_direct(guest, tmp_path)
    for number, sent in ((2, True), (1, False), (2, True)):
        guest.check(f"ethtool -L eth0 combined {number}")
        before = counted(guest)
        guest.check("insmod /tmp/direct.ko frames=5; rmmod direct")
        assert [now - was for now, was in zip(counted(guest), before, strict=True)] == [
            5 * sent,
            5 * (not sent),
        ]
        assert served(guest) == [True, number == 2]
    assert complaints(guest) == []


def test_copies_long_frame_while_mtu_grows(tmp_path):
    """While the MTU grows, one queue has its new ring, but the other one has buffers for the old MTU."""
    changes = (
        ("tx_gather.c", "plan->pieces <= moderato_size(tx->ring.order) / 2", "plan->pieces < 2"),
        (
            "moderato_change.c",
            "err = moderato_spare_put_tx(q, tx) ?: err;",
            "err = moderato_spare_put_tx(q, tx) ?: err; msleep(200);",
        ),
        (
            "tx_copy.c",
            "	moderato_cut_next(cut, frame);",
            '	WARN_ONCE(ksize(tx->copies[slot]) < moderato_cut_offset(cut) + len, "too long");\n'
            "	moderato_cut_next(cut, frame);",
        ),
    )
    with modified.guest(tmp_path, *changes, system=SYSTEM) as guest:
        send_direct(guest, tmp_path)
        guest.check("ethtool -G eth0 tx 64")
        before = counted(guest)
        guest.check("insmod /tmp/direct.ko octets=1400 frames=64; rmmod direct")
        assert counted(guest) == [before[0] + 64, before[1]]
        guest.check(
            "(sleep 0.05; insmod /tmp/direct.ko octets=8000 frames=4) & "
            "ip link set eth0 mtu 9000; wait; rmmod direct"
        )
        assert counted(guest) == [before[0] + 64, before[1] + 4]
        guest.check("insmod /tmp/direct.ko octets=8000 frames=4; rmmod direct")
        assert counted(guest) == [before[0] + 68, before[1] + 4]
        assert complaints(guest) == []


def table(said: str) -> list[list[str]]:
    """The rows of ethtool -x: `  8:  0 1 0 1 ...`; the key's has more colons."""
    rows = [row.split(":") for row in said.splitlines() if row.strip()[:1].isdigit()]
    return [row[1].split() for row in rows if len(row) == 2]


def test_per_queue_moderation(guest):
    """`--per-queue` sets one queue, `-C` both."""
    guest.check("ethtool -C eth0 adaptive-rx off rx-frames 8 rx-usecs 400")
    assert [register(guest, offset) for offset in RX_FRAMES] == [8, 8]
    guest.check("ethtool --per-queue eth0 queue_mask 2 --coalesce rx-frames 3")
    assert [register(guest, offset) for offset in RX_FRAMES] == [8, 3]
    shown = guest.check("ethtool --per-queue eth0 queue_mask 3 --show-coalesce")
    assert shown.count("rx-frames: 8") == shown.count("rx-frames: 3") == 1
    assert served(guest) == [True, True]
    third = "ethtool --per-queue eth0 queue_mask 4 --coalesce rx-frames 1 2>&1; echo status $?"
    assert "status 0" not in guest.check(third)
    guest.check("ethtool -G eth0 rx 128")
    assert [register(guest, offset) for offset in RX_FRAMES] == [8, 3]
    assert complaints(guest) == []


def test_rejects_rules_with_two_queues(guest):
    """The ring of a rule (`ethtool -N`), 0, exists only with one queue. So the driver rejects rules
    while two queues are in use, and a second queue while there are rules."""

    def rejected(command: str) -> bool:
        """ethtool 6.1 prints an error, but ends with status 0, if the kernel rejects a rule."""
        said = guest.check(f"{command} 2>&1; echo status $?")
        return "Cannot insert" in said or "status 0" not in said

    rule = "ethtool -N eth0 flow-type ip4 tos 184"
    assert rejected(rule) and rejected(f"{rule} action 0")
    assert "Total 0 rules" in guest.check("ethtool -n eth0")
    guest.check("ethtool -L eth0 combined 1")
    assert not rejected(f"{rule} action 0")
    assert rejected("ethtool -L eth0 combined 2")
    assert served(guest) == [True, False]
    guest.check("ethtool -N eth0 delete 0; ethtool -L eth0 combined 2")
    assert served(guest) == [True, True]
    assert complaints(guest) == []


def test_settings_apply_to_unused_queues(guest):
    """Settings made while one queue is in use, or while the interface is down, apply to both queues
    later. So does the affinity of their interrupts."""
    guest.check("ethtool -L eth0 combined 1; ethtool -G eth0 rx 512 tx 64")
    guest.check("ethtool -C eth0 adaptive-rx off rx-frames 16 rx-usecs 100")
    guest.check("ethtool -L eth0 combined 2")
    assert [register(guest, offset) for offset in RX_FRAMES] == [16, 16]
    assert [register(guest, offset) for offset in RING_ORDERS] == [9, 6, 9, 6]
    line = guest.check("grep eth0-rx1 /proc/interrupts").split(":")[0].strip()
    guest.check(
        f"ip link set eth0 down; echo 1 > /proc/irq/{line}/smp_affinity; "
        "ethtool -G eth0 rx 128; ip link set eth0 up"
    )
    assert guest.check(f"cat /proc/irq/{line}/smp_affinity").strip() == "1"
    assert [register(guest, offset) for offset in RING_ORDERS] == [7, 6, 7, 6]
    guest.check("ethtool --per-queue eth0 queue_mask 2 --coalesce rx-frames 64")
    guest.check("ethtool -L eth0 combined 1")
    assert guest.type("ethtool -G eth0 rx 64")[0] != 0  # too short for rx-frames of the second queue
    assert complaints(guest) == []


def test_under_traffic(guest):
    """The number of queues, the table and the moderation change under traffic. Only the MAC drops
    frames, while the interface restarts. None is corrupted."""
    frames = 200
    offer(guest, frames, load=1, flows=16)
    for number in (1, 2):
        guest.check("ethtool -X eth0 default")
        guest.check(f"ethtool -L eth0 combined {number}")
        guest.check(f"ethtool -X eth0 equal {number}")
        adaptive = "on" if number == 1 else "off"
        guest.check(f"ethtool -C eth0 adaptive-rx {adaptive} adaptive-tx {adaptive}")
    assert max(port["offered"] for port in guest.call("status")["ports"]) < frames
    for port in guest.call("collect")["ports"]:
        assert (port["corrupted"], port["duplicated"]) == (0, 0)
        assert port["left"]["bad_fcs"] == port["left"]["unrecognised"] == 0
    assert served(guest) == [True, True]
    assert complaints(guest) == []
