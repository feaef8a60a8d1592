# SPDX-License-Identifier: BSD-2-Clause
"""Ethernet frames with ARP, IPv4, ICMP and UDP, as octets without the FCS."""

import socket
import struct
from dataclasses import dataclass

ARP, IPV4 = 0x0806, 0x0800
ICMP, UDP = 1, 17
BROADCAST = "ff:ff:ff:ff:ff:ff"
SHORTEST = 60  # octets; a NIC pads shorter ones
REQUEST, REPLY = 1, 2
ECHO_REPLY, ECHO = 0, 8


@dataclass(frozen=True)
class Arp:
    """operation: REQUEST or REPLY."""

    operation: int
    source_mac: str
    source: str
    target: str


@dataclass(frozen=True)
class Packet:
    """An IPv4 packet; `payload` follows its header."""

    source_mac: str
    source: str
    target: str
    protocol: int
    ttl: int
    payload: bytes

    @property
    def ports(self) -> tuple[int, int]:
        """UDP's, of source and destination."""
        source, target = struct.unpack_from("!HH", self.payload)
        return source, target

    @property
    def data(self) -> bytes:
        """UDP's payload."""
        return self.payload[8 : struct.unpack_from("!H", self.payload, 4)[0]]


def octets(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))


def address(octets_: bytes) -> str:
    return octets_.hex(":")


def checksum(data: bytes) -> int:
    """RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ethernet(target: str, source: str, kind: int, payload: bytes) -> bytes:
    return (octets(target) + octets(source) + struct.pack("!H", kind) + payload).ljust(SHORTEST, b"\0")


def arp(operation: int, source_mac: str, source: str, target_mac: str, target: str) -> bytes:
    """target_mac: BROADCAST for a request."""
    known = octets(target_mac) if operation == REPLY else bytes(6)
    payload = struct.pack(
        "!HHBBH6s4s6s4s",
        1,
        IPV4,
        6,
        4,
        operation,
        octets(source_mac),
        socket.inet_aton(source),
        known,
        socket.inet_aton(target),
    )
    return ethernet(target_mac, source_mac, ARP, payload)


def ipv4(macs: tuple[str, str], addresses: tuple[str, str], protocol: int, payload: bytes) -> bytes:
    """macs and addresses: of the target, then of the source."""
    target, source = map(socket.inet_aton, addresses)
    header = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, protocol, 0, source, target
    )
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    return ethernet(*macs, IPV4, header + payload)


def udp(macs: tuple[str, str], addresses: tuple[str, str], ports: tuple[int, int], data: bytes) -> bytes:
    """Each pair: of the target, then of the source."""
    head = struct.pack("!HHH", ports[1], ports[0], 8 + len(data))
    target, source = map(socket.inet_aton, addresses)
    pseudo = source + target + struct.pack("!BBH", 0, UDP, 8 + len(data))
    total = checksum(pseudo + head + b"\0\0" + data) or 0xFFFF
    return ipv4(macs, addresses, UDP, head + struct.pack("!H", total) + data)


def echo(macs: tuple[str, str], addresses: tuple[str, str], number: int, data: bytes) -> bytes:
    """An ICMP echo request."""
    head = struct.pack("!BBHHH", ECHO, 0, 0, 0x6D6F, number)
    total = checksum(head + data)
    return ipv4(macs, addresses, ICMP, head[:2] + struct.pack("!H", total) + head[4:] + data)


def parse(frame: bytes) -> Arp | Packet | None:
    """None for anything else, and for damaged headers."""
    kind = int.from_bytes(frame[12:14], "big")
    if kind == ARP and len(frame) >= 42:
        operation, source_mac, source, _, target = struct.unpack_from("!H6s4s6s4s", frame, 20)
        return Arp(operation, address(source_mac), socket.inet_ntoa(source), socket.inet_ntoa(target))
    if kind != IPV4 or len(frame) < 34 or frame[14] != 0x45 or checksum(frame[14:34]):
        return None
    length = int.from_bytes(frame[16:18], "big")
    source, target = socket.inet_ntoa(frame[26:30]), socket.inet_ntoa(frame[30:34])
    payload = frame[34 : 14 + length]
    return Packet(address(frame[6:12]), source, target, frame[23], frame[22], payload)
