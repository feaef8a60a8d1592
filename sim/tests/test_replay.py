# SPDX-License-Identifier: BSD-2-Clause
"""Captures for replay: which are refused, and which frames count as forwarded, by scapy."""

import struct

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw
from scapy.utils import PcapNgWriter, PcapWriter, RawPcapWriter

from moderato.sim.lab import cli
from moderato.sim.lab.measure import pcap, replay, router
from moderato.sim.lab.show.errors import LabError

GUEST = "02:4d:6f:64:00:00"
TESTER = "02:54:73:74:00:00"


def datagram(ttl=64, payload=b"x" * 50, **ip) -> Ether:
    return (Ether(src=TESTER, dst=GUEST) / IP(src="198.18.0.2", dst="198.19.0.2", ttl=ttl, **ip)
            / UDP(sport=1000, dport=2000) / Raw(payload))


def routed(frame: Ether) -> Ether:
    """What scapy thinks that a router makes of it."""
    out = Ether(bytes(frame))
    out.src, out.dst = "02:4d:6f:64:00:01", "02:54:73:74:00:01"
    out[IP].ttl -= 1
    del out[IP].chksum
    return Ether(bytes(out))


# Captures -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("nano, endianness", [(False, "<"), (False, ">"), (True, "<"), (True, ">")])
def test_reads_what_scapy_writes(tmp_path, nano, endianness):
    file = tmp_path / "a.pcap"
    frames = [datagram(payload=bytes(range(size))) for size in (1, 46, 200)]
    with PcapWriter(str(file), nano=nano, endianness=endianness) as writer:
        for number, frame in enumerate(frames):
            frame.time = 1.5 + number
            writer.write(frame)
    assert pcap.read(file) == [(1_500_000_000 + number * 1_000_000_000, bytes(frame))
                               for number, frame in enumerate(frames)]


@pytest.mark.parametrize("cut, says", [
    (0, "not a pcap file"), (23, "not a pcap file"), (24 + 15, "truncated"),
    (24 + 16 + 91, "truncated")])
def test_truncated_capture(tmp_path, capsys, cut, says):
    file = tmp_path / "a.pcap"
    with PcapWriter(str(file)) as writer:
        writer.write(datagram())
    file.write_bytes(file.read_bytes()[:cut])
    before = sorted(tmp_path.iterdir())
    status = cli.main(["replay", "--variant", "napi", "--in0", str(file),
                       "--out0", str(tmp_path / "0"), "--out1", str(tmp_path / "1")])
    error = capsys.readouterr().err
    assert status == 1 and says in error and str(file) in error and len(error.splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == before


def test_other_formats(tmp_path):
    file = tmp_path / "a.pcapng"
    with PcapNgWriter(str(file)) as writer:
        writer.write(datagram())
    with pytest.raises(LabError, match="editcap"):
        pcap.read(file)
    with RawPcapWriter(str(file), linktype=101) as writer:
        writer.write(b"x" * 60)
    with pytest.raises(LabError, match="not Ethernet"):
        pcap.read(file)
    with RawPcapWriter(str(file), linktype=1) as writer:
        writer.write_header(None)
        writer.write_packet(b"x" * 60, wirelen=100)
    with pytest.raises(LabError, match="only the first 60 of 100 octets"):
        pcap.read(file)


def test_span():
    assert replay.span([[], []]) == 0
    assert replay.span([[(5, b""), (30, b"")], [(2, b"")]]) == 28


# Forwarded frames ---------------------------------------------------------------------------------

def test_recognises_forwarded_frames():
    frames = [datagram(), datagram(), datagram(id=77), datagram(ttl=2), datagram(payload=b"y")]
    left = [bytes(routed(frame)) for frame in frames]
    left[-1] = left[-1].ljust(60, b"\0")  # the MAC pads short frames
    assert router.forwarded(map(bytes, frames), left) == left
    twice = left[:3] + left[:1]
    assert router.forwarded(map(bytes, frames), twice) == left[:3]


@pytest.mark.parametrize("harm", [
    lambda frame: frame[:30] + b"\xff" + frame[31:],   # destination address
    lambda frame: frame[:-1] + b"\xff",                # payload
    lambda frame: frame[:24] + b"\0\0" + frame[26:],   # header checksum
    lambda frame: frame[:-10],                         # too short
    lambda frame: bytes(datagram()),                   # TTL as before
])
def test_harmed_frames_do_not_count(harm):
    assert router.forwarded([bytes(datagram())], [harm(bytes(routed(datagram())))]) == []


@pytest.mark.parametrize("frame", [
    datagram(ttl=1), datagram(chksum=0x1234), datagram(version=6), datagram(len=2000),
    Ether() / ARP(), Ether() / Raw(b"short"),
])
def test_frames_that_no_router_forwards(frame):
    assert router.packet(bytes(frame), hops=1) is None


def test_replies_of_the_router_do_not_count():
    late = datagram(ttl=1)
    answer = (Ether() / IP(src="198.18.0.1", dst="198.18.0.2") / ICMP(type=11)
              / Raw(bytes(late[IP])[:28]))
    assert router.forwarded([bytes(late)], [bytes(answer)]) == []


def test_checksum_of_all_ones_or_zeros():
    """RFC 1624: a header sum of 0xffff can be written as 0x0000 and the reverse; both hold."""
    header = bytearray(bytes(datagram()[IP])[:20])
    header[10:12] = b"\0\0"
    total = sum(struct.unpack(">10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    identification, = struct.unpack_from(">H", header, 4)
    header[4:6] = struct.pack(">H", (identification + 0xFFFF - total) % 0xFFFF)
    assert router.checksum_holds(bytes(header[:10]) + b"\0\0" + bytes(header[12:]))
    assert router.checksum_holds(bytes(header[:10]) + b"\xff\xff" + bytes(header[12:]))
