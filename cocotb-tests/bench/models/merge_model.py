# SPDX-License-Identifier: BSD-2-Clause
"""Streams of TCP segments, and a model that finds continuations with scapy."""

import random

from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

PUSH = "P"


def parsed(frame):
    """Scapy's view of the frame, if it is a TCP segment with payload and without unusual features."""
    packet = Ether(frame)
    ip = packet.payload
    if isinstance(ip, IP):
        if packet.type != 0x0800 or ip.version != 4 or ip.ihl != 5 or ip.proto != 6 or ip.frag or \
                str(ip.flags) not in ("", "DF") or 14 + ip.len != len(frame):
            return None
    elif not isinstance(ip, IPv6) or packet.type != 0x86DD or ip.version != 6 or ip.nh != 6 or \
            54 + ip.plen != len(frame):
        return None
    tcp = ip.payload
    # By its data offset, because scapy interprets invalid ones differently.
    if not isinstance(tcp, TCP) or tcp.dataofs < 5 or tcp.reserved or \
            str(tcp.flags) not in ("A", "PA") or len(frame) <= _payload(frame, packet):
        return None
    return packet


def _payload(frame, packet):
    """The offset of the payload."""
    start = 14 + (20 if isinstance(packet.payload, IP) else 40)
    return start + 4 * (frame[start + 12] >> 4)


def _headers(frame, packet, **changes):
    """Without checksums and lengths, and with changed fields as far as the frame has them. Other
    octets stay: scapy rebuilds invalid options."""
    octets = bytearray(frame[:_payload(frame, packet)])
    v4 = isinstance(packet.payload, IP)
    tcp = 14 + (20 if v4 else 40)
    for place in (16, 24, tcp + 16) if v4 else (18, tcp + 16):
        octets[place:place + 2] = b"\0\0"
    if v4:
        octets[18:20] = changes.get("id", packet.payload.id).to_bytes(2, "big")
    octets[tcp + 4:tcp + 8] = changes.get("seq", packet[TCP].seq).to_bytes(4, "big")
    octets[tcp + 13] = changes.get("flags", octets[tcp + 13])
    return bytes(octets)


def _next(packet, frame, flags):
    """The headers of the segment that continues this frame."""
    octets = len(frame) - _payload(frame, packet)
    changes = {"seq": (packet[TCP].seq + octets) & 0xFFFFFFFF, "flags": flags}
    if isinstance(packet.payload, IP):
        changes["id"] = (packet.payload.id + 1) & 0xFFFF
    return _headers(frame, packet, **changes)


class Merging:
    """`before`: None, or the frame before, its packet, its queue, and the longest allowed payload."""

    def __init__(self):
        self.before = None

    def decide(self, frame, kept=True, queue=0):
        """Whether the frame, `kept` or not, continues the one before it."""
        packet = parsed(frame)
        continues, size = False, 0
        if packet:
            start = _payload(frame, packet)
            size = len(frame) - start
            pushed = PUSH in str(packet[TCP].flags)
            if self.before:
                last, last_packet, last_queue, last_size = self.before
                continues = queue == last_queue and size <= last_size and \
                    _next(last_packet, last, int(packet[TCP].flags)) == _headers(frame, packet)
                if continues:
                    shorter, size = size < last_size, last_size
        open_ = kept and packet and not pushed and not (continues and shorter)
        self.before = (frame, packet, queue, size) if open_ else None
        return continues


class Stream:
    """A connection, as a scapy packet that changes from segment to segment."""

    def __init__(self, v6=False, options=(), sequence=None, identification=None, size=200, sport=5001):
        self.size = size
        network = IPv6(src="2001:db8::2", dst="2001:db8::1", tc=8, fl=77) if v6 else \
            IP(src="198.18.0.2", dst="198.18.0.1", flags="DF", ttl=17, tos=4,
               id=random.getrandbits(16) if identification is None else identification)
        self.packet = Ether(dst="02:4d:6f:64:00:00", src="02:54:73:74:00:00") / network / TCP(
            sport=sport, dport=49152, flags="A", window=1000, ack=random.getrandbits(32),
            seq=random.getrandbits(32) if sequence is None else sequence, options=list(options))

    def segment(self, size=None, **tcp):
        """The next segment."""
        frame = self.peek(size, **tcp)
        self.skip(self.size if size is None else size)
        return frame

    def peek(self, size=None, **tcp):
        packet = self.packet.copy()
        for name, value in tcp.items():
            setattr(packet[TCP], name, value)
        return bytes(packet / Raw(random.randbytes(self.size if size is None else size)))

    def skip(self, octets):
        self.packet[TCP].seq = (self.packet[TCP].seq + octets) & 0xFFFFFFFF
        if IP in self.packet:
            self.packet[IP].id = (self.packet[IP].id + 1) & 0xFFFF
