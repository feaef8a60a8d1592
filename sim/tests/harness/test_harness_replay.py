# SPDX-License-Identifier: BSD-2-Clause
"""Replay of captures and of malformed frames; ARP."""

import pytest
from harness_commands import GUEST, PROMPT, TESTER, damage, offer, packet, replay, trial
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.utils import PcapReader, wrpcap

from moderato.sim.lab.captures import pcap


def test_replay_keeps_the_times(sim, tmp_path):
    packets = [packet(n) for n in range(10)]
    for n, item in enumerate(packets):
        item.time = 1000 + n * 0.001
    wrpcap(str(tmp_path / "in"), packets, nano=True)
    (reply,) = sim(replay("in", out=[None, "out"]))
    assert (
        reply["ok"] and reply["ports"][0]["offered"] == 10 and reply["ports"][1]["left"]["other"] == 10
    )
    left = list(PcapReader(str(tmp_path / "out")))
    assert [p[IP].ttl for p in left] == [9 + n for n in range(10)]
    for item in left:  # scapy as an independent reference
        assert item.src == GUEST.format(1) and item.dst == TESTER.format(1)
        good = IP(bytes(item[IP]))
        del good.chksum
        assert item[IP].chksum == IP(bytes(good)).chksum
    gaps = {round((b.time - a.time) * 10**9) for a, b in zip(left, left[1:])}
    assert gaps == {1_000_000}


def test_replay_back_to_back(sim, tmp_path):
    wrpcap(str(tmp_path / "in"), [packet(n) for n in range(10)])
    (reply,) = sim(replay("in", timing="back-to-back", quiet_cycles=0))
    size = 14 + 20 + 8 + 80 + 4
    assert reply["end_cycle"] - reply["start_cycle"] == (10 * (8 + size + 12) - 12) * 8


@pytest.mark.parametrize("epoch", [0, 1000])
def test_frame_that_was_leaving_when_the_replay_began(sim, tmp_path, epoch):
    """Its time is before that of the first input, but at least 0."""
    first = packet(0)
    first.time = epoch
    wrpcap(str(tmp_path / "in"), [first], nano=True)
    before, reply = sim(trial(offer(1518, frames=1), quiet_cycles=0), replay("in", out=[None, "out"]))
    assert before["ok"] and reply["ports"][1]["left"]["frames"] == 2
    early, late = PcapReader(str(tmp_path / "out"))
    assert len(early) == 1514 and epoch < late.time
    assert max(0, epoch - 1e-6) <= early.time and (early.time < epoch or early.time == epoch == 0)


@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda b: b[:-1], "truncated in record 3"),
        (lambda b: b[:30], "truncated in record 1"),
        (lambda b: b[:10], "is not a little-endian pcap file"),
        (lambda b: b"GET / HTTP, and so on, and on", "is not a little-endian pcap file"),
        (lambda b: b[3::-1] + b[4:], "is not a little-endian pcap file"),
        (lambda b: b"", "is not a little-endian pcap file"),
        (lambda b: b[:20] + b"\x65" + b[21:], "not Ethernet"),
    ],
)
def test_unusable_pcaps_are_rejected(sim, tmp_path, spoil, message):
    wrpcap(str(tmp_path / "in"), [packet(n) for n in range(3)])
    damage(tmp_path / "in", spoil)
    (reply,) = sim(replay("in", out=[None, "out"]))
    assert not reply["ok"] and message in reply["error"] and reply["cycle"] == 0
    assert not (tmp_path / "out").exists()


def test_frames_with_fcs_are_played_unchanged(sim, tmp_path):
    """As the lab writes them: a short frame is not padded."""
    frames = [
        pcap.Frame(0, bytes(packet(0))),
        pcap.Frame(1_000_000, bytes(packet(1, size=0)), b"\0\0\0\0"),
        pcap.Frame(2_000_000, bytes(packet(2, size=0))),
    ]
    pcap.write(tmp_path / "in", frames)
    (reply,) = sim(replay("in", out=[None, "out"]))
    assert reply["ports"][0]["offered"] == 3
    left = pcap.frames(tmp_path / "out")  # the mock passes them on with a new FCS
    assert [len(frame.octets) for frame in left] == [14 + 20 + 8 + 80, 14 + 20 + 8, 60]


