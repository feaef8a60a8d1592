# SPDX-License-Identifier: BSD-2-Clause
"""The lab's counts of frames agree with scapy's counts in both ports' captures (counted.py): for
replays, trials, transfers over TCP and live sessions."""

import dataclasses
import json
import random
import statistics
import sys
import zlib
from collections import Counter

import counted
import namespaces
import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import PcapNgReader
from test_account import FAST, chosen

from moderato.sim.lab import cli
from moderato.sim.lab.captures import pcap
from moderato.sim.lab.measure import forward, replay
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.stations import ROUTER, TESTER
from moderato.sim.lab.tcp import exchange, transfers
from moderato.sim.lab.tcp.transfer import DIRECTIONS, Transfer, usual_gro

slow = pytest.mark.slow
EACH = 40  # frames into each port, at most
SPAN = 5_000_000  # ns: the time over which they are spread
STRANGER, NOBODY, FAR = "198.{}.0.9", "198.{}.0.77", "203.0.113.9"  # the first two have no station


# Replays ------------------------------------------------------------------------------------------


def header(port: int, **ip) -> Packet:
    """IPv4 from the tester at a port to the tester at the other one."""
    fields = {"src": TESTER[port].ipv4, "dst": TESTER[1 - port].ipv4, "ttl": 64}
    return Ether(src=TESTER[port].mac, dst=ROUTER[port].mac) / IP(**fields | ip)


def datagram(dice: random.Random, port: int, dport: int = 9, **ip) -> Packet:
    body = dice.randbytes(dice.choice((0, 1, 18, dice.randrange(1472))))
    return header(port, id=dice.randrange(1 << 16), **ip) / UDP(sport=4000, dport=dport) / Raw(body)


def ping(dice: random.Random, port: int, **ip) -> Packet:
    return (
        header(port, id=dice.randrange(1 << 16), **ip)
        / ICMP(seq=dice.randrange(1 << 16))
        / Raw(dice.randbytes(dice.randrange(200)))
    )


def tagged(dice: random.Random, port: int, *tags) -> Packet:
    frame = datagram(dice, port)
    head = Ether(src=frame.src, dst=frame.dst)
    for tag in tags:
        head /= tag
    return head / frame[IP]


def changed(frame: Packet, **ether) -> Packet:
    for name, value in ether.items():
        setattr(frame, name, value)
    return frame


def fragments(dice: random.Random, port: int) -> list[Packet]:
    """The fragments of a datagram to the guest itself."""
    whole = datagram(dice, port, dst=ROUTER[port].ipv4)
    whole[UDP].payload = Raw(dice.randbytes(1200))
    return [
        Ether(src=TESTER[port].mac, dst=ROUTER[port].mac) / piece for piece in whole[IP].fragment(600)
    ]


# Kinds of frames with their expected fate and, after a +, the fate of the answer.
KINDS = {
    "routed": ("forwarded", datagram),
    "same port": (
        "forwarded",
        lambda dice, port: datagram(dice, port, src=STRANGER.format(18 + port), dst=TESTER[port].ipv4),
    ),
    "ping": ("forwarded+forwarded", ping),
    "ping of a stranger": (
        "forwarded+other",
        lambda dice, port: ping(dice, port, src=STRANGER.format(18 + port)),
    ),
    "echo port": ("forwarded+forwarded", lambda dice, port: datagram(dice, port, dport=7)),
    "priority": (
        "forwarded",
        lambda dice, port: tagged(
            dice, port, dice.choice((Dot1Q(vlan=0, prio=5), Dot1AD(vlan=0) / Dot1Q(vlan=0)))
        ),
    ),
    "last hop": ("forwarded", lambda dice, port: datagram(dice, port, ttl=2)),
    "for the guest": ("delivered", lambda dice, port: ping(dice, port, dst=ROUTER[port].ipv4)),
    "fragments": ("delivered", fragments),
    "VLAN": ("not_ipv4", lambda dice, port: tagged(dice, port, Dot1Q(vlan=5))),
    "ARP": (
        "not_ipv4",
        lambda dice, port: (
            Ether(src=TESTER[port].mac, dst="ff:ff:ff:ff:ff:ff")
            / ARP(psrc=TESTER[port].ipv4, hwsrc=TESTER[port].mac, pdst=ROUTER[port].ipv4)
        ),
    ),
    "unknown protocol": ("not_ipv4", lambda dice, port: changed(datagram(dice, port), type=0x88B5)),
    "TTL": ("expired", lambda dice, port: datagram(dice, port, ttl=dice.randrange(2))),
    "version": ("expired", lambda dice, port: datagram(dice, port, version=6)),
    "checksum": ("bad_checksum", lambda dice, port: datagram(dice, port, chksum=0x1234)),
    "no route": ("no_route", lambda dice, port: datagram(dice, port, dst=FAR)),
    "nobody": ("other", lambda dice, port: datagram(dice, port, dst=NOBODY.format(19 - port))),
    "loopback": ("other", lambda dice, port: datagram(dice, port, src="127.0.0.1")),
    "cut short": ("other", lambda dice, port: datagram(dice, port, len=1501 + dice.randrange(9))),
    "broadcast": ("other", lambda dice, port: changed(datagram(dice, port), dst="ff:ff:ff:ff:ff:ff")),
    "other station": (
        "filtered",
        lambda dice, port: changed(datagram(dice, port), dst="02:00:00:00:00:99"),
    ),
    "wrong FCS": ("damaged", datagram),
    "runt": ("damaged", datagram),
}


