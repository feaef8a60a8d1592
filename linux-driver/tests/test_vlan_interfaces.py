# SPDX-License-Identifier: BSD-2-Clause
"""VLAN interfaces of the kernel on a MAC that removes, inserts and filters tags. Each interface receives
and sends the same frames with each of the three on and off.
"""

import itertools
import shlex
import subprocess
from pathlib import Path

import pytest
from guests import complaints, statistics
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

from moderato.sim.lab.captures import pcap
from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import OFFLOAD
from moderato.soc.linux import userspace
from moderato.soc.linux.kernel import Choice

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
GUEST, TESTER = "02:4d:6f:64:00:00", "02:54:73:74:00:00"
VLAN_REGISTER = 0xF10000B4  # of eth0
STRIP, FILTER, INSERT = 1, 2, 4
# Interfaces by the tags of their frames, the outer one first.
VLANS = {(): "eth0", (5,): "eth0.5", (4095 - 1,): "eth0.4094", (5, 7): "inner"}
SWITCHES = ("rxvlan", "txvlan", "rx-vlan-filter")


@pytest.fixture(scope="module")
def guest(tmp_path_factory):
    m = machine(system=System(nic=OFFLOAD, kernel=Choice("vlan")))
    program = tmp_path_factory.mktemp("programs") / "send_tcp"
    subprocess.run([userspace.toolchain().cc, "-O2", "-o", program, HERE / "send_tcp.c"], check=True)
    with state.loaded(m, True).open() as session:
        session.call("mailbox", file=str(program), address=m.mailbox)
        session.check("mailbox > /tmp/send_tcp; chmod +x /tmp/send_tcp")
        for number, (tags, name) in enumerate(VLANS.items()):
            if tags:
                below = VLANS[tags[:-1]]
                session.check(
                    f"ip link add link {below} name {name} type vlan id {tags[-1]} egress-qos-map 0:3"
                )
                session.check(f"ip addr add {address(number)}.1/24 dev {name}; ip link set {name} up")
                session.check(
                    f"ip neigh replace {address(number)}.2 lladdr {TESTER} dev {name} nud permanent"
                )
        yield session


def address(number: int) -> str:
    """The first three octets of the addresses of an interface and its neighbour."""
    return "198.18.0" if number == 0 else f"192.0.{number}"


def switch(guest, *on: str):
    for name in SWITCHES:
        guest.check(f"ethtool -K eth0 {name} {'on' if name in on else 'off'}")
    wanted = INSERT | STRIP * ("rxvlan" in on) | FILTER * ("rx-vlan-filter" in on)
    assert register(guest) == wanted


def register(guest) -> int:
    return int(guest.check(f"devmem {VLAN_REGISTER:#x}"), 16)


def tagged(tags, prio=0):
    """The header of a frame from the tester with these tags."""
    head = Ether(dst=GUEST, src=TESTER)
    for vid in tags:
        head /= Dot1Q(vlan=vid, prio=prio)
    return head


def echo(tags, number: int, octets: int, serial: int):
    """An echo request to the interface `number`."""
    return (
        tagged(tags, prio=serial % 8)
        / IP(src=f"{address(number)}.2", dst=f"{address(number)}.1")
        / ICMP(type=8, id=1, seq=serial)
        / Raw(bytes(n % 251 for n in range(octets)))
    )


def replay(guest, tmp_path, frames) -> list[bytes]:
    """The frames that leave port 0 after these arrive there."""
    wrpcap(str(tmp_path / "in.pcap"), frames)
    guest.call(
        "replay",
        **{"in": [str(tmp_path / "in.pcap"), None]},
        out=[str(tmp_path / "0.pcap"), str(tmp_path / "1.pcap")],
        quiet_cycles=8_000_000,
        max_cycles=200_000_000,
    )
    return [frame for _, frame in pcap.read(tmp_path / "0.pcap")]


@pytest.mark.parametrize(
    "on",
    [on for count in range(4) for on in itertools.combinations(SWITCHES, count)],
    ids=lambda on: "+".join(on) or "none",
)
def test_each_interface_answers(guest, tmp_path, on):
    """Echo requests of all lengths reach the interface of their tags, and the answers have these tags.
    Requests of other VLANs are dropped, by the hardware if it filters. VID 0 is no VLAN."""
    switch(guest, *on)
    before = statistics(guest, "eth0")["rx_vlan_filtered"]
    # MAX_FRAME has room for one tag. With two, the hardware must remove one, or the packet must be
    # shorter.
    asked = [
        (tags, number, octets)
        for number, tags in enumerate(VLANS)
        for octets in (0, 1, 14, 17, 18, 19, 100, 1460, 1468 if len(tags) > 1 else 1472)
    ]
    frames = [echo(tags, number, octets, serial) for serial, (tags, number, octets) in enumerate(asked)]
    priority = [echo((0,), 0, 20, 1000)]
    foreign = [echo((vid,), 1, 20, 2000) for vid in (4, 6, 21, 4093)]
    answers = replay(guest, tmp_path, [*foreign, *frames, *priority, *foreign])
    found = {}
    for answer in map(Ether, answers):
        if ICMP not in answer or answer[ICMP].type != 0:
            continue
        tags, layer = [], answer
        while Dot1Q in layer:
            layer = layer[Dot1Q]
            tags.append((layer.vlan, layer.prio))
            layer = layer.payload
        found[answer[ICMP].seq] = (tags, bytes(answer[ICMP].payload), len(bytes(answer)))
    for serial, (tags, _, octets) in enumerate(asked):
        got, payload, length = found.pop(serial)
        assert got == [(vid, 3) for vid in tags]
        assert payload[:octets] == bytes(n % 251 for n in range(octets))
        assert length == max(60, 14 + 4 * len(tags) + 28 + octets)
    assert found.pop(1000)[0] == []
    assert found == {}
    dropped = statistics(guest, "eth0")["rx_vlan_filtered"] - before
    assert dropped == (2 * len(foreign) if "rx-vlan-filter" in on else 0)
    assert complaints(guest) == []


