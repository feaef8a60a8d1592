# SPDX-License-Identifier: BSD-2-Clause
"""The changes that an IPv4 router makes to a frame (RFC 1812): to find forwarded frames in a capture."""

import struct
from collections import Counter
from collections.abc import Sequence

ETHERNET_HEADER, IPV4_HEADER, TAG = 14, 20, 4  # octets
IPV4 = 0x0800
TAGS = 0x8100, 0x88A8  # IEEE 802.1Q: customer tag, service tag
VID = 0x0FFF  # mask of the VLAN in a tag's control information; VLAN 0 is a priority only


Source = tuple[int, Sequence[bytes]]  # a port, and frames that entered there


def forwarded(sources: Sequence[Source], left: Sequence[Sequence[bytes]]) -> list[list[bytes]]:
    """For each source, the frames that left with a router's changes. Frames have no FCS; `left`: a list
    of frames for each port.

    Each frame that left is assigned to one source. Sources at other ports that still lack the frame come
    first, then the port where it left. MAC addresses are not compared: they depend on the next hop.
    """
    expected = [Counter(packet(frame, hops=1) for frame in frames) for _, frames in sources]
    found = [[] for _ in sources]
    for port, frames in enumerate(left):
        order = sorted(range(len(sources)), key=lambda number: sources[number][0] == port)
        for frame in frames:
            identity = packet(frame, hops=0)
            for number in order if identity else ():
                if expected[number][identity]:
                    expected[number][identity] -= 1
                    found[number].append(frame)
                    break
    return found


def packet(frame: bytes, hops: int) -> bytes | None:
    """The IPv4 packet in a frame after `hops` routers, without padding and without the fields that a
    router may change (checksum, options), or None."""
    start = payload(frame)
    ip = frame[start or 0 :]
    if start is None or len(ip) < IPV4_HEADER:
        return None
    header, length, ttl = (ip[0] & 0xF) * 4, struct.unpack_from(">H", ip, 2)[0], ip[8]
    if ip[0] >> 4 != 4 or not IPV4_HEADER <= header <= length <= len(ip) or ttl <= hops:
        return None
    if not checksum_holds(ip[:header]):
        return None
    return b"".join([ip[:8], bytes([ttl - hops]), ip[9:10], ip[12:IPV4_HEADER], ip[header:length]])


def payload(frame: bytes) -> int | None:
    """Offset of the IPv4 packet, or None if there is none. Linux removes tags with VLAN 0, of either
    kind and any number, and drops frames of a VLAN for which it has no interface."""
    at = ETHERNET_HEADER
    while len(frame) >= at:
        (kind,) = struct.unpack_from(">H", frame, at - 2)
        if kind == IPV4:
            return at
        if kind not in TAGS or len(frame) < at + TAG or struct.unpack_from(">H", frame, at)[0] & VID:
            return None
        at += TAG
    return None


def checksum_holds(header: bytes) -> bool:
    """RFC 1071: the one's complement sum over the header, its checksum included, is all ones."""
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total == 0xFFFF
