# SPDX-License-Identifier: BSD-2-Clause
"""Captures rewritten with the bench's addresses; scapy checks every checksum."""

import struct
import zlib

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_Timestamp, fragment
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

from moderato.sim.lab.captures import pcap
from moderato.sim.lab.captures.rewrite import rewrite

HERE, THERE = "192.0.2.1", "203.0.113.5"
ROUTER = ["02:4d:6f:64:00:00", "02:4d:6f:64:00:01"]
TESTER = ["02:54:73:74:00:00", "02:54:73:74:00:01"]
ADDRESS = ["198.18.0.2", "198.19.0.2"]


def ether() -> Ether:
    return Ether(src="00:11:22:33:44:55", dst="66:77:88:99:aa:bb")


def frame(what, source=HERE, destination=THERE, tag=None, **ip) -> bytes:
    head = ether() if tag is None else ether() / tag
    return bytes(head / IP(src=source, dst=destination, **ip) / what)


def captured(*frames: bytes) -> list[pcap.Frame]:
    return [pcap.Frame(number, octets) for number, octets in enumerate(frames)]


def mapped(*frames: bytes) -> list[bytes]:
    """Frames of the first station, as they enter at port 0."""
    return [each.octets for each in rewrite([captured(*frames), []]).entered[0]]


def expected(octets: bytes) -> Ether:
    """scapy's version: the frame with other addresses and recalculated checksums."""
    packet = Ether(octets)
    packet.src, packet.dst = TESTER[0], ROUTER[0]
    packet[IP].src, packet[IP].dst = ADDRESS
    for layer in (IP, UDP, TCP):
        if layer in packet:
            del packet[layer].chksum
    return packet


@pytest.mark.parametrize(
    "octets",
    [
        frame(UDP(sport=1, dport=2) / Raw(b"odd")),
        frame(UDP(sport=1, dport=2) / Raw(b"even")),
        frame(TCP(sport=1, dport=2, flags="S", options=[("MSS", 1460)])),
        frame(ICMP() / Raw(b"ping")),
        frame(TCP() / Raw(b"x" * 1400), tos=0xB8, flags="DF", ttl=3),
        frame(UDP() / Raw(b"x"), options=[IPOption_Timestamp(length=8, pointer=9)]),
        frame(UDP() / Raw(b"x"), tag=Dot1Q(vlan=0, prio=5)),
        frame(Raw(b"any"), proto=47),
        frame(UDP() / Raw(b"x")) + bytes(9),  # padded
    ],
)
def test_addresses_and_sums(octets):
    assert mapped(octets) == [bytes(expected(octets))]


def test_checksums_for_any_addresses():
    """RFC 1624: also if a checksum is all zeros or all ones."""
    for last in range(0, 65536, 257):
        octets = frame(UDP(sport=last, dport=1) / Raw(struct.pack(">H", last)), id=last)
        assert mapped(octets) == [bytes(expected(octets))]


def test_udp_without_a_checksum():
    """RFC 768: a missing checksum stays missing, and a calculated zero is sent as ones."""
    octets = frame(UDP(chksum=0) / Raw(b"x"))
    assert Ether(mapped(octets)[0])[UDP].chksum == 0
    rest = Ether(mapped(frame(UDP(sport=0, dport=1)))[0])[UDP].chksum
    assert Ether(mapped(frame(UDP(sport=rest, dport=1)))[0])[UDP].chksum == 0xFFFF


def test_wrong_checksums_stay_wrong_by_the_same_difference():
    """Of a host that leaves checksums to its NIC, and of a damaged packet."""
    for octets in (frame(TCP(chksum=0x1234)), frame(UDP(chksum=0x1234)), frame(TCP(), chksum=0x1234)):
        good, made = expected(octets), Ether(mapped(octets)[0])
        for layer in (IP, UDP, TCP):
            if layer in made:
                right = Ether(bytes(good))[layer].chksum
                before = Ether(without(octets))[layer].chksum
                off = (Ether(octets)[layer].chksum - before) % 0xFFFF
                assert (made[layer].chksum - right) % 0xFFFF == off


def without(octets: bytes) -> bytes:
    """The frame with valid checksums."""
    packet = Ether(octets)
    for layer in (IP, UDP, TCP):
        if layer in packet:
            del packet[layer].chksum
    return bytes(packet)


