# SPDX-License-Identifier: BSD-2-Clause
"""Maps a conversation between any two stations to the bench's two testers, for `replay --rewrite`.

Frames of the first station enter at port 0, frames of the second one at port 1. Checksums are updated by
the difference of the addresses (RFC 1624), so a wrong checksum stays wrong by the same amount. Captures
contain two kinds of wrong checksums: checksums that a host leaves to its NIC, and checksums of first
fragments, which cover all fragments.
"""

import struct
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from ..run.stations import ROUTER, TESTER
from .pcap import Frame
from .router import ETHERNET_HEADER, IPV4, IPV4_HEADER, TAGS, VID, payload

LENGTH, FRAGMENT, PROTOCOL, CHECKSUM, ADDRESSES = 2, 6, 9, 10, 12  # offsets in the IPv4 header
OFFSET = 0x1FFF  # mask of the fragment's offset, without the flags
ICMP, TCP, UDP, DCCP, UDP_LITE = 1, 6, 17, 33, 136
SUMMED = {TCP: 16, UDP: 6, DCCP: 6, UDP_LITE: 6}  # offsets of the checksums that cover the addresses
ICMP_ERRORS = {3, 4, 5, 11, 12}  # types that quote the header of the packet that failed (RFC 792)
KINDS = {0x0806: "ARP", 0x86DD: "IPv6"}  # by EtherType

Ends = tuple[bytes, bytes]  # two IPv4 addresses


@dataclass
class Rewritten:
    """The frames to play, and the capture's stations."""

    ends: tuple[str, str]  # the capture's addresses, in the order of the bench's ports
    entered: list[list[Frame]] = field(default_factory=lambda: [[], []])  # by port
    left_out: Counter = field(default_factory=Counter)  # number of frames that cannot be mapped, by kind
    quoting: int = 0  # ICMP errors: the header that they quote keeps the capture's addresses


def rewrite(captures: Sequence[Sequence[Frame]]) -> Rewritten | None:
    """Rewrite captures, one for each port. If the second one is empty, the first has the frames of both
    stations. None if no two stations exchange IPv4."""
    ends = _ends(captures)
    if not ends:
        return None
    first, other = (str(IPv4Address(end)) for end in ends)
    made = Rewritten((first, other))
    for capture, frames in enumerate(captures):
        for frame in frames:
            between = _between(frame)
            if between not in (ends, _back(ends)):
                made.left_out[_kind(frame)] += 1
                continue
            port = ends.index(between[0])
            if all(captures) and port != capture:  # a frame that the router sent
                made.left_out[f"that enter at port {port}"] += 1
                continue
            made.quoting += _quotes(frame)
            made.entered[port].append(_mapped(frame, port))
    return made


def _ends(captures: Sequence[Sequence[Frame]]) -> Ends | None:
    """The two stations with the most frames between them, the station of port 0 first. With one capture,
    the station that sends first. With two, the order in which more frames match their capture's port."""
    counts = [Counter(filter(None, map(_between, frames))) for frames in captures]
    together = sum(
        (Counter({min(ends, _back(ends)): count}) for each in counts for ends, count in each.items()),
        Counter(),
    )
    if not together:
        return None
    ((pair, _),) = together.most_common(1)
    ways = [pair, _back(pair)]
    if all(captures):
        return max(ways, key=lambda way: counts[0][way] + counts[1][_back(way)])
    return next(ends for ends in counts[0] if ends in ways)


def _back(ends: Ends) -> Ends:
    return ends[1], ends[0]


def _between(frame: Frame) -> Ends | None:
    """Source and destination of an IPv4 unicast frame, else None."""
    start = _packet(frame)
    if start is None:
        return None
    source, destination = struct.unpack_from("4s4s", frame.octets, start + ADDRESSES)
    stations = all(
        not (each.is_multicast or each.is_reserved or each.is_unspecified)
        for each in (IPv4Address(source), IPv4Address(destination))
    )
    return (source, destination) if stations and source != destination else None


