# SPDX-License-Identifier: BSD-2-Clause
"""Destination address filter: station address, further ones, broadcast, multicast hash, all."""

from functools import reduce
from operator  import or_

from migen import *

from litex.gen import *

from moderato.gateware.frame.crc import crc32_step

# Filter -------------------------------------------------------------------------------------------

class Further:
    """A further `address` of this station, if it is `on`."""
    def __init__(self):
        self.on      = Signal()
        self.address = Signal(48)


class AddressFilter(LiteXModule):
    """Decides on a destination address.

    further  number of further exact addresses.
    own      adds a result `own`: the destination is the station's own address.

    `start` presents `destination` (first octet on the wire in bits 7:0) and `crc`, the CRC register after its first
    four octets. From the next clock until the next start, these are valid: `accept`, `multicast` (group address,
    including broadcast), `broadcast`, and `unicast` (an address of this station).
    """
    def __init__(self, further=0, own=False):
        # Settings.
        self.station     = Signal(48)
        self.further     = [Further() for _ in range(further)]
        self.hash        = Signal(64)
        self.promiscuous = Signal()
        self.allmulti    = Signal()

        # Request.
        self.start       = Signal()
        self.destination = Signal(48)
        self.crc         = Signal(32)

        # Verdict.
        self.accept    = Signal()
        self.multicast = Signal()
        self.broadcast = Signal()

        # # #

        # Hash of the destination: ether_crc() of the kernel.
        # ---------------------------------------------------
        crc    = Signal(32)
        hashed = Signal(6)
        self.comb += crc.eq(crc32_step(self.crc, self.destination[32:]))
        self.sync += If(self.start, hashed.eq(crc[26:32]))

        # Comparisons.
        # ------------
        self.unicast = Signal()
        hash_hit     = Signal()
        self.sync += If(self.start,
            self.unicast.eq(reduce(or_, [other.on & (self.destination == other.address)
                for other in self.further], self.destination == self.station)),
            self.multicast.eq(self.destination[0]),
            self.broadcast.eq(self.destination == 2**48 - 1),
        )
        if own:
            self.own = Signal() if further else self.unicast
            if further:
                self.sync += If(self.start, self.own.eq(self.destination == self.station))
        self.comb += [
            hash_hit.eq((self.hash >> hashed) & 1),
            self.accept.eq(
                self.promiscuous |
                self.unicast     |
                self.broadcast   |
                (self.multicast & (self.allmulti | hash_hit))
            ),
        ]

    def connect_registers(self, regs):
        value = regs.value
        self.comb += [
            self.station.eq(Cat(value["MAC_LOW"], value["MAC_HIGH"])),
            self.hash.eq(Cat(value["HASH_LOW"], value["HASH_HIGH"])),
            self.promiscuous.eq(regs.field("CTRL", "PROMISCUOUS")),
            self.allmulti.eq(regs.field("CTRL", "ALLMULTI")),
        ]
        for n, further in enumerate(self.further):
            self.comb += [
                further.on.eq(regs.field(f"UNICAST_HIGH_{n}", "ON")),
                further.address.eq(Cat(value[f"UNICAST_LOW_{n}"], regs.field(f"UNICAST_HIGH_{n}", "OCTETS"))),
            ]
