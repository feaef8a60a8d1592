# SPDX-License-Identifier: BSD-2-Clause
"""Destination address filter: station address, broadcast, multicast hash, all."""

from functools import reduce
from operator  import xor

from migen import *

from litex.gen import *

from liteeth.mac.crc import LiteEthMACCRC32

# CRC ----------------------------------------------------------------------------------------------

def crc32_step(crc, octet):
    """The CRC-32 of IEEE 802.3 after one more octet.

    crc, octet: lists of 32 and 8 one-bit values, lowest first. Returns an expression, not a module:
    inside an If it costs a simulator nothing while idle.
    """
    polynomial = LiteEthMACCRC32.polynom
    bits = [[bit] for bit in crc]
    for n in range(8):
        feedback = bits.pop() + [octet[n]]
        bits = [feedback] + [bit + (feedback if (polynomial >> (i + 1)) & 1 else [])
            for i, bit in enumerate(bits)]
    return Cat(*[_xor(terms) for terms in bits])


def _xor(terms):
    """XOR of the terms (the same objects where they are equal); those that occur twice cancel."""
    odd = [t for i, t in enumerate(terms)
        if sum(t is u for u in terms) % 2 and not any(t is u for u in terms[:i])]
    return reduce(xor, odd)

# Filter -------------------------------------------------------------------------------------------

class AddressFilter(LiteXModule):
    """Decides on a destination address.

    `start` presents `destination` (first octet on the wire in bits 7:0); six clocks later `accept`
    holds until the next start. `multicast` (group address, broadcast too) and `broadcast` describe
    the destination.
    """
    def __init__(self):
        # Settings.
        self.station     = Signal(48)
        self.hash        = Signal(64)
        self.promiscuous = Signal()
        self.allmulti    = Signal()

        # Request.
        self.start       = Signal()
        self.destination = Signal(48)

        # Verdict.
        self.accept    = Signal()
        self.multicast = Signal()
        self.broadcast = Signal()

        # # #

        # Hash of the destination, an octet a clock: ether_crc() of the kernel.
        # ---------------------------------------------------------------------
        octets = Signal(48)
        count  = Signal(max=7)
        crc    = Signal(32)
        self.sync += [
            If(count != 0,
                count.eq(count - 1),
                octets.eq(octets[8:]),
                crc.eq(crc32_step([crc[i] for i in range(32)], [octets[i] for i in range(8)])),
            ),
            If(self.start,
                count.eq(6),
                octets.eq(self.destination),
                crc.eq(2**32 - 1),
            ),
        ]

        # Comparisons.
        # ------------
        unicast  = Signal()
        hash_hit = Signal()
        self.sync += If(self.start,
            unicast.eq(self.destination == self.station),
            self.multicast.eq(self.destination[0]),
            self.broadcast.eq(self.destination == 2**48 - 1),
        )
        self.comb += [
            hash_hit.eq((self.hash >> crc[26:32]) & 1),
            self.accept.eq(
                self.promiscuous |
                unicast          |
                self.broadcast   |
                (self.multicast & (self.allmulti | hash_hit))
            ),
        ]