def traffic(dice: random.Random, port: int) -> tuple[list[pcap.Frame], Counter]:
    """Frames for a port, and their expected fates."""
    frames, fates = [], Counter()
    for kind in dice.choices([*KINDS], k=EACH):
        fate, make = KINDS[kind]
        made = make(dice, port)
        for frame in made if isinstance(made, list) else [made]:
            octets, fcs = bytes(frame), b""
            if kind == "wrong FCS":
                fcs = bytes(4)
            elif kind == "runt":
                octets = octets[:40]
                fcs = zlib.crc32(octets).to_bytes(4, "little")
            for _ in range(1 + (kind == "routed" and dice.random() < 0.2)):  # some are repeated
                frames.append(pcap.Frame(dice.randrange(SPAN), octets, fcs))
                first, _, answer = fate.partition("+")
                fates += Counter([first, *([f"answer {answer}"] if answer else [])])
    return sorted(frames, key=lambda frame: frame.nanoseconds), fates


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=slow) for seed in range(1, 12))])
def test_a_replay(seed, tmp_path):
    """Each frame has one fate, the same by a router's rules and by the captures."""
    dice = random.Random(seed)
    entered, fates = zip(*(traffic(dice, port) for port in range(2)))
    files = [tmp_path / f"{port}.pcap" for port in range(2)]
    wanted = replay.Request(dice.choice(FAST), [None, None], files, udp_echo=True)
    result = replay.run(machine(), wanted, entered, lambda _: None)
    assert result.problems == []
    shown = counted.ports(
        [[Ether(frame.octets) for frame in frames] for frames in entered],
        [counted.read(file) for file in files],
        udp_echo=True,
    )
    for port, there in zip(result.ports, shown):
        assert {name: getattr(port, name) for name in vars(there)} == vars(there)
        assert port.lost == there.offered - (there.forwarded - there.answers_forwarded)
    expected = sum(fates, Counter())
    arp = result.total("answers") - sum(count for fate, count in expected.items() if "answer" in fate)
    assert arp in range(3)  # the guest asks for testers that it does not know
    assert result.total("forwarded") == expected["forwarded"] + expected["answer forwarded"]
    assert result.delivered == expected["delivered"]
    assert result.reasons == {
        "not_ipv4": expected["not_ipv4"] + arp,
        "expired": expected["expired"],
        "bad_checksum": expected["bad_checksum"],
        "no_route": expected["no_route"],
        "other": expected["other"] + expected["answer other"],
    }
    assert (result.total("dropped_damaged"), result.total("dropped_filtered")) == (
        expected["damaged"],
        expected["filtered"],
    )


def test_pings_through_the_guest(tmp_path, capsys):
    """Five requests and five answers are forwarded; each counts at the port where it entered."""
    dice = random.Random(1)
    pcap.write(
        tmp_path / "in", [pcap.Frame(number * 1_000_000, bytes(ping(dice, 0))) for number in range(5)]
    )
    assert (
        cli.main(
            [
                "replay",
                "--variant",
                "napi",
                "--in0",
                str(tmp_path / "in"),
                *(
                    word
                    for port in range(2)
                    for word in (f"--out{port}", str(tmp_path / f"{port}.pcap"))
                ),
                "--json",
                str(tmp_path / "json"),
            ]
        )
        == 0
    )
    (result,) = json.loads((tmp_path / "json").read_text())
    assert [
        [port[name] for name in ("offered", "answers", "forwarded", "answers_forwarded", "lost")]
        for port in result["ports"]
    ] == [[5, 1, 5, 0, 0], [0, 6, 5, 5, 0]]
    assert result["reasons"] == {
        "not_ipv4": 2,
        "expired": 0,
        "bad_checksum": 0,
        "no_route": 0,
        "other": 0,
    }
    said = " ".join(capsys.readouterr().out.split())
    assert "Of 12 received: 10 forwarded, 0 IPv4 for the guest itself, 2 not IPv4" in said


