# SPDX-License-Identifier: BSD-2-Clause
"""Replay: scapy decides which frames count as forwarded; messages explain the others."""

import os
import struct

import pytest
from scapy.layers.inet import ICMP, IP, UDP, IPOption_RR
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Raw

from moderato.sim.lab import cli
from moderato.sim.lab.captures import pcap, router
from moderato.sim.lab.measure import replay
from moderato.sim.lab.run.session import Session

GUEST = "02:4d:6f:64:00:00"
TESTER = "02:54:73:74:00:00"


def datagram(ttl=64, payload=b"x" * 50, **ip) -> Ether:
    return (
        Ether(src=TESTER, dst=GUEST)
        / IP(src="198.18.0.2", dst="198.19.0.2", ttl=ttl, **ip)
        / UDP(sport=1000, dport=2000)
        / Raw(payload)
    )


def routed(frame: Ether) -> Ether:
    """The frame after a router, by scapy."""
    out = Ether(bytes(frame))
    out.src, out.dst = "02:4d:6f:64:00:01", "02:54:73:74:00:01"
    out[IP].ttl -= 1
    del out[IP].chksum
    return Ether(bytes(out))


SLOT = 8 * (8 + 64 + 12) * 10  # ns, of a shortest frame at 100 Mb/s


def short(*times) -> list[pcap.Frame]:
    return [pcap.Frame(nanoseconds, b"") for nanoseconds in times]


@pytest.mark.parametrize(
    "ports, nanoseconds",
    [
        ([[], []], 0),
        ([short(5), []], SLOT),
        ([short(5, 100_005), short(2)], 100_003 + SLOT),  # as captured
        ([short(5, 30, 40), short(2)], 3 + 3 * SLOT),  # the line takes one frame after the other
        ([short(0, 10**9, *[10**9 + 1] * 9)], 10**9 + 10 * SLOT),
        (
            [[], [pcap.Frame(0, bytes(1000)), pcap.Frame(1, bytes(64), b"fcs_")]],
            8 * (20 + 1004 + 20 + 68) * 10,
        ),
    ],
)
def test_length_of_a_replay(ports, nanoseconds):
    assert replay.length(ports) == nanoseconds


# Forwarded frames ---------------------------------------------------------------------------------


def forwarded(entered, left) -> list[bytes]:
    """The frames that entered port 0 and left port 1."""
    (found,) = router.forwarded([(0, [*map(bytes, entered)])], [[], left])
    return found


def test_each_frame_has_one_source():
    """A frame of another port counts before one of the port where it left; each source counts once."""
    frame, left = bytes(datagram()), bytes(routed(datagram()))
    both = [(0, [frame]), (1, [frame]), (0, [frame])]
    counts = [
        [len(found) for found in router.forwarded(both, [[], [left] * times])] for times in range(5)
    ]
    assert counts == [[0, 0, 0], [1, 0, 0], [1, 0, 1], [1, 1, 1], [1, 1, 1]]
    assert router.forwarded([(1, [frame])], [[], [left]]) == [[left]]  # it left where it had entered


def test_recognises_forwarded_frames():
    frames = [datagram(), datagram(), datagram(id=77), datagram(ttl=2), datagram(payload=b"y")]
    left = [bytes(routed(frame)) for frame in frames]
    left[-1] = left[-1].ljust(60, b"\0")  # the MAC pads short frames
    assert forwarded(frames, left) == left
    twice = left[:3] + left[:1]
    assert forwarded(frames, twice) == left[:3]


@pytest.mark.parametrize(
    "tags",
    [
        [Dot1Q(vlan=0, prio=7)],
        [Dot1AD(vlan=0)],
        [Dot1Q(vlan=0), Dot1Q(vlan=0, prio=1)],
        [Dot1AD(vlan=0, prio=2), Dot1Q(vlan=0)],
    ],
)
def test_tags_without_a_vlan_are_taken_off(tags):
    """Linux removes IEEE 802.1Q's priority tags, and forwards the frames."""
    left = bytes(routed(datagram()))
    assert forwarded([tagged(*tags)], [left]) == [left]


