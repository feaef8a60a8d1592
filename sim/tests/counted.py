# SPDX-License-Identifier: BSD-2-Clause
"""Counts the frames of captures with scapy alone, to compare with the lab's counts of the same
traffic."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import PcapReader

from moderato.sim.lab.run.stations import TESTER

ECHO_PORT, ANSWER_TTL = 7, 64
FCS = 4  # octets


def read(path: Path) -> list[Packet]:
    with PcapReader(str(path)) as capture:
        return list(capture)


@dataclass
class Port:
    """The frames that entered a port: how many left with a router's changes."""

    offered: int
    answers: int
    forwarded: int
    answers_forwarded: int


def ports(
    entered: Sequence[Sequence[Packet]], left: Sequence[Sequence[Packet]], udp_echo: bool = False
) -> list[Port]:
    """The counts of a replay, from the frames of its inputs, by port, and the frames that left."""
    answers = [
        [made for frame in frames if (made := answer(frame, port, udp_echo))]
        for port, frames in enumerate(left)
    ]
    gone = Counter(identity for frames in left for frame in frames if (identity := packet(frame)))
    found = []
    for port, frames in enumerate(entered):
        counts = [take(gone, frames), take(gone, answers[port])]
        found.append(Port(len(frames), len(answers[port]), sum(counts), counts[1]))
    return found


def take(gone: Counter, frames: Sequence[Packet]) -> int:
    """How many of the frames left with a TTL that is one less; each counts once."""
    count = 0
    for frame in frames:
        identity = packet(frame, hops=1)
        if identity and gone[identity]:
            gone[identity] -= 1
            count += 1
    return count


def packet(frame: Packet, hops: int = 0) -> tuple | None:
    """The fields of a valid IPv4 packet that a router does not change, and its TTL after `hops`."""
    while isinstance(frame.payload, (Dot1Q, Dot1AD)) and frame.payload.vlan == 0:
        frame = frame.payload
    ip = frame.payload
    if (
        not isinstance(ip, IP)
        or ip.version != 4
        or ip.ihl < 5
        or ip.len < 4 * ip.ihl
        or len(bytes(ip)) < ip.len
        or ip.ttl <= hops
        or not header_holds(ip)
    ):
        return None
    return (
        ip.src,
        ip.dst,
        ip.proto,
        ip.id,
        int(ip.flags),
        ip.frag,
        ip.tos,
        ip.ttl - hops,
        bytes(ip)[4 * ip.ihl : ip.len],
    )


def header_holds(ip: IP) -> bool:
    words = bytes(ip)[: 4 * ip.ihl]
    total = sum(int.from_bytes(words[at : at + 2], "big") for at in range(0, len(words), 2))
    return total % 0xFFFF == 0 and total > 0


def answer(frame: Packet, port: int, udp_echo: bool) -> Packet | None:
    """The tester's answer at a port to a frame that left there."""
    own = TESTER[port]
    if ARP in frame and frame[ARP].op == 1 and frame[ARP].pdst == own.ipv4:
        return Ether(src=own.mac, dst=frame.src) / ARP(op=2)
    if (
        IP not in frame
        or frame.dst != own.mac
        or frame[IP].dst != own.ipv4
        or frame[IP].flags.MF
        or frame[IP].frag
        or not header_holds(frame[IP])
    ):
        return None
    ip = frame[IP]
    body = bytes(ip)[4 * ip.ihl : ip.len]
    if ip.proto == 1 and ICMP in ip and (ip[ICMP].type, ip[ICMP].code) == (8, 0):
        back = ICMP(type=0, id=ip[ICMP].id, seq=ip[ICMP].seq) / Raw(body[8:])
    elif udp_echo and ip.proto == 17 and UDP in ip and ip[UDP].dport == ECHO_PORT:
        back = Raw(body[2:4] + body[:2] + body[4:])
    else:
        return None
    made = (
        Ether(src=own.mac, dst=frame.src)
        / IP(
            src=ip.dst, dst=ip.src, id=ip.id, tos=ip.tos, flags=ip.flags, ttl=ANSWER_TTL, proto=ip.proto
        )
        / back
    )
    return Ether(bytes(made))


# Trials -------------------------------------------------------------------------------------------


@dataclass
class Flow:
    """The test frames that entered a port. Times in nanoseconds."""

    offered: int
    forwarded: int
    latencies: list[int]
    last_bits: list[int]  # of the forwarded frames, when they left


def flow(entered: Sequence[Packet], left: Sequence[Packet], bit: int) -> Flow:
    """bit: nanoseconds per bit on the wire."""
    came = {packet(frame, hops=1): nanoseconds(frame) for frame in entered}
    assert len(came) == len(entered), "test frames that are the same"
    gone = {identity: frame for frame in left if (identity := packet(frame)) in came}
    return Flow(
        len(entered),
        len(gone),
        [nanoseconds(frame) - came[identity] - duration(frame, bit) for identity, frame in gone.items()],
        [nanoseconds(frame) + duration(frame, bit) for frame in gone.values()],
    )


def nanoseconds(frame: Packet) -> int:
    """The time of its first bit."""
    return round(frame.time * 10**9)


def duration(frame: Packet, bit: int) -> int:
    """From the first bit to the end of the FCS."""
    return 8 * (len(bytes(frame)) + FCS) * bit


# TCP ----------------------------------------------------------------------------------------------


def segments(frames: Sequence[Packet]) -> dict[str, int]:
    """Numbers: data segments and their octets, segments without data, retransmissions."""
    found, seen = Counter(), {}
    for frame in frames:
        if TCP not in frame:
            continue
        ip, tcp = frame[IP], frame[TCP]
        size = ip.len - 4 * ip.ihl - 4 * tcp.dataofs
        found["segments" if size else "acks"] += 1
        found["octets"] += size
        there = seen.setdefault((ip.src, tcp.sport, tcp.dport), set())
        octets = range(tcp.seq, tcp.seq + size)
        found["retransmitted"] += not there.isdisjoint(octets)
        there.update(octets)
    return {name: found[name] for name in ("segments", "octets", "acks", "retransmitted")}