def _packet(frame: Frame) -> int | None:
    """Offset of the IPv4 packet if its header is whole, else None."""
    start = payload(frame.octets)
    if start is None or len(frame.octets) < start + IPV4_HEADER:
        return None
    first = frame.octets[start]
    header = (first & 0xF) * 4
    whole = first >> 4 == 4 and IPV4_HEADER <= header <= len(frame.octets) - start
    return start if whole else None


def _kind(frame: Frame) -> str:
    """The kind of a frame, for messages."""
    if between := _between(frame):
        return "IPv4 between {} and {}".format(*sorted(map(IPv4Address, between)))
    (kind,) = struct.unpack_from(">H", frame.octets, ETHERNET_HEADER - 2)
    if kind in TAGS and len(frame.octets) >= ETHERNET_HEADER + 2:
        vlan = struct.unpack_from(">H", frame.octets, ETHERNET_HEADER)[0] & VID
        return f"of VLAN {vlan}" if vlan else "with a priority tag, no IPv4"
    if kind == IPV4:
        return "IPv4 to no station" if _packet(frame) else "IPv4 with a damaged header"
    return KINDS.get(kind, f"of EtherType {kind:#06x}" if kind >= 0x600 else "IEEE 802.2")


def _transport(frame: Frame) -> tuple[int, int] | None:
    """Protocol and offset of the IPv4 payload. None if there is none, and for later fragments."""
    start = _packet(frame)
    if start is None:
        return None
    (fragment,) = struct.unpack_from(">H", frame.octets, start + FRAGMENT)
    if fragment & OFFSET:
        return None
    return frame.octets[start + PROTOCOL], start + (frame.octets[start] & 0xF) * 4


def _quotes(frame: Frame) -> bool:
    match _transport(frame):
        case (protocol, at) if protocol == ICMP and at < len(frame.octets):
            return frame.octets[at] in ICMP_ERRORS
    return False


def _mapped(frame: Frame, port: int) -> Frame:
    """The frame as from the tester at `port` to the tester at the other port, through the router."""
    octets, start = bytearray(frame.octets), _packet(frame)
    assert start is not None, "rewrite() maps IPv4 packets only"
    octets[:12] = _mac(ROUTER[port].mac) + _mac(TESTER[port].mac)
    addresses = slice(start + ADDRESSES, start + IPV4_HEADER)
    before = bytes(octets[addresses])
    after = b"".join(IPv4Address(TESTER[each].ipv4).packed for each in (port, 1 - port))
    octets[addresses] = after
    sums = [start + CHECKSUM]
    match _transport(frame):
        case (protocol, at) if protocol in SUMMED:
            end = start + struct.unpack_from(">H", octets, start + LENGTH)[0]
            place = at + SUMMED[protocol]
            without = protocol == UDP and octets[place : place + 2] == b"\0\0"  # no checksum (RFC 768)
            if place + 2 <= min(end, len(octets)) and not without:
                sums.append(place)
    for place in sums:
        value = changed(struct.unpack_from(">H", octets, place)[0], before, after)
        if place != sums[0] and octets[start + PROTOCOL] == UDP:
            value = value or 0xFFFF
        struct.pack_into(">H", octets, place, value)
    fcs = frame.fcs
    if fcs:  # CRC is linear: the FCS changes by the CRC of the difference of the octets
        fcs = struct.pack(
            "<I", struct.unpack("<I", fcs)[0] ^ zlib.crc32(frame.octets) ^ zlib.crc32(octets)
        )
    return Frame(frame.nanoseconds, bytes(octets), fcs)


def changed(checksum: int, before: bytes, after: bytes) -> int:
    """RFC 1624, equation 3: the checksum after some of the words that it covers have changed."""
    words = f">{len(before) // 2}H"
    total = (~checksum & 0xFFFF) + sum(~word & 0xFFFF for word in struct.unpack(words, before))
    total += sum(struct.unpack(words, after))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _mac(address: str) -> bytes:
    return bytes.fromhex(address.replace(":", ""))