def test_replay_continues_after_power_off(sim, tmp_path):
    """As in a trial: the simulator reports the power-off, and starts no other command before."""
    pcap.write(tmp_path / "in", [pcap.Frame(n * 1_000_000, bytes(packet(n))) for n in range(3)])
    _, _, ended, refused, other, status, collected, saved = sim(
        PROMPT,
        {"do": "send", "text": "\x04"},
        replay("in", out=[None, "out"]),
        {"do": "save", "file": "state"},
        replay("in"),
        {"do": "status"},
        {"do": "collect"},
        {"do": "save", "file": "state"},
    )
    assert not ended["ok"] and ended["error"] == "the guest powered off"
    for reply in refused, other:
        assert not reply["ok"] and "a replay is in progress; collect it first" in reply["error"]
    assert status["ok"] and status["ports"][0]["offered"] < 3
    assert collected["ok"] and collected["quiet"] and collected["ports"][0]["offered"] == 3
    assert len(pcap.frames(tmp_path / "out")) == 3 and saved["ok"]


def test_a_missing_pcap(sim):
    (reply,) = sim(replay("nowhere"))
    assert not reply["ok"] and "nowhere" in reply["error"] and "No such file" in reply["error"]


def request(address):
    arp = ARP(op=1, hwsrc=GUEST.format(1), psrc="198.19.0.1", pdst=address)
    return Ether(src=GUEST.format(1), dst="ff:ff:ff:ff:ff:ff") / arp


def test_the_tester_answers_arp_for_its_own_address_only(sim, tmp_path):
    """A request passes to port 1, where the tester answers; the answer leaves port 0."""
    wrpcap(str(tmp_path / "in"), [request("198.19.0.77"), request("198.18.0.2"), request("198.19.0.2")])
    (reply,) = sim(replay("in", out=["out"], timing="back-to-back"))
    assert [port["left"]["arp"] for port in reply["ports"]] == [1, 3]
    (answer,) = PcapReader(str(tmp_path / "out"))
    assert (answer.src, answer.dst) == (TESTER.format(1), GUEST.format(1))
    assert (answer[ARP].op, answer[ARP].hwsrc, answer[ARP].psrc) == (
        2,
        TESTER.format(1),
        "198.19.0.2",
    )
    assert (answer[ARP].hwdst, answer[ARP].pdst) == (GUEST.format(1), "198.19.0.1")


PING = ICMP(id=7, seq=9) / bytes(range(56))
DATAGRAM = UDP(sport=4321, dport=7) / b"odd"


def asked(what, address="198.19.0.2", **fields):
    """A frame that a router forwards to the tester at port 1."""
    head = Ether(dst=GUEST.format(0), src=TESTER.format(0))
    return head / IP(src="198.18.0.9", dst=address, **fields) / what


