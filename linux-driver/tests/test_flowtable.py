# SPDX-License-Identifier: BSD-2-Clause
"""Linux' flow table in the simulated SoC forwards a flow's frames past the stack, as the stack would.
The stack gets all other frames, and every frame after the rules are removed.
"""

import pytest
from guests import collect, complaints, offer, replay
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.soc.linux import kernel

PORTS = "eth0 eth1"
GUEST, TESTER = "02:4d:6f:64:00:0{}", "02:54:73:74:00:0{}"
HOST = "198.1{}.0.2"  # at port 0 is 198.18.0.2
SYN, SYN_ACK, ACK, FIN_ACK = "S", "SA", "A", "FA"


@pytest.fixture
def guest():
    m = machine(system=System(kernel=kernel.Choice(kernel.XDP)))
    with state.loaded(m, True).open() as session:
        yield session


def forwarded(guest) -> int:
    """Packets that the stack has forwarded."""
    names, values = guest.check("grep ^Ip: /proc/net/snmp").splitlines()
    return int(dict(zip(names.split(), values.split(), strict=True))["ForwDatagrams"])


def offloaded(guest) -> list[str]:
    """The connections with flows, as Linux lists them."""
    return [
        line for line in guest.check("cat /proc/net/nf_conntrack").splitlines() if "[OFFLOAD]" in line
    ]


def packet(payload, port: int = 0, octets: bytes = b"", **fields) -> Ether:
    """A datagram from the host at a port to the other host."""
    fields = {"src": HOST.format(8 + port), "dst": HOST.format(9 - port), "ttl": 9} | fields
    return Ether(dst=GUEST.format(port), src=TESTER.format(port)) / IP(**fields) / payload / Raw(octets)


def test_flow_bypasses_stack(guest):
    """Flows bypass the stack until the rules are removed, which loses no frame."""
    guest.check(f"flowtable {PORTS}")
    assert offloaded(guest) == []
    before = forwarded(guest)
    offer(guest, 100)
    assert [port["lost"] for port in collect(guest)] == [0, 0]
    by_the_stack = forwarded(guest) - before
    assert 2 <= by_the_stack <= 8  # the first ones of each flow
    assert offloaded(guest) and all(" udp " in line for line in offloaded(guest))

    offer(guest, 100)
    guest.check("flowtable --off")
    assert [port["lost"] for port in collect(guest)] == [0, 0]
    assert forwarded(guest) - before > by_the_stack
    before = forwarded(guest)
    offer(guest, 40)
    assert [port["lost"] for port in collect(guest)] == [0, 0]
    assert forwarded(guest) - before == 80
    assert offloaded(guest) == []

    guest.check(f"flowtable --off; flowtable {PORTS}")
    before = forwarded(guest)
    offer(guest, 40)
    assert [port["lost"] for port in collect(guest)] == [0, 0]
    assert forwarded(guest) - before <= 8
    assert complaints(guest) == []


def test_frames_equal_those_of_the_stack(guest, tmp_path):
    """Each octet of a flow's frames, and of frames among them that the flow table does not forward."""

    def datagram(octets: bytes = b"octets", **fields) -> Ether:
        return packet(UDP(sport=7, dport=9), octets=octets, **fields)

    plain = [datagram(bytes(size)) for size in (0, 18, 19, 100, 1472)]
    others = [
        datagram(ttl=1),
        datagram(options=[b"\x01\x01\x01\x00"]),
        packet(ICMP(type=8)),
        datagram(dst="198.18.0.1"),
        datagram(dst="203.0.113.1"),
    ]
    frames = [*plain, *others, *plain]
    guest.check("echo 0 > /proc/sys/net/ipv4/icmp_ratelimit")
    without = replay(guest, tmp_path, frames)
    guest.check(f"flowtable {PORTS}")
    for _ in range(2):  # not in one poll, which passes all its frames through the table before the stack
        assert len(offloaded(guest)) == 0
        replay(guest, tmp_path, [datagram()])
    assert len(offloaded(guest)) == 1
    before = forwarded(guest)
    withal = replay(guest, tmp_path, frames)
    assert 1 <= forwarded(guest) - before <= len(others)

    def of_hosts(left: list[bytes]) -> list[bytes]:
        return [frame for frame in left if frame[30:34] == bytes([198, 19, 0, 2])]

    # In one poll, the flow table's frames leave before the stack's.
    assert sorted(of_hosts(withal[1])) == sorted(of_hosts(without[1])) and of_hosts(without[1])
    kinds = [
        sorted(
            (Ether(frame)[ICMP].type, Ether(frame)[ICMP].code)
            for frame in left[0]
            if ICMP in Ether(frame)
        )
        for left in (without, withal)
    ]
    assert kinds[0] == kinds[1] and kinds[0]
    assert complaints(guest) == []


def test_a_connection(guest, tmp_path):
    """TCP: the stack forwards a connection's begin and end, the flow table all other segments, both
    ways."""

    def segment(flags: str, port: int = 0, octets: bytes = b"") -> Ether:
        ports = {"sport": 4000, "dport": 80} if port == 0 else {"sport": 80, "dport": 4000}
        position = {SYN: (1, 0), SYN_ACK: (1, 2)}.get(flags, (2, 2))
        return packet(TCP(flags=flags, seq=position[0], ack=position[1], **ports), port, octets)

    def by_the_stack(flags: str, port: int = 0, octets: bytes = b"", times: int = 1) -> int:
        before = forwarded(guest)
        sent = [segment(flags, port, octets)] * times
        left = replay(guest, tmp_path, sent, port)[1 - port]
        assert len([frame for frame in left if TCP in Ether(frame)]) == times
        return forwarded(guest) - before

    guest.check(f"flowtable {PORTS}")
    assert by_the_stack(SYN) == by_the_stack(SYN_ACK, port=1) == 1
    assert offloaded(guest) == []
    assert by_the_stack(ACK) == 1
    assert len(offloaded(guest)) == 1
    assert by_the_stack(ACK, octets=b"there", times=5) == 0
    assert by_the_stack(ACK, port=1, octets=b"and back", times=5) == 0
    assert by_the_stack(FIN_ACK) == 1
    assert offloaded(guest) == []
    assert complaints(guest) == []


def test_rejects_unsupported_rules(guest):
    """The command prints a reason, and nothing changes."""

    def rejection(words: str) -> str:
        status, said = guest.type(f"flowtable {words} 2>&1")
        assert status != 0, words
        return said

    assert "usage: flowtable" in rejection("") and "usage: flowtable" in rejection("--on eth0")
    assert "usage: flowtable" in rejection("--off eth0") and "usage: flowtable" in rejection("--offload")
    assert "eth7: there is no such interface" in rejection("eth0 eth7")
    assert ": File exists; an interface is named twice" in rejection("eth0 eth0")
    assert "ethtool -K INTERFACE hw-tc-offload on, or leave" in rejection(f"--offload {PORTS}")
    assert "eth7: there is no such interface" in rejection(f"--masquerade eth7 {PORTS}")
    assert "usage: flowtable" in rejection("--masquerade eth1") and "usage: flowtable" in rejection(
        "--off --masquerade eth1"
    )
    assert (
        "No such file or directory; this kernel translates "
        "no addresses; --kernel router does" in rejection(f"--masquerade eth1 {PORTS}")
    )
    guest.check(f"flowtable {PORTS}; flowtable {PORTS}")  # the second table replaces the first
    offer(guest, 50)
    assert [port["lost"] for port in collect(guest)] == [0, 0]
    assert offloaded(guest)