@pytest.mark.parametrize("on", [("txvlan",), (), SWITCHES], ids=lambda on: "+".join(on) or "none")
def test_segments_have_tags(guest, tmp_path, on):
    """Each frame that the driver copies, sums and cuts has its tag and a correct checksum."""
    switch(guest, *on)
    words = ["/tmp/send_tcp", "eth0.5", "1448", "30000", "1448", "1", "2000"]
    guest.check(f"{shlex.join(words)} &")
    nobody = Ether(dst="02:00:00:00:00:ff", src="02:00:00:00:00:02", type=0x88B5) / Raw(bytes(46))
    sent = [Ether(frame) for frame in replay(guest, tmp_path, [nobody]) if b"\x08\x00E" in frame[:20]]
    sizes = [1448] * 20 + [1040, 1448, 1, 1448, 552]
    stream = bytes((7 * k + k // 256) % 256 for k in range(sum(sizes)))
    assert len(sent) == len(sizes)
    for frame, size in zip(sent, sizes, strict=True):
        assert (frame[Dot1Q].vlan, frame[Dot1Q].prio) == (5, 3)
        tcp = frame[IP].payload
        content, stream = stream[:size], stream[size:]
        assert bytes(tcp.payload)[:size] == content
        right = frame[IP].copy()
        del right.chksum, right.payload.chksum
        assert bytes(IP(bytes(right))) == bytes(frame[IP])
    assert complaints(guest) == []


def test_vlan_filter_outlives_resets_and_suspend(guest, tmp_path):
    """After new rings, a change of the MTU, down and up, and suspend, the filter accepts the same
    VLANs."""
    switch(guest, *SWITCHES)
    asleep = (
        "echo 0 > /sys/module/suspend/parameters/pm_test_delay; "
        "echo devices > /sys/power/pm_test; echo freeze > /sys/power/state"
    )
    for change in (
        "true",
        "ethtool -G eth0 rx 64 tx 64",
        "ip link set eth0 mtu 2000",
        "ip link set eth0 mtu 1500",
        "ip link set eth0 down; ip link set eth0 up; "
        + "; ".join(
            f"ip neigh replace {address(number)}.2 lladdr {TESTER} dev {name} nud permanent"
            for number, name in enumerate(VLANS.values())
        ),
        # Registers that the hardware loses without power
        f"devmem {VLAN_REGISTER:#x} 32 0; devmem {VLAN_REGISTER + 4:#x} 32 0; "
        f"devmem {VLAN_REGISTER + 4:#x} 32 {5 << 16 | 0xFFFF:#x}; {asleep}",
    ):
        guest.check(change)
        assert register(guest) == STRIP | FILTER | INSERT
        before = statistics(guest, "eth0")["rx_vlan_filtered"]
        answers = replay(
            guest,
            tmp_path,
            [
                echo((5,), 1, 100, 1),
                echo((6,), 1, 100, 2),
                echo((85,), 1, 100, 3),
                echo((4094,), 2, 100, 4),
            ],
        )
        seen = sorted(Ether(frame)[ICMP].seq for frame in answers if ICMP in Ether(frame))
        assert seen == [1, 4], change
        assert statistics(guest, "eth0")["rx_vlan_filtered"] - before == 2, change
    assert complaints(guest) == []


def test_vlans_come_and_go(guest, tmp_path):
    """The hardware drops frames of a VLAN whose interface is deleted, and accepts those of a new one. In
    promiscuous mode it filters none, and the kernel drops them."""
    switch(guest, *SWITCHES)
    guest.check(
        "ip link add link eth0 name eth0.6 type vlan id 6; ip addr add 192.0.9.1/24 dev eth0.6; "
        f"ip link set eth0.6 up; ip neigh replace 192.0.9.2 lladdr {TESTER} dev eth0.6 "
        "nud permanent"
    )
    ask = [tagged((6,)) / IP(src="192.0.9.2", dst="192.0.9.1") / ICMP(type=8, id=1, seq=1)]
    for change, answered, filtered in (
        ("true", 1, 0),
        ("ip link del eth0.6", 0, 1),
        ("ip link set eth0 promisc on", 0, 0),
        ("ip link set eth0 promisc off", 0, 1),
    ):
        guest.check(change)
        before = statistics(guest, "eth0")["rx_vlan_filtered"]
        answers = replay(guest, tmp_path, ask)
        assert sum(ICMP in Ether(frame) for frame in answers) == answered, change
        assert statistics(guest, "eth0")["rx_vlan_filtered"] - before == filtered, change
    assert complaints(guest) == []