@pytest.mark.parametrize(
    "tags",
    [
        [Dot1Q(vlan=1)],
        [Dot1AD(vlan=4095)],
        [Dot1Q(vlan=0), Dot1Q(vlan=5)],
        [Dot1AD(vlan=5), Dot1Q(vlan=0)],
    ],
)
def test_frames_of_a_vlan_have_no_source(tags):
    assert router.packet(tagged(*tags), hops=1) is None


def test_a_frame_that_ends_in_its_tag():
    for size in range(14, 40):
        assert router.packet(tagged(Dot1Q(vlan=0), Dot1Q(vlan=0))[:size], hops=1) is None


def tagged(*tags) -> bytes:
    frame = datagram()
    head, packet = Ether(src=frame.src, dst=frame.dst), frame[IP]
    for tag in tags:
        head /= tag
    return bytes(head / packet)


def test_a_router_changes_options():
    """Record route: a router writes its own address (RFC 791)."""
    asked = datagram(options=[IPOption_RR(routers=["0.0.0.0"], pointer=4)])
    answer = routed(asked)
    answer[IP].options[0].routers, answer[IP].options[0].pointer = ["198.19.0.1"], 8
    del answer[IP].chksum
    left = bytes(answer)
    assert forwarded([asked], [left]) == [left]


@pytest.mark.parametrize(
    "harm",
    [
        lambda frame: frame[:30] + b"\xff" + frame[31:],  # destination address
        lambda frame: frame[:-1] + b"\xff",  # payload
        lambda frame: frame[:24] + b"\0\0" + frame[26:],  # header checksum
        lambda frame: frame[:-10],  # too short
        lambda frame: bytes(datagram()),  # TTL unchanged
    ],
)
def test_damaged_frames_do_not_count(harm):
    assert forwarded([datagram()], [harm(bytes(routed(datagram())))]) == []


@pytest.mark.parametrize(
    "frame",
    [
        datagram(ttl=1),
        datagram(chksum=0x1234),
        datagram(version=6),
        datagram(len=2000),
        Ether() / ARP(),
        Ether() / Raw(b"short"),
    ],
)
def test_frames_that_no_router_forwards(frame):
    assert router.packet(bytes(frame), hops=1) is None


def test_replies_of_the_router_do_not_count():
    late = datagram(ttl=1)
    answer = Ether() / IP(src="198.18.0.1", dst="198.18.0.2") / ICMP(type=11) / Raw(bytes(late[IP])[:28])
    assert forwarded([late], [bytes(answer)]) == []