def test_fragments():
    """The first fragment has the checksum of all, which is valid after reassembly."""
    whole = ether() / IP(src=HERE, dst=THERE, id=7) / UDP(sport=1, dport=2) / Raw(bytes(range(256)) * 4)
    parts = mapped(*map(bytes, fragment(whole, fragsize=256)))
    together = b"".join(bytes(Ether(part)[IP].payload) for part in parts)
    assert len(parts) == 5
    right = expected(bytes(whole))
    assert together == bytes(Ether(bytes(right))[UDP])
    for part in parts:
        assert Ether(without(part))[IP].chksum == Ether(part)[IP].chksum


@pytest.mark.parametrize("fcs", ["right", "wrong"])
def test_a_captured_fcs(fcs):
    octets = frame(UDP() / Raw(b"x" * 40))
    damage = 0 if fcs == "right" else 0x1234
    made = rewrite([[pcap.Frame(0, octets, struct.pack("<I", zlib.crc32(octets) ^ damage))], []])
    (found,) = made.entered[0]
    assert struct.unpack("<I", found.fcs)[0] == zlib.crc32(found.octets) ^ damage


# Which end enters where ---------------------------------------------------------------------------

PING, PONG = frame(UDP(sport=1)), frame(UDP(sport=2), THERE, HERE)


def test_each_end_enters_at_its_own_port():
    made = rewrite([captured(PING, PONG, PONG, PING), []])
    assert made.ends == (HERE, THERE)
    assert [[each.nanoseconds for each in port] for port in made.entered] == [[0, 3], [1, 2]]
    back = Ether(made.entered[1][0].octets)
    assert (back.src, back.dst) == (TESTER[1], ROUTER[1])
    assert [back[IP].src, back[IP].dst] == ADDRESS[::-1]
    assert bytes(back) == without(bytes(back))


def test_the_station_that_begins_is_at_port_0():
    assert rewrite([captured(PONG, PING, PING), []]).ends == (THERE, HERE)


def test_two_captures_have_a_station_each():
    """Each is captured at one side of a device, and also contains the other station's frames."""
    made = rewrite([captured(PONG, PING, PING), captured(PONG, PONG, PING)])
    assert made.ends == (HERE, THERE)
    assert [len(port) for port in made.entered] == [2, 2]
    assert made.left_out == {"that enter at port 1": 1, "that enter at port 0": 1}


def test_frames_that_cannot_be_mapped_are_named():
    others = frame(UDP(), "192.0.2.9", "192.0.2.7")
    made = rewrite(
        [
            captured(
                PING,
                PING,
                others,
                frame(UDP(), HERE, "239.1.2.3"),
                frame(UDP(), HERE, "255.255.255.255"),
                frame(UDP(), tag=Dot1Q(vlan=7)),
                bytes(ether() / ARP()),
                bytes(ether() / IPv6()),
                bytes(Ether(type=0x88CC) / Raw(b"lldp")),
                b"\1" * 12 + b"\0\3" + b"llc",
                PING[:30],
                bytes(ether() / Dot1Q(vlan=0) / ARP()),
            ),
            [],
        ]
    )
    assert len(made.entered[0]) == 2
    assert made.left_out == {
        "IPv4 between 192.0.2.7 and 192.0.2.9": 1,
        "IPv4 to no station": 2,
        "of VLAN 7": 1,
        "ARP": 1,
        "IPv6": 1,
        "of EtherType 0x88cc": 1,
        "IEEE 802.2": 1,
        "IPv4 with a damaged header": 1,
        "with a priority tag, no IPv4": 1,
    }


def test_icmp_errors_are_counted():
    """They quote the header of the packet that failed."""
    quote = Raw(bytes(IP(src=THERE, dst=HERE) / UDP()))
    made = rewrite([captured(frame(ICMP(type=3) / quote), frame(ICMP(type=8) / quote)), []])
    assert made.quoting == 1 and len(made.entered[0]) == 2


@pytest.mark.parametrize(
    "frames", [[], [bytes(ether() / ARP())], [frame(UDP(), HERE, HERE)], [frame(UDP(), "0.0.0.0", HERE)]]
)
def test_no_stations_to_map(frames):
    assert rewrite([captured(*frames), []]) is None