@pytest.mark.parametrize("what, option", [(PING, []), (ICMP() / b"", []), (DATAGRAM, ["--udp-echo"])])
def test_the_tester_answers(sim, tmp_path, what, option):
    """The answer has exchanged addresses and ports; scapy checks lengths and checksums."""
    wrpcap(str(tmp_path / "in"), [asked(what)])
    (reply,) = sim(replay("in", out=["out"], answers=["none", "answers"]), options=option)
    assert [port["left"]["answered"] for port in reply["ports"]] == [0, 1]
    (answer,) = PcapReader(str(tmp_path / "out"))
    assert list(PcapReader(str(tmp_path / "none"))) == []
    (entered,) = PcapReader(str(tmp_path / "answers"))
    assert entered[IP].ttl == 64 and entered.time < answer.time
    assert bytes(entered[IP].payload) == bytes(answer[IP].payload)
    assert (answer[IP].src, answer[IP].dst) == ("198.19.0.2", "198.18.0.9")
    assert answer[IP].ttl == 64 - 1  # the mock decrements it on the way back, too
    expected = what.copy()
    if UDP in what:
        expected.sport, expected.dport = what.dport, what.sport
    else:
        expected.type = "echo-reply"
    made = IP(bytes(IP(src="198.19.0.2", dst="198.18.0.9") / expected))
    assert bytes(answer[IP].payload)[: len(made.payload)] == bytes(made.payload)
    assert answer[IP].len == len(made) and answer[IP].chksum == again(answer).chksum


def again(frame):
    """The frame with an IP header checksum from scapy."""
    header = IP(bytes(frame[IP]))
    del header.chksum
    return IP(bytes(header))


@pytest.mark.parametrize(
    "frame",
    [
        asked(PING, "198.19.0.77"),
        asked(ICMP(type="echo-reply") / b"to whom?"),
        asked(ICMP(chksum=1) / b"damaged"),
        asked(PING, flags="MF"),
        asked(PING, frag=1),
        asked(PING, len=2000),
        asked(DATAGRAM),
        asked(UDP(dport=9) / b"discard"),
    ],
)
def test_the_tester_does_not_answer(sim, tmp_path, frame):
    option = ["--udp-echo"] if UDP in frame and frame[UDP].dport != 7 else []
    wrpcap(str(tmp_path / "in"), [frame])
    (reply,) = sim(replay("in", out=["out"]), options=option)
    assert reply["ports"][1]["left"]["other"] == 1 and reply["ports"][1]["left"]["answered"] == 0
    assert list(PcapReader(str(tmp_path / "out"))) == []


def test_an_answer_waits_for_a_free_line(sim, tmp_path):
    """Scheduled frames keep their cycles: the answer follows them, or fits a large gap."""
    ask = request("198.19.0.2")
    ask.time = 0
    wrpcap(str(tmp_path / "ask"), [ask])
    for timing, last in (("back-to-back", True), ("timestamps", False)):
        packets = [packet(n) for n in range(20)]
        for n, item in enumerate(packets):
            item.time = n * 0.001
        wrpcap(str(tmp_path / "busy"), packets)
        (reply,) = sim(replay("ask", "busy", out=["out"], timing=timing))
        left = [ARP in item for item in PcapReader(str(tmp_path / "out"))]
        assert reply["ports"][0]["left"]["short_gap"] == 0
        assert len(left) == 21 and left.index(True) == (20 if last else 1)


# Malformed frames: the mock forwards IPv4 by the type field alone, so they reach the tester.
def test_frames_on_the_wire_as_given(sim, tmp_path):
    good = bytes(packet(0))
    frames = [
        {"hex": good.hex()},
        {"hex": good.hex(), "fcs": "bad"},
        {"hex": good[:20].hex(), "gap": 5},
        {"hex": "ff"},
        {"hex": (good + bytes(3000)).hex(), "fcs": "none"},
        {"hex": good.hex(), "gap": 96},
    ]
    (reply,) = sim(replay(frames, out=[None, "out"]))
    assert reply["ok"] and reply["ports"][0]["offered"] == len(frames)
    assert reply["ports"][1]["left"]["frames"] == 5  # all but the frame of one octet, which has no type


@pytest.mark.parametrize(
    "frame, message",
    [
        ({"hex": "f"}, "odd"),
        ({"hex": "xy"}, "hexadecimal"),
        ({"hex": "00", "fcs": "?"}, "fcs"),
        ({}, "hex"),
    ],
)
def test_wrong_frames_are_rejected(sim, frame, message):
    (reply,) = sim(replay([frame]))
    assert not reply["ok"] and message in reply["error"]
