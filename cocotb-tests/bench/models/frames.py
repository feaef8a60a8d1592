# SPDX-License-Identifier: BSD-2-Clause
"""Frames for the tests, made by scapy where their contents matter."""

import random
from dataclasses import dataclass

from scapy.layers.inet import IP, TCP, UDP, IPOption_NOP, in4_pseudoheader
from scapy.layers.inet6 import IPv6, in6_pseudoheader
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from bench.models.driver import STATION, summed

TESTER = bytes.fromhex("025473740000")
BROADCAST = bytes(6 * [0xFF])
JUMBO = 9000 + 14  # octets of a jumbo frame without FCS


def _mac(address):
    return ":".join(f"{octet:02x}" for octet in address)


def udp(length, destination=STATION, serial=0, tos=0):
    """A UDP packet with addresses of the benchmarking network, in a frame of `length` octets
    without FCS."""
    head = Ether(dst=_mac(destination), src=_mac(TESTER)) / \
        IP(src="198.18.0.2", dst="198.19.0.2", id=serial & 0xFFFF, tos=tos) / UDP(sport=9, dport=9)
    packet = head / Raw(random.randbytes(length - len(head)))
    return bytes(packet)


def plain(length, destination=STATION):
    """A frame of `length` octets without FCS and with random contents: fast, any length from 14."""
    return destination + TESTER + random.randbytes(length - 12)


def padded(frame):
    """The frame padded as on the wire."""
    return frame.ljust(60, b"\0")


def inserted(frame, start, place):
    """The sent frame with a checksum from octet `start` on, at octet `place`: the inverted sum."""
    start, place = start & ~1, place & ~1
    result = ((summed(frame[start:]) ^ 0xFFFF) or 0xFFFF).to_bytes(2, "little")
    return (frame[:place] + result + frame[place + 2:])[:len(frame)] if place < len(frame) else frame


def tagged(frame, tci, kind=0x8100):
    """The frame with a VLAN tag after its addresses, as scapy writes it."""
    def bits(lsb, width):
        return tci >> lsb & (1 << width) - 1

    tag = Dot1Q(prio=bits(13, 3), dei=bits(12, 1), vlan=bits(0, 12),
                type=int.from_bytes(frame[12:14], "big"))
    return bytes(Ether(dst=_mac(frame[:6]), src=_mac(frame[6:12]), type=kind) / tag / Raw(frame[14:]))


@dataclass
class Transport:
    """A packet as scapy makes it, and `partial`: its checksum, at octet `place`, has only the sum
    of the pseudo-header. The sum goes from octet `start` to the end."""
    right:   bytes
    partial: bytes
    start:   int
    place:   int
    pseudo:  int


def transport(kind=None):
    """UDP or TCP over IPv4 or IPv6 with their options, with up to two VLAN tags, of any length."""
    udp = (kind or random.choice(("udp", "tcp"))) == "udp"
    segment = (UDP(sport=9, dport=random.getrandbits(16)) if udp else
               TCP(seq=random.getrandbits(32), options=[("Timestamp", (1, 2))] * random.randrange(3)))
    segment /= Raw(random.randbytes(random.choice((random.randrange(40), random.randrange(1400)))))
    if random.random() < 0.5:
        network = IP(src="198.18.0.2", dst="198.19.0.2",
                     options=[IPOption_NOP()] * 4*random.randrange(4))
        pseudo = in4_pseudoheader(17 if udp else 6, IP(bytes(network / segment)), len(segment))
    else:
        network = IPv6(src="2001:2::2", dst=f"2001:2:0:1::{random.getrandbits(16):x}")
        pseudo = bytes(in6_pseudoheader(17 if udp else 6, network, len(segment)))
    head = Ether(dst=_mac(STATION), src=_mac(TESTER))
    for _ in range(random.choice((0, 0, 1, 2))):
        head /= Dot1Q(vlan=random.randrange(4096))
    right = bytes(head / network / segment)
    start = len(right) - len(segment)
    place = start + (6 if udp else 16)
    total = summed(pseudo)
    partial = right[:place] + total.to_bytes(2, "little") + right[place + 2:]
    return Transport(right, partial, start, place, total)
