# SPDX-License-Identifier: BSD-2-Clause
"""The multicast hash as a driver calculates it."""

import zlib


def ether_crc(octets: bytes) -> int:
    """The kernel's ether_crc(): CRC-32 of IEEE 802.3, most significant bit first, not inverted."""
    return int(f"{zlib.crc32(octets) ^ 0xFFFFFFFF:032b}"[::-1], 2)


def hash_bit(address: bytes) -> int:
    """The bit of the hash filter that accepts this group address."""
    return ether_crc(address) >> 26
