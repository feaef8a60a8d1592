# SPDX-License-Identifier: BSD-2-Clause
"""The queue of a frame: the hash of Microsoft's specification, bit by bit, over scapy's fields."""

from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether

from moderato.gateware.registers.table import RSS_TYPES

# "Verifying the RSS Hash Calculation": the key, and (destination, source, their ports, hash of the
# addresses, hash with the ports).
KEY = bytes.fromhex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa")
VECTORS = [
    ("161.142.100.80", "66.9.149.187",   1766,  2794,  0x323e8fc2, 0x51ccc178),
    ("65.69.140.83",   "199.92.111.2",   4739,  14230, 0xd718262a, 0xc626b0ea),
    ("12.22.207.184",  "24.19.198.95",   38024, 12898, 0xd2d0a5de, 0x5c2b394a),
    ("209.142.163.6",  "38.27.205.30",   2217,  48228, 0x82989176, 0xafc7327f),
    ("202.188.127.2",  "153.39.163.191", 1303,  44251, 0x5d1809c5, 0x10e828a2),
    ("3ffe:2501:200:3::1", "3ffe:2501:200:1fff::7", 1766, 2794, 0x2cc18cd5, 0x40207d3d),
    ("ff02::1", "3ffe:501:8::260:97ff:fe40:efab", 4739, 14230, 0x0f0c461c, 0xdde51bbf),
    ("fe80::200:f8ff:fe21:67cf", "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 38024, 44251,
     0x4b61e985, 0x02d1feef),
]
ALL = 2**len(RSS_TYPES) - 1


def toeplitz(key, row):
    """The hash of a row of octets: the XOR of 32 bits of the key for each set bit, from that bit's
    position on."""
    window, total = int.from_bytes(key, "big"), 0
    for bit in range(8*len(row)):
        if row[bit // 8] >> 7 - bit % 8 & 1:
            total ^= window >> 8*len(key) - 32 - bit & 0xFFFFFFFF
    return total


def hashed(frame, types=ALL):
    """The hashed octets of a frame, possibly none."""
    def on(name):
        return types >> [*RSS_TYPES].index(name) & 1

    packet = Ether(frame).payload
    while isinstance(packet, (Dot1Q, Dot1AD)):
        packet = packet.payload
    if not isinstance(packet, (IP, IPv6)):
        return b""
    octets = bytes(packet)
    if isinstance(packet, IP):
        version, addresses, start, protocol = "IPV4", octets[12:20], 4*packet.ihl, packet.proto
        whole = packet.frag == 0 and not packet.flags.MF
    else:
        version, addresses, start, protocol, whole = "IPV6", octets[8:40], 40, packet.nh, True
    name = {6: "TCP", 17: "UDP"}.get(protocol)
    if name and whole and on(f"{name}_{version}"):
        return addresses + octets[start:start + 4]
    return addresses if on(version) else b""


def queue(frame, key, table, types=ALL):
    """The queue of a frame without FCS, with an indirection table of 128 queues."""
    row = hashed(frame, types)
    return table[toeplitz(key, row) & 127 if row else 0]