def test_checksum_of_all_ones_or_zeros():
    """RFC 1624: a header checksum of 0xffff may also be written as 0x0000, and the other way round."""
    header = bytearray(bytes(datagram()[IP])[:20])
    header[10:12] = b"\0\0"
    total = sum(struct.unpack(">10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    (identification,) = struct.unpack_from(">H", header, 4)
    header[4:6] = struct.pack(">H", (identification + 0xFFFF - total) % 0xFFFF)
    assert router.checksum_holds(bytes(header[:10]) + b"\0\0" + bytes(header[12:]))
    assert router.checksum_holds(bytes(header[:10]) + b"\xff\xff" + bytes(header[12:]))


# The command, with a fake simulator ---------------------------------------------------------------


@pytest.fixture
def lab(machine, monkeypatch, tmp_path):
    """Replays `frames` at port 0; returns the exit status."""
    monkeypatch.setattr(replay, "machine", lambda *_, **__: machine)

    def run(frames, *words, name=b"in.pcap", out=b"out"):
        path = os.path.join(os.fsencode(tmp_path), name)
        with open(path, "wb") as file:
            file.write(
                struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
                + b"".join(
                    struct.pack("<4I", 1, number, len(frame), len(frame)) + frame
                    for number, frame in enumerate(frames)
                )
            )
        outs = [os.path.join(os.fsencode(tmp_path), out + b"%d" % port) for port in range(2)]
        return cli.main(
            [
                "replay",
                "--variant",
                "napi",
                "--in0",
                os.fsdecode(path),
                "--out0",
                os.fsdecode(outs[0]),
                "--out1",
                os.fsdecode(outs[1]),
                *words,
            ]
        )

    return run


def test_frames_closer_than_on_the_line(lab, monkeypatch, capsys):
    """The replay's time limit includes the captures' length on the line, and the time to become
    quiet."""
    limits, call = [], Session.call
    monkeypatch.setattr(
        Session,
        "call",
        lambda self, do, **fields: (
            limits.append(fields["max_cycles"]) if do == "replay" else None,
            call(self, do, **fields),
        )[1],
    )
    frames = [bytes(datagram(payload=b"x" * 1400))] * 1000  # 1 us apart
    assert lab(frames) == 0
    assert limits[0] / 100e6 - 5 == pytest.approx(1000 * (20 + len(frames[0]) + 4) * 8 / 100e6)
    assert "1 trial, 0.117 s of simulated time" in capsys.readouterr().err


def test_names_of_any_octets(lab, tmp_path, capfd):
    """For inputs, outputs, and JSON."""
    names = [b"\xff in", b"\xe9t\xe9 out", b"\xc3 json"]
    file = os.path.join(os.fsencode(tmp_path), names[2])
    assert lab([bytes(datagram())], "--json", os.fsdecode(file), name=names[0], out=names[1]) == 0
    there = os.listdir(os.fsencode(tmp_path))
    assert {names[0], names[1] + b"0", names[1] + b"1", names[2]} <= set(there)
    assert not any(name.startswith(b".") for name in there)
    assert "moderato: wrote " in capfd.readouterr().err


def test_frames_for_other_stations_are_explained(lab, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_FILTERED", "1")
    assert lab([bytes(datagram())] * 3) == 0
    said = capsys.readouterr().err
    assert "nothing was forwarded, and 3 frames were for other stations" in said
    for words in (
        "port 0 has 02:4d:6f:64:00:00 and 198.18.0.1",
        "02:54:73:74:00:01 and 198.19.0.2",
        "--rewrite",
    ):
        assert words in said


def test_forwarded_frames_need_no_explanation(lab, capsys):
    assert lab([bytes(datagram())]) == 0
    assert "other stations" not in capsys.readouterr().err


def test_rewritten_on_the_command_line(lab, tmp_path, capsys):
    mine = (
        Ether(dst="02:00:00:00:00:01") / IP(src="192.0.2.1", dst="203.0.113.5") / UDP() / Raw(b"x" * 20)
    )
    back = Ether(dst="02:00:00:00:00:02") / IP(src="203.0.113.5", dst="192.0.2.1") / UDP()
    assert lab(map(bytes, (mine, back, mine, Ether() / ARP())), "--rewrite") == 0
    said = capsys.readouterr()
    assert (
        "3 of 4 frames are rewritten: 192.0.2.1 is the tester at port 0, 198.18.0.2, "
        "203.0.113.5 is the tester at port 1, 198.19.0.2"
    ) in said.err
    assert "left out, because they are not between those two: 1 ARP" in said.err
    rows = [line.split() for line in said.out.splitlines() if line[:1] in "01" and line]
    assert [row[:2] for row in rows] == [["0", "2"], ["1", "1"]]


def test_nothing_to_rewrite(lab, capsys):
    assert lab([bytes(Ether() / ARP())], "--rewrite") == 2
    assert "no two stations that IPv4 goes between; leave out --rewrite" in capsys.readouterr().err


def test_long_frames_are_announced(lab, capsys):
    assert lab([bytes(datagram()), bytes(datagram(payload=b"x" * 1600))]) == 0
    assert "1 frame(s) longer than Ethernet's, from record 2 on" in capsys.readouterr().err