# Trials -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [50, *(pytest.param(seed, marks=slow) for seed in range(51, 59))])
def test_a_trial(seed, tmp_path):
    """Counts, rates in the window, and latencies to the clock are equal."""
    trial = dataclasses.replace(chosen(seed, FAST), pcap=tmp_path)
    (result,) = forward.run(machine(), [trial])
    assert result.problems == []
    bit, clock = 1000 // trial.link_mbps, 10**9 // result.sys_clk_hz  # ns
    begin, end = result.window
    latencies = []
    for port in range(trial.traffic.ports):
        folder = trial.captures
        shown = counted.flow(
            counted.read(folder / f"port{port}-in.pcap"),
            counted.read(folder / f"port{1 - port}-out.pcap"),
            bit,
        )
        said = result.ports[port]
        assert (said.offered, said.forwarded, said.lost) == (
            shown.offered,
            shown.forwarded,
            shown.offered - shown.forwarded,
        )
        within = sum(begin * clock < time <= end * clock for time in shown.last_bits)
        assert said.fps == pytest.approx(within * result.sys_clk_hz / max(1, end - begin))
        latencies += shown.latencies
    assert len(latencies) == result.total("forwarded")
    if latencies:
        assert {name: result.nanoseconds(result.latency[name]) for name in ("min", "median", "max")} == {
            "min": min(latencies),
            "median": statistics.median_low(latencies),
            "max": max(latencies),
        }


# TCP ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "direction",
    [
        "through",
        *(pytest.param(direction, marks=slow) for direction in DIRECTIONS if direction != "through"),
    ],
)
def test_a_transfer(direction, tmp_path):
    wanted = Transfer(
        direction, "napi-full", octets=60_000, connections=2, gro=usual_gro(direction), pcap=tmp_path
    )
    of = machine()
    with transfers.ready(of, wanted).open() as session:
        made = exchange.run(wanted, session, of.sys_clk_hz, lambda _: None)
    for port, said in enumerate(made["ports"]):
        shown = {
            way: counted.segments(counted.read(wanted.captures / f"port{port}-{way}.pcap"))
            for way in ("in", "out")
        }
        assert {
            way: {name: said[name][way] for name in shown[way] if name != "retransmitted"}
            for way in shown
        } == {
            way: {name: count for name, count in counts.items() if name != "retransmitted"}
            for way, counts in shown.items()
        }
    assert made["retransmissions"] == 0


# Live sessions ------------------------------------------------------------------------------------

SENDS = """\
import random, socket
dice = random.Random({seed})
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
    for _ in range(20):
        address = dice.choice(["198.19.0.2", "198.18.0.1", "198.19.0.77", "203.0.113.9"])
        out.sendto(dice.randbytes(dice.randrange(1400)), (address, 9))
with socket.create_connection(("198.18.0.1", 80)) as connection:
    connection.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
    while connection.recv(4096):
        pass
"""


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=slow) for seed in range(1, 4))])
def test_a_session(seed, tmp_path, monkeypatch):
    namespaces.need()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sends.py").write_text(SENDS.format(seed=seed))
    assert (
        cli.main(
            [
                "live",
                "--variant",
                "napi",
                "--capture",
                "all.pcapng",
                "--json",
                "json",
                "-c",
                f"{sys.executable} sends.py",
            ]
        )
        == 0
    )
    said = json.loads((tmp_path / "json").read_text())["ports"]
    shown = Counter()
    with PcapNgReader("all.pcapng") as frames:
        for frame in frames:
            place = frame.sniffed_on, frame.direction
            shown[place] += 1
            shown[(*place, "octets")] += len(bytes(frame)) + counted.FCS
    for port, passed in enumerate(said):
        for way, direction in (("in", 1), ("out", 2)):  # direction in a pcapng's flags
            place = f"eth{port}", direction
            assert passed[way] == {"frames": shown[place], "octets": shown[(*place, "octets")]}
    assert all(sum(port["in"].values()) for port in said[:1])
