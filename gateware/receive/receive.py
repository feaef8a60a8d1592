# SPDX-License-Identifier: BSD-2-Clause
"""From the MAC core to the Rx frame FIFO: pack, check, filter, keep or drop the frame whole."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from liteeth.common import eth_phy_description, eth_min_frame_length, eth_fcs_length

from moderato.gateware.frame.crc        import INIT, crc32_step, residue
from moderato.gateware.frame.observer   import Lanes, unless
from moderato.gateware.receive.features import Forwarded, MACControl, Stamping, Sum, VLAN
from moderato.gateware.receive.filter   import AddressFilter
from moderato.gateware.receive.merge    import Continuation
from moderato.gateware.receive.rss      import RSS
from moderato.gateware.receive.urgent   import Urgent
from moderato.gateware.registers.table  import RX_OFFSET, URGENT_COMPARISONS

# Receive ------------------------------------------------------------------------------------------

class Receive(LiteXModule):
    """Packs 32-bit words of the MAC core into 64-bit words that start RX_OFFSET bytes late.

    sink   frames from destination address to FCS; held back a few clocks between two frames.
    fifo   FrameFIFO with rx_frame, whose write side this module drives. It also takes the FCS, which its
           record does not count.
    stamp  (with time stamps) the start of the frame whose first word is here (timestamp.py).
    flows  (with a flow table) looks up frames for the other MAC of a pair (flows.py).

    One of these pulses at the end of each frame that `enable` let in: `good` (with `octets`, FCS and tag
    included), or the cause of its loss: fcs_error, undersize, oversize, filtered, fifo_full, or a feature's.
    `damaged` comes with them if the FCS is wrong or the PHY reported an error.
    """
    def __init__(self, fifo, options, stamp=None, flows=None):
        assert RX_OFFSET == 2 # The packing below carries half a word.
        self.fifo      = fifo
        self.sink      = sink = stream.Endpoint(eth_phy_description(32))
        self.enable    = Signal()
        self.max_frame = Signal(14)
        self.filter    = AddressFilter(options.unicast, own=options.flows > 0)
        self.urgent    = Urgent(URGENT_COMPARISONS if options.urgent else 0)
        self.control   = control  = MACControl() if options.pause else None
        self.tag       = tag      = VLAN() if options.vlan else None
        self.rss       = rss      = RSS() if options.queues > 1 else None
        self.merge     = merge    = Continuation() if options.merge else None
        self.sum       = total    = Sum() if options.rx_checksum else None
        self.stamping  = stamping = Stamping(stamp) if options.timestamp else None

        # Results.
        self.good      = Signal()
        self.octets    = Signal(15 if tag else 14)
        self.fcs_error = Signal()
        self.undersize = Signal()
        self.oversize  = Signal()
        self.filtered  = Signal()
        self.fifo_full = Signal()
        self.awake     = Signal()

        # # #

        self.lanes = Lanes(sink)
        word_octets, lanes = self.lanes.word_octets, self.lanes.lanes
        # Packing: `carry` is what the offset pushes into the next half word, `low` the lower half of
        # the 64-bit word in the making.
        # -------------------------------------------------------------------------------------------
        carry   = Signal(16)
        low     = Signal(32)
        upper   = Signal()           # The upper half is next.
        length  = Signal(15)         # Octets so far: a word more than MAX_FRAME at most.
        crc     = Signal(32, reset=INIT)
        zeros   = Signal(2)          # Octets of 0 that the CRC took after the last one.
        error   = Signal()
        started = Signal()           # The first word has passed.
        wanted  = Signal()           # Enabled since the frame started.
        long    = Signal()
        self.comb += long.eq(length > self.max_frame), fifo.data.eq(Cat(low, carry, sink.data[:16]))

        out      = tag.out if tag else None # Other stages do not use this word.
        self.fsm = fsm = FSM(reset_state="RECEIVE")
        fsm.act("RECEIVE",
            sink.ready.eq(1),
            If(sink.valid,
                # A frame that is already too long takes no more room.
                *unless(out, fifo.write.eq(upper & ~long)),
                If(sink.last, NextState("FLUSH")),
            ),
        )
        # Not as NextValue, which takes a LUT for each bit.
        self.sync += [
            If(sink.valid & sink.ready,
                *unless(out,
                    carry.eq(sink.data[16:]),
                    low.eq(Cat(carry, sink.data[:16])),
                    upper.eq(~upper),
                ),
                *unless(out, If(~long, length.eq(length + word_octets))),
                started.eq(1),
                error.eq(error | ((sink.error & lanes) != 0)),
                If(~started, wanted.eq(self.enable)),
                crc.eq(crc32_step(crc, Cat(*[Mux(lanes[n], sink.data[8*n:8*n + 8], 0) for n in range(4)]))),
                zeros.eq(4 - word_octets),
            ),
            If(fsm.ongoing("DECIDE"),
                length.eq(0),
                upper.eq(0),
                carry.eq(0),
                crc.eq(INIT),
                error.eq(0),
                started.eq(0),
            ),
        ]
        fsm.act("FLUSH",
            # The contents of carry then belong to the FCS, which is not read.
            fifo.write.eq(upper & ~long),
            NextState("DECIDE"),
            *([If(flows.busy, NextState("LOOKUP"))] if flows else []),
        )
        fsm.act("DECIDE", NextState("RECEIVE"))
        self.damaged = damaged = Signal()
        self.comb += Case(zeros, {n: damaged.eq(error | (crc != residue(n))) for n in range(4)})
        octets    = length + tag.octets if tag else length # As received, with a removed tag.
        forwarded = flows.hit & self.filter.own if flows else C(0)

        # For features. `previous` is the word before the current one.
        self.length, self.started, self.long, self.previous = length, started, long, Cat(low[16:], carry)
        self.frame_octets, self.forwarded = octets, forwarded

        # Each frame has one fate: length first, because the FCS of a fragment has no meaning.
        # ------------------------------------------------------------------------------------
        unwanted = ~wanted | ~self.enable
        if rss:
            unwanted = unwanted | (~rss.taken & ~forwarded if flows else ~rss.taken)
        self.fate = If(unwanted, fifo.abort.eq(1))
        self.decide(octets < eth_min_frame_length, self.undersize.eq(1))
        self.decide(long, self.oversize.eq(1))
        self.decide(damaged, self.fcs_error.eq(1))
        if control:
            control.join(self)
        self.decide(~self.filter.accept, self.filtered.eq(1))
        for feature in (tag, rss, Forwarded(flows) if flows else None, merge, total, stamping):
            if feature:
                feature.join(self)
        fsm.act("DECIDE", self.fate.Else(
            fifo.commit.eq(1),
            self.good.eq(fifo.accepted),
            self.fifo_full.eq(~fifo.accepted)
        ))
        self.sync += If(~self.enable, wanted.eq(0))
        self.urgent.observe(sink, ~started)
        self.comb += [
            self.octets.eq(octets),
            fifo.param.length.eq(length - eth_fcs_length),
            fifo.param.multicast.eq(self.filter.multicast),
            fifo.param.broadcast.eq(self.filter.broadcast),
            fifo.param.urgent.eq(self.urgent.urgent),
            self.awake.eq(sink.valid | ~fsm.ongoing("RECEIVE")),
        ]

        # Destination: the first word and the lower half of the second.
        # -------------------------------------------------------------
        second = Signal()
        first  = Signal(32)
        self.sync += If(sink.valid & sink.ready,
            second.eq(~started),
            If(~started, first.eq(sink.data)),
        )
        self.comb += [
            self.filter.start.eq(sink.valid & sink.ready & started & second),
            self.filter.destination.eq(Cat(first, sink.data[:16])),
            self.filter.crc.eq(crc),
        ]

        # Counters, and the fates of frames of valid length.
        # --------------------------------------------------
        self.counters = {
            "RX_FCS_ERRORS": self.fcs_error, "RX_UNDERSIZE": self.undersize, "RX_OVERSIZE": self.oversize,
            "RX_FILTERED": self.filtered, "RX_DROP_FIFO": self.fifo_full, "RX_GOOD_FRAMES": self.good,
            "RX_GOOD_OCTETS": (self.good, self.octets),
        }
        self.fates = [self.good, self.fcs_error, self.filtered, self.fifo_full]
        for part in (control, tag):
            if part:
                self.counters |= part.counters
                self.fates    += part.fates

    def decide(self, condition, *results):
        """A branch of the fate: frames for which no branch before it decided are dropped on `condition`."""
        self.fate = self.fate.Elif(condition, self.fifo.abort.eq(1), *results)

    def connect_registers(self, regs, enable):
        """enable: of any of the queues."""
        self.comb += self.enable.eq(enable), self.max_frame.eq(regs.value["MAX_FRAME"])
        for part in (self.filter, self.urgent, self.control, self.tag, self.stamping, self.rss):
            if part:
                part.connect_registers(regs)
