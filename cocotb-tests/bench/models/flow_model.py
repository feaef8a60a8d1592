# SPDX-License-Identifier: BSD-2-Clause
"""Flows as software hands them over, and a model of a router in which scapy rebuilds each frame."""

import ipaddress
import zlib
from dataclasses import dataclass, field

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Dot1Q, Ether

from moderato.gateware.registers.table import FLOW_WAYS


def words(octets):
    """Words of four octets, the first one in bits 7:0."""
    return [int.from_bytes(octets[at:at + 4], "little") for at in range(0, len(octets), 4)]


def ones_complement(*numbers):
    total = sum(numbers)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def pairs(octets):
    """Pairs of octets in the order of the registers' bits."""
    return [int.from_bytes(octets[at:at + 2], "little") for at in range(0, len(octets), 2)]


@dataclass(frozen=True)
class Ends:
    """Addresses and ports of both ends of a packet."""
    source:      str
    destination: str
    sport:       int
    dport:       int

    @property
    def addresses(self):
        return ipaddress.ip_address(self.source).packed + ipaddress.ip_address(self.destination).packed

    @property
    def ports(self):
        return self.sport.to_bytes(2, "big") + self.dport.to_bytes(2, "big")


@dataclass(frozen=True)
class Flow:
    """kind: scapy's TCP or UDP. vid: VLAN of the removed tag. tci: of the inserted tag."""
    kind:     type
    ends:     Ends
    stations: bytes                   # destination and source address of sent frames
    new:      Ends | None = None      # addresses and ports then
    vid:      int | None = None
    tci:      int | None = None
    entry:    int | None = field(default=None, compare=False)

    @property
    def key(self):
        """Contents of FLOW_KIND, FLOW_SOURCE, FLOW_DESTINATION, FLOW_PORTS."""
        kind = int(self.kind is TCP) | (0 if self.vid is None else 2 | self.vid << 4)
        return [kind, *words(self.ends.addresses + self.ends.ports)]

    def places(self, order):
        """The entries in which the flow may be."""
        key = b"".join(word.to_bytes(4, "little") for word in self.key)
        crc = zlib.crc32(key) ^ 0xFFFFFFFF
        bits = order - (FLOW_WAYS - 1).bit_length()
        return [way << bits | crc >> way*bits & (1 << bits) - 1 for way in range(FLOW_WAYS)]

    def registers(self, nat, tags):
        """The registers that software writes: names and values."""
        kind, source, destination, ports = self.key
        values = {"FLOW_KIND": kind, "FLOW_SOURCE": source, "FLOW_DESTINATION": destination,
                  "FLOW_PORTS": ports}
        values |= {f"FLOW_MAC_{n}": word for n, word in enumerate(words(self.stations))}
        if tags:
            values["FLOW_TAG"] = 0 if self.tci is None else self.tci | 1 << 16
        if nat:
            old, new = self.ends, self.new or self.ends
            inverse = [number ^ 0xFFFF for number in pairs(old.addresses)]
            network = ones_complement(*inverse, *pairs(new.addresses), 0xFFFE)
            transport = ones_complement(*inverse, *pairs(new.addresses), *pairs(new.ports),
                                        *[number ^ 0xFFFF for number in pairs(old.ports)])
            values |= dict(zip(("FLOW_NEW_SOURCE", "FLOW_NEW_DESTINATION", "FLOW_NEW_PORTS"),
                               words(new.addresses + new.ports)))
            values["FLOW_SUMS"] = network | transport << 16
        return values

    def forwarded(self, frame):
        """The sent frame, without FCS. The received one has lost its tag. Correct checksums of TCP
        and UDP are correct again."""
        packet = Ether(frame)
        total = packet[IP].len
        packet = Ether(frame[:14 + total])  # without padding
        packet.dst, packet.src = (self.stations[at:at + 6].hex(":") for at in (0, 6))
        packet[IP].ttl -= 1
        del packet[IP].chksum
        if self.new:
            packet[IP].src, packet[IP].dst = self.new.source, self.new.destination
            packet[self.kind].sport, packet[self.kind].dport = self.new.sport, self.new.dport
            if not (self.kind is UDP and packet[UDP].chksum == 0):
                del packet[self.kind].chksum
        if self.tci is not None:
            inner = packet.payload
            packet.remove_payload()
            packet /= Dot1Q(prio=self.tci >> 13, dei=self.tci >> 12 & 1, vlan=self.tci & 0xFFF,
                            type=packet.type) / inner
            packet.type = 0x8100
        return bytes(packet).ljust(60, b"\0")
