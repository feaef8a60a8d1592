# SPDX-License-Identifier: BSD-2-Clause
"""What an IPv4 router makes of a frame (RFC 1812), to recognise the forwarded ones in a capture."""

import struct
from collections import Counter
from collections.abc import Iterable

ETHERNET_HEADER, IPV4_HEADER = 14, 20  # octets
IPV4 = 0x0800


def forwarded(entered: Iterable[bytes], left: Iterable[bytes]) -> list[bytes]:
    """Those that left, of the kind that a router makes of those that entered. Frames without FCS.

    Addresses of the Ethernet header are not compared: they depend on the next hop.
    """
    expected = Counter(packet(frame, hops=1) for frame in entered)
    found = []
    for frame in left:
        identity = packet(frame, hops=0)
        if identity and expected[identity]:
            expected[identity] -= 1
            found.append(frame)
    return found


def packet(frame: bytes, hops: int) -> bytes | None:
    """The IPv4 packet in a frame after `hops` routers, less checksum and padding, or None."""
    if len(frame) < ETHERNET_HEADER + IPV4_HEADER or struct.unpack_from(">H", frame, 12)[0] != IPV4:
        return None
    ip = frame[ETHERNET_HEADER:]
    header, length, ttl = (ip[0] & 0xF) * 4, struct.unpack_from(">H", ip, 2)[0], ip[8]
    if ip[0] >> 4 != 4 or not IPV4_HEADER <= header <= length <= len(ip) or ttl <= hops:
        return None
    if not checksum_holds(ip[:header]):
        return None
    return b"".join([ip[:8], bytes([ttl - hops]), ip[9:10], ip[12:length]])


def checksum_holds(header: bytes) -> bool:
    """RFC 1071: the one's complement sum over the header, its checksum included, is all ones."""
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total == 0xFFFF
