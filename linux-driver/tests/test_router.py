# SPDX-License-Identifier: BSD-2-Clause
"""A home router on the simulated SoC. The MACs forward flows whose addresses Linux translates, and scapy
computes the expected frames. Flows of bridge ports stay in software. So do flows of VLAN interfaces,
except with MACs that have the option `vlan`.
"""

import pytest
from guests import collect, complaints, offer, replay, statistics
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import KERNELS, around, machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import FLOWS
from moderato.sim.sim_soc import SimConfig, soc_verilog
from moderato.soc.linux import kernel

pytestmark = pytest.mark.slow

GUEST, TESTER = "02:4d:6f:64:00:0{}", "02:54:73:74:00:0{}"
# The tester's, at eth0 and eth1. INSIDE and OWN have different sums; .2 would have OWN's.
INSIDE, OUTSIDE = "198.18.0.5", "198.19.0.2"
OWN, OWN_INSIDE = "198.19.0.1", "198.18.0.1"  # the guest's, at eth1 and eth0
PORT, SERVER = 7, 9
LENGTHS = (0, 1, 18, 19, 100, 1459, 1460)
ROUTER = System(nic=FLOWS, kernel=kernel.Choice("router"))


@pytest.fixture
def guest():
    m = machine(system=ROUTER)
    with state.loaded(m, True).open() as session:
        session.check(f"ip neigh replace {INSIDE} lladdr {TESTER.format(0)} nud permanent dev eth0")
        yield session
        assert complaints(session) == []


def entries(guest) -> list[int]:
    return [statistics(guest, port)["flow_entries"] for port in ("eth0", "eth1")]


def by_hardware(guest) -> list[int]:
    """The frames that the hardware has forwarded, by the port that received them."""
    return [statistics(guest, port)["rx_flow_frames"] for port in ("eth0", "eth1")]


def arrives(packet, port: int) -> Ether:
    return Ether(dst=GUEST.format(port), src=TESTER.format(port)) / packet


def leaves(packet, port: int) -> bytes:
    """The packet with all checksums, except one that UDP omits, padded to Ethernet's minimum."""
    frame = Ether(dst=TESTER.format(port), src=GUEST.format(port)) / packet
    return bytes(frame).ljust(60, b"\0")


def out(transport, octets: bytes = b"", ttl: int = 9, source: str = INSIDE):
    """A packet from inside; translated, it has the guest's own address and a TTL one lower."""
    return IP(src=source, dst=OUTSIDE, ttl=ttl) / transport / Raw(octets)


def back(transport, octets: bytes = b"", ttl: int = 9, to: str = OWN):
    return IP(src=OUTSIDE, dst=to, ttl=ttl) / transport / Raw(octets)


def payloads() -> list[bytes]:
    return [bytes([length % 251] * length) for length in LENGTHS]


def both_ways(guest, tmp_path, going, coming):
    """Check that the hardware forwards all of these frames of one flow, translated."""
    before = by_hardware(guest)
    sent = replay(guest, tmp_path, [arrives(out(going, each), 0) for each in payloads()])
    assert sent[1] == [leaves(out(going, each, 8, OWN), 1) for each in payloads()]
    sent = replay(guest, tmp_path, [arrives(back(coming, each), 1) for each in payloads()], port=1)
    assert sent[0] == [leaves(back(coming, each, 8, INSIDE), 0) for each in payloads()]
    assert [now - then for now, then in zip(by_hardware(guest), before, strict=True)] == 2 * [
        len(LENGTHS)
    ]


@pytest.mark.parametrize("sums", [{}, {"chksum": 0}], ids=["checksums", "without"])
def test_datagrams_from_inside(guest, tmp_path, sums):
    """Software translates the first frames, with the same result."""
    going, coming = UDP(sport=PORT, dport=SERVER, **sums), UDP(sport=SERVER, dport=PORT, **sums)
    guest.check("flowtable --offload --masquerade eth1 eth0 eth1")
    for _ in range(2):
        first = replay(guest, tmp_path, [arrives(out(going, b"first"), 0)])
        assert first[1] == [leaves(out(going, b"first", 8, OWN), 1)]
    assert entries(guest) == [1, 1]
    both_ways(guest, tmp_path, going, coming)


