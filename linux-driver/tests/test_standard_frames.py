# SPDX-License-Identifier: BSD-2-Clause
"""Frames of IEEE 802.3 with any MTU of the interface. The driver receives those of standard length. It
counts octets on the wire without the FCS (linux/if_link.h), in both directions.
"""

import pytest
from guests import complaints
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import OFFLOAD
from moderato.soc.linux.kernel import Choice

pytestmark = pytest.mark.slow

BASE = 0xF1000000  # registers of eth0
GOOD = 0x300, 0x304, 0x340, 0x344  # of these, received frames and octets, and sent ones
FCS = 4
GUEST, TESTER = "02:4d:6f:64:00:00", "02:54:73:74:00:00"


@pytest.fixture(params=[System(), System(nic=OFFLOAD, kernel=Choice("vlan"))], ids=["plain", "offload"])
def guest(request):
    with state.loaded(machine(system=request.param), True).open() as session:
        session.tags = request.param.nic == OFFLOAD
        yield session


def counted(guest) -> list[int]:
    """eth0's received packets and octets, and its sent ones."""
    return [
        int(word)
        for word in guest.check(
            "sleep 0.01; cd /sys/class/net/eth0/statistics; cat rx_packets rx_bytes tx_packets tx_bytes"
        ).split()
    ]


def on_the_wire(guest) -> list[int]:
    """The same counters of the hardware."""
    rx, rx_octets, tx, tx_octets = (
        int(guest.check(f"devmem {BASE + offset:#x}"), 16) for offset in GOOD
    )
    return [rx, rx_octets - FCS * rx, tx, tx_octets - FCS * tx]


def test_octets(guest):
    """An echo request and its reply have the same length and count the same, including tags that the
    hardware inserts."""
    hosts = {"198.18.0.2": 0}
    if guest.tags:
        guest.check(
            "ip link add link eth0 name eth0.5 type vlan id 5; ip link set eth0.5 up; "
            "ip addr add 192.0.2.1/24 dev eth0.5; "
            f"ip neigh replace 192.0.2.2 lladdr {TESTER} dev eth0.5 nud permanent"
        )
        hosts["192.0.2.2"] = 4
    for host, tag in hosts.items():
        for size in (0, 13, 14, 15, 17, 18, 19, 100):
            before, wire = counted(guest), on_the_wire(guest)
            # The tester answers frames without a tag.
            guest.check(
                f"ping -c 1 -s {size} {host} > /dev/null" + (" & sleep 0.05; kill $!" if tag else "")
            )
            octets = max(60, 14 + tag + 28 + size)
            after = [now - was for now, was in zip(counted(guest), before, strict=True)]
            assert after[2:] == [1, octets], (host, size)
            assert after == [now - was for now, was in zip(on_the_wire(guest), wire, strict=True)]
            if not tag:
                assert after[:2] == after[2:]
    assert complaints(guest) == []


@pytest.mark.parametrize("mtu", [68, 1492, 1500])
def test_receives_standard_frames_with_any_mtu(guest, tmp_path, mtu):
    """The MTU limits sent frames only. Frames of 1500 octets, with a tag or without, are received with
    any MTU."""
    guest.check(f"ip link set eth0 mtu {mtu}; ethtool -K eth0 rx-vlan-filter off 2>/dev/null || :")
    head = Ether(dst=GUEST, src=TESTER)
    packet = IP(src="198.18.0.2", dst="198.18.0.1") / UDP(sport=1, dport=9) / Raw(bytes(1472))
    frames = [head / packet, head / Dot1Q(vlan=7) / packet]
    wrpcap(str(tmp_path / "in.pcap"), 5 * frames)
    before = counted(guest)
    guest.call(
        "replay",
        **{"in": [str(tmp_path / "in.pcap"), None]},
        out=[str(tmp_path / "0.pcap"), str(tmp_path / "1.pcap")],
        quiet_cycles=8_000_000,
        max_cycles=100_000_000,
    )
    assert [now - was for now, was in zip(counted(guest)[:2], before)] == [10, 5 * (1514 + 1518)]
    assert int(guest.check("cat /sys/class/net/eth0/statistics/rx_length_errors")) == 0
    assert complaints(guest) == []
