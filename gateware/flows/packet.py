# SPDX-License-Identifier: BSD-2-Clause
"""Parses received frames: whether the hardware may forward a packet, and the key of its flow."""

from migen import *

from litex.gen import *

from liteeth.common import eth_fcs_length

from moderato.gateware.frame.checksum import OnesComplementSum
from moderato.gateware.frame.crc      import INIT, crc32_step
from moderato.gateware.frame.vlan     import VID_BITS

ETHERNET_OCTETS = 14 # Octets of the Ethernet header.
TCP, UDP = 6, 17
# Octets of the shortest packets: their headers.
LEAST = {TCP: 40, UDP: 28}
# FIN, SYN, RST: software handles the start and the end of a connection.
FLAGS = 0b111

# Flow Key -----------------------------------------------------------------------------------------

def flow_key():
    """The fields that identify a flow, as in the registers from FLOW_SOURCE on."""
    return [("source", 32), ("destination", 32), ("ports", 32), ("kind", 16)]

# Packet -------------------------------------------------------------------------------------------

class Packet(LiteXModule):
    """Parses the words of a frame without its VLAN tag: `data` passes in each clock with `take`, as the
    first word of a frame with `first`.

    tagged, vid  of the removed tag, from the word after it on.
    mtu          octets of the longest packet.
    octets       of the frame so far, FCS included; all of them when its fate is decided.

    `ready` pulses in the clock after the last word of `key`. From then on, `key` and its `hash` are valid until the
    next frame's. Three clocks after a frame of at least 64 octets, `plain` is set if it is a whole IPv4 packet of
    UDP or TCP, of `total` octets, that the hardware may forward.
    """
    def __init__(self):
        self.take   = Signal()
        self.first  = Signal()
        self.data   = Signal(32)
        self.tagged = Signal()
        self.vid    = Signal(VID_BITS)
        self.mtu    = Signal(14)
        self.octets = Signal(15)
        self.key    = key = Record(flow_key())
        self.hash   = Signal(32)
        self.ready  = Signal()
        self.plain  = Signal()
        self.total  = Signal(16)

        # # #

        passed = Signal(max=14)  # Words of this frame, as far as they count.
        place  = Signal(max=14)  # Of `data`.
        before = Signal(16)      # Octets that came with the word before.
        word   = Signal(32)      # The IP header starts in the middle of a word.
        row    = Signal(32)      # The word to be hashed.
        crc    = Signal(32)
        good   = Signal()        # So far.
        tcp    = Signal()
        octet  = [self.data[8*n:8*n + 8] for n in range(4)]
        self.comb += [
            place.eq(Mux(self.first, 0, passed)),
            word.eq(Cat(before, self.data[:16])),
            key.kind.eq(Cat(tcp, self.tagged, C(0, 2), Mux(self.tagged, self.vid, 0))),
            row.eq(Mux(place == 6, key.kind, word)),
            self.hash.eq(Cat(*reversed(list(crc)))), # In the bit order of crc32_le().
        ]

        # Conditions, where their octets pass.
        # ------------------------------------
        fits = Signal()
        self.comb += [
            fits.eq(1),
            Case(place, {
                # EtherType; version 4, and no options.
                3:  fits.eq((self.data[:16] == 0x0008) & (octet[2] == 0x45)),
                # No fragment, TTL, protocol.
                5:  fits.eq((octet[0] & 0b10111111 == 0) & (octet[1] == 0) & (octet[2] > 1) &
                        ((octet[3] == TCP) | (octet[3] == UDP))),
                11: fits.eq(~tcp | (octet[3] & FLAGS == 0)),
            }),
        ]
        self.sync += If(self.take,
            before.eq(self.data[16:]),
            If(place != 13, passed.eq(place + 1)),
            good.eq((good | self.first) & fits),
            Case(place, {
                4: self.total.eq(Cat(octet[1], octet[0])),
                5: tcp.eq(octet[3] == TCP),
                7: key.source.eq(word),
                8: key.destination.eq(word),
                9: key.ports.eq(word),
            }),
            If(self.first,
                crc.eq(INIT)
            ).Elif((place >= 6) & (place <= 9),
                crc.eq(crc32_step(crc, row))
            ),
        )
        self.sync += self.ready.eq(self.take & (place == 9))

        # The header's checksum: the sum of the whole header is all ones.
        # -------------------------------------------------------------
        self.sum = total = OnesComplementSum(32)
        self.comb += [
            total.add.eq(self.take & (place >= 3) & (place <= 8)),
            total.first.eq(place == 3),
            total.word.eq(Cat(
                Mux(place == 3, 0, self.data[:16]),
                Mux(place == 8, 0, self.data[16:]),
            )),
        ]

        # Lengths: octets after the packet are padding.
        # ----------------------------------------------
        shortest, longest = Signal(), Signal()
        self.sync += [
            shortest.eq(self.total >= Mux(tcp, LEAST[TCP], LEAST[UDP])),
            longest.eq(self.total <= self.mtu),
        ]
        self.comb += self.plain.eq(good & shortest & longest & (total.sum == 2**16 - 1) &
            (self.total + ETHERNET_OCTETS + eth_fcs_length <= self.octets))