def test_a_connection_from_inside(guest, tmp_path):
    def going(flags, seq=1000, ack=0):
        return TCP(sport=PORT, dport=SERVER, flags=flags, seq=seq, ack=ack)

    def coming(flags, seq=2000, ack=1001):
        return TCP(sport=SERVER, dport=PORT, flags=flags, seq=seq, ack=ack)

    guest.check("flowtable --offload --masquerade eth1 eth0 eth1")
    sent = replay(guest, tmp_path, [arrives(out(going("S")), 0)])
    assert sent[1] == [leaves(out(going("S"), ttl=8, source=OWN), 1)]
    sent = replay(guest, tmp_path, [arrives(back(coming("SA")), 1)], port=1)
    assert sent[0] == [leaves(back(coming("SA"), ttl=8, to=INSIDE), 0)]
    for _ in range(2):
        replay(guest, tmp_path, [arrives(out(going("A", 1001, 2001)), 0)])
    assert entries(guest) == [1, 1]
    both_ways(guest, tmp_path, going("PA", 1001, 2001), coming("PA", 2001, 1001))
    before = by_hardware(guest)
    sent = replay(guest, tmp_path, [arrives(out(going("R", 1001)), 0)])
    assert sent[1] == [leaves(out(going("R", 1001), ttl=8, source=OWN), 1)]
    assert by_hardware(guest) == before  # software has to see the end of the connection


def test_drops_unsolicited_packets(guest, tmp_path):
    """Unsolicited packets are for the guest itself, which has no listener. None goes inside."""
    guest.check("flowtable --offload --masquerade eth1 eth0 eth1")
    stranger = back(UDP(sport=SERVER, dport=PORT), b"stranger")
    sent = replay(guest, tmp_path, [arrives(stranger, 1)] * 3, port=1)
    assert sent[0] == [] and entries(guest) == [0, 0]
    guest.check("flowtable --off; flowtable --offload eth0 eth1")
    offer(guest, 20)
    collect(guest)
    assert entries(guest) == [2, 2]  # nothing is translated any more


def test_vlan_interfaces_stay_in_software(guest, tmp_path):
    guest.check(
        "ip link add link eth1 name eth1.20 type vlan id 20; ip addr flush dev eth1; "
        f"ip addr add {OWN}/24 dev eth1.20; ip link set eth1.20 up; "
        f"ip neigh replace {OUTSIDE} lladdr {TESTER.format(1)} dev eth1.20"
    )
    guest.check("flowtable --offload eth0 eth1")
    datagram = UDP(sport=PORT, dport=SERVER)
    expected = (
        Ether(dst=TESTER.format(1), src=GUEST.format(1)) / Dot1Q(vlan=20) / out(datagram, b"tagged", 8)
    )
    for _ in range(4):
        sent = replay(guest, tmp_path, [arrives(out(datagram, b"tagged"), 0)])
        assert [frame[: len(expected)] for frame in sent[1]] == [bytes(expected)]
    assert entries(guest) == [0, 0] and by_hardware(guest) == [0, 0]


