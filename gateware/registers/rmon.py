# SPDX-License-Identifier: BSD-2-Clause
"""Further counters of RFC 2819 (RMON) and IEEE 802.3's MAC groups: lengths and destinations."""

from functools import reduce
from operator  import or_

from migen import *

from litex.gen import *

from moderato.gateware.registers.table import RMON_RANGES

# Rmon ---------------------------------------------------------------------------------------------

def lengths(octets):
    """For each of RMON_RANGES, whether it contains this number of octets."""
    return [(octets >= first) & (octets <= last) if last else octets >= first for first, last in RMON_RANGES]


class Destination(LiteXModule):
    """The kind of destination of the frame that passes `endpoint`, from its second word on: a group address
    (`multicast`), or the broadcast address (`broadcast`)."""
    def __init__(self, endpoint):
        self.multicast = Signal()
        self.broadcast = Signal()

        # # #

        first  = Signal(reset=1)
        second = Signal()
        group  = Signal()
        self.sync += If(endpoint.valid & endpoint.ready,
            first.eq(endpoint.last),
            second.eq(first),
            If(first,
                group.eq(endpoint.data[0]),
                self.broadcast.eq(endpoint.data == 2**32 - 1),
            ),
            If(second,
                self.broadcast.eq(self.broadcast & (endpoint.data[:16] == 2**16 - 1)),
            ),
        )
        self.comb += self.multicast.eq(group & ~self.broadcast)


class Rmon(LiteXModule):
    """Counts frames of a Receive and of a Transmit: `counters` has pulses by name."""
    def __init__(self, receive, transmit):
        self.destination = to = Destination(transmit.source)
        self.counters = counters = {
            "RX_FRAGMENTS": receive.undersize & receive.damaged,
            "RX_JABBERS":   receive.oversize & receive.damaged,
            "RX_MULTICAST": receive.good & receive.filter.multicast & ~receive.filter.broadcast,
            "RX_BROADCAST": receive.good & receive.filter.broadcast,
            "TX_MULTICAST": transmit.sent & to.multicast,
            "TX_BROADCAST": transmit.sent & to.broadcast,
        }
        for direction, pulse, octets in (
                ("RX", reduce(or_, receive.fates), receive.octets), ("TX", transmit.sent, transmit.octets)):
            for (first, _), hit in zip(RMON_RANGES, lengths(octets)):
                counters[f"{direction}_OCTETS_{first}"] = pulse & hit