def test_bridged_flows_stay_in_software(guest, tmp_path):
    """Flows whose frames arrive at the bridge, and flows whose frames leave by it."""

    def of_eth0(words: str, by: str) -> str:
        return (
            f"ip addr flush dev {by}; {words}; ip addr add {OWN_INSIDE}/24 dev {{to}}; "
            f"ip neigh replace {INSIDE} lladdr {TESTER.format(0)} nud permanent dev {{to}}"
        )

    going, coming = UDP(sport=PORT, dport=SERVER), UDP(sport=SERVER, dport=PORT)

    def forwarded():
        """Two packets each way. Linux then knows the flow, and offers it to the hardware."""
        for _ in range(2):
            sent = replay(guest, tmp_path, [arrives(out(going), 0)])
            assert sent[1] == [leaves(out(going, ttl=8), 1)]
            sent = replay(guest, tmp_path, [arrives(back(coming, to=INSIDE), 1)], port=1)
            assert sent[0] == [leaves(back(coming, ttl=8, to=INSIDE), 0)]
        return entries(guest)

    guest.check("flowtable --offload eth0 eth1")
    assert forwarded() == [1, 1]
    guest.check("ip link add br0 type bridge; ip link set br0 up")
    guest.check(of_eth0("ip link set eth0 master br0", "eth0").format(to="br0"))
    assert entries(guest) == [0, 0]
    before = by_hardware(guest)
    for _ in range(2):
        assert forwarded() == [0, 0]
    assert by_hardware(guest) == before
    guest.check(of_eth0("ip link del br0", "br0").format(to="eth0"))
    guest.check("flowtable --off; flowtable --offload eth0 eth1")
    forwarded()
    assert forwarded() == [1, 1]


@pytest.fixture
def guest_with_tags():
    """The same router, with MACs that have all options."""
    config = SimConfig(offloads=True, flows=True, ram_bytes=KERNELS["router"].ram_bytes)
    with state.loaded(around(soc_verilog(config), system=ROUTER), True).open() as session:
        yield session
        assert complaints(session) == []


def add_vlan(guest, below: str):
    """Let VLAN 5 of an interface replace eth0 as the way to INSIDE."""
    guest.check(
        f"ip addr flush dev eth0; ip link add link {below} name {below}.5 type vlan id 5; "
        f"ip link set {below}.5 up; ip addr add {OWN_INSIDE}/24 dev {below}.5; "
        f"ip neigh replace {INSIDE} lladdr {TESTER.format(0)} nud permanent dev {below}.5; "
        "flowtable --offload eth0 eth1"
    )


def tagged_both_ways(guest, tmp_path):
    """Check that a datagram each way of one flow leaves, with a tag at eth0 only."""
    going, coming = UDP(sport=PORT, dport=SERVER), UDP(sport=SERVER, dport=PORT)
    arriving = Ether(dst=GUEST.format(0), src=TESTER.format(0)) / Dot1Q(vlan=5) / out(going)
    assert replay(guest, tmp_path, [arriving])[1] == [leaves(out(going, ttl=8), 1)]
    sent = replay(guest, tmp_path, [arrives(back(coming, to=INSIDE), 1)], port=1)
    answer = back(coming, ttl=8, to=INSIDE)
    expected = bytes(Ether(dst=TESTER.format(0), src=GUEST.format(0)) / Dot1Q(vlan=5) / answer)
    assert [frame[: len(expected)] for frame in sent[0]] == [expected]


def test_vlan_flows_enter_hardware_with_tags(guest_with_tags, tmp_path):
    add_vlan(guest_with_tags, "eth0")
    for _ in range(2):
        tagged_both_ways(guest_with_tags, tmp_path)
    assert entries(guest_with_tags) == [1, 1]
    before = by_hardware(guest_with_tags)
    tagged_both_ways(guest_with_tags, tmp_path)
    assert by_hardware(guest_with_tags) == [frames + 1 for frames in before]
    guest_with_tags.check("ip link set eth0.5 down")
    assert entries(guest_with_tags) == [0, 0]


def test_flows_of_a_vlan_on_a_bridge_stay_in_software(guest_with_tags, tmp_path):
    """Linux offers them as flows of the bridge's port, which has no such VLAN interface."""
    guest_with_tags.check("ip link add br0 type bridge; ip link set br0 up; ip link set eth0 master br0")
    add_vlan(guest_with_tags, "br0")
    for _ in range(3):
        tagged_both_ways(guest_with_tags, tmp_path)
    assert entries(guest_with_tags) == [0, 0] and by_hardware(guest_with_tags) == [0, 0]
