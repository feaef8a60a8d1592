# SPDX-License-Identifier: BSD-2-Clause
"""From the MAC core to the Rx frame FIFO: pack, check, filter, keep or drop the frame whole."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from liteeth.common import eth_phy_description, eth_min_frame_length, eth_fcs_length

from moderato.gateware.frame.checksum  import OnesComplementSum
from moderato.gateware.frame.crc       import INIT, crc32_step, residue
from moderato.gateware.frame.pause     import ControlFrame
from moderato.gateware.frame.vlan      import VID_BITS, Membership, Tag
from moderato.gateware.receive.filter  import AddressFilter
from moderato.gateware.receive.merge   import Continuation
from moderato.gateware.receive.rss     import RSS
from moderato.gateware.receive.urgent  import Urgent
from moderato.gateware.registers.table import RX_OFFSET, URGENT_COMPARISONS

def unless(condition, *statements):
    """The statements where `condition`, if it is one, is 0."""
    return statements if condition is None else [If(~condition, *statements)]

# Receive ------------------------------------------------------------------------------------------

class Receive(LiteXModule):
    """Packs 32-bit words of the MAC core into 64-bit words that start RX_OFFSET bytes late.

    sink   frames from destination address to FCS; held back a few clocks between two frames.
    fifo   FrameFIFO with rx_frame, whose write side this module drives. The FCS goes in too, but counts
           for nothing.
    stamp  (with time stamps) the time at which the frame started whose first word is here (timestamp.py).
           With `stamping` it goes into the FIFO ahead of the frame.

    What the options add: masked comparisons make a frame urgent (urgent.py); it is summed (checksum.py);
    there are further addresses (filter.py); with `obey`, MAC control frames are for the MAC alone
    (pause.py), which `pauses` for so many `control.quanta`, whether `enable` lets frames in or not, so that
    a pause can be ended; a VLAN tag may be taken out, and with `select`, frames of VLANs that are not among
    `members` are dropped (vlan.py); each frame is for one of the queues (rss.py), if that takes frames;
    TCP segments that continue the frame before are marked (merge.py). Frames for the station's own address
    whose flow is known to `flows` (flows.py) are not for software, nor for a queue: they go into the flow FIFO.
    Words go into both FIFOs, and in the end one of them keeps the frame.

    One-clock pulses at the end of each frame that `enable` let in: `good` (with `octets`, FCS and tag
    included), or the cause of its loss: fcs_error, undersize, oversize, filtered, fifo_full; paused
    or unknown of MAC control; foreign of other VLANs. With them, `damaged`: its FCS is wrong, or the
    PHY said so.
    """
    def __init__(self, fifo, options, stamp=None, flows=None):
        assert RX_OFFSET == 2 # The packing below carries half a word.
        pause, vlan, rss, merge = options.pause, options.vlan, options.queues > 1, options.merge
        self.sink      = sink = stream.Endpoint(eth_phy_description(32))
        self.enable    = Signal()
        self.max_frame = Signal(14)
        self.filter    = AddressFilter(options.unicast, own=options.flows > 0)
        self.urgent    = Urgent(URGENT_COMPARISONS if options.urgent else 0)
        if pause:
            self.control = control = ControlFrame()
            self.obey    = Signal()
            self.pauses  = Signal()
            self.paused  = Signal()
            self.unknown = Signal()
        if vlan:
            self.tag     = tag = Tag()
            self.members = members = Membership()
            self.select  = Signal()
            self.foreign = Signal()
        if rss:
            self.rss = RSS()
        if merge:
            self.continuation = Continuation()

        # Results.
        self.good      = Signal()
        self.octets    = Signal(15 if vlan else 14)
        self.fcs_error = Signal()
        self.undersize = Signal()
        self.oversize  = Signal()
        self.filtered  = Signal()
        self.fifo_full = Signal()
        self.awake     = Signal()

        # # #

        # Octets in the current word: last_be marks the last octet, one-hot.
        # ------------------------------------------------------------------
        word_octets = Signal(3)
        lanes       = Signal(4)
        self.comb += [
            word_octets.eq(4),
            If(sink.last, Case(sink.last_be, {
                0b0001:    word_octets.eq(1),
                0b0010:    word_octets.eq(2),
                0b0100:    word_octets.eq(3),
                "default": word_octets.eq(4),
            })),
            Case(word_octets, {n: lanes.eq(2**n - 1) for n in range(1, 5)}),
        ]

        # Packing: `carry` is what the offset pushes into the next half word, `low` the lower half of
        # the 64-bit word in the making.
        # -------------------------------------------------------------------------------------------
        carry   = Signal(16)
        low     = Signal(32)
        upper   = Signal()           # The upper half is next.
        length  = Signal(15)         # Octets so far: a word more than MAX_FRAME at most.
        crc     = Signal(32, reset=INIT)
        zeros   = Signal(2)          # Octets of 0 that the CRC took behind the last one.
        error   = Signal()
        started = Signal()           # The first word has passed.
        wanted  = Signal()           # Enabled since the frame started.
        long    = Signal()
        self.comb += [
            long.eq(length > self.max_frame),
            fifo.data.eq(Cat(low, carry, sink.data[:16])),
        ]

        out      = tag.out if vlan else None # The word is of no use to others.
        self.fsm = fsm = FSM(reset_state="RECEIVE")
        fsm.act("RECEIVE",
            sink.ready.eq(1),
            If(sink.valid,
                # A frame that is too long already takes no more room.
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
            # What stays in carry then is of the FCS, which nobody reads.
            fifo.write.eq(upper & ~long),
            NextState("DECIDE"),
            *([If(flows.busy, NextState("LOOKUP"))] if flows else []),
        )
        self.damaged = damaged = Signal()
        self.comb += Case(zeros, {n: damaged.eq(error | (crc != residue(n))) for n in range(4)})
        octets = length + tag.octets if vlan else length # As they came.
        # Each frame has one fate: length first, because the FCS of a fragment says nothing.
        # -----------------------------------------------------------------------------------
        unwanted = ~wanted | ~self.enable
        forwarded = flows.hit & self.filter.own if flows else C(0)
        if rss:
            unwanted = unwanted | (~self.rss.taken & ~forwarded if flows else ~self.rss.taken)
        fate = If(unwanted,
            fifo.abort.eq(1)
        ).Elif(octets < eth_min_frame_length,
            fifo.abort.eq(1),
            self.undersize.eq(1)
        ).Elif(long,
            fifo.abort.eq(1),
            self.oversize.eq(1)
        ).Elif(damaged,
            fifo.abort.eq(1),
            self.fcs_error.eq(1)
        )
        if pause:
            ours = self.obey & control.control & (control.group | self.filter.unicast)
            self.comb += self.pauses.eq(fsm.ongoing("DECIDE") & ours & control.pause &
                (octets >= eth_min_frame_length) & ~long & ~damaged)
            fate = fate.Elif(ours,
                fifo.abort.eq(1),
                self.paused.eq(control.pause),
                self.unknown.eq(~control.pause)
            )
        fate = fate.Elif(~self.filter.accept,
            fifo.abort.eq(1),
            self.filtered.eq(1)
        )
        if vlan:
            fate = fate.Elif(self.select & tag.tagged & ~members.member & ~self.filter.promiscuous,
                fifo.abort.eq(1),
                self.foreign.eq(1)
            )
        if flows:
            fate = fate.Elif(forwarded,
                fifo.abort.eq(1),
                flows.fifo.commit.eq(1),
                self.good.eq(1)
            )
        fate = fate.Else(
            fifo.commit.eq(1),
            self.good.eq(fifo.accepted),
            self.fifo_full.eq(~fifo.accepted)
        )
        fsm.act("DECIDE",
            fate,
            NextState("RECEIVE"),
        )
        self.sync += If(~self.enable, wanted.eq(0))
        self.comb += [
            self.octets.eq(octets),
            fifo.param.length.eq(length - eth_fcs_length),
            fifo.param.multicast.eq(self.filter.multicast),
            fifo.param.broadcast.eq(self.filter.broadcast),
            fifo.param.urgent.eq(self.urgent.urgent),
            self.urgent.take.eq(sink.valid & sink.ready),
            self.urgent.first.eq(~started),
            self.urgent.data.eq(sink.data),
        ]
        if pause:
            self.comb += [
                control.take.eq(sink.valid & sink.ready),
                control.first.eq(~started),
                control.data.eq(sink.data),
            ]
        if vlan:
            self.comb += [
                tag.take.eq(sink.valid & sink.ready),
                tag.first.eq(~started),
                tag.data.eq(sink.data),
                members.vid.eq(tag.tci[:VID_BITS]),
                fifo.param.tagged.eq(tag.stripped),
                fifo.param.tci.eq(Mux(tag.stripped, tag.tci, 0)),
            ]

        if rss:
            self.comb += [
                self.rss.take.eq(sink.valid & sink.ready),
                self.rss.first.eq(~started),
                self.rss.data.eq(sink.data),
                fifo.param.queue.eq(self.rss.queue),
            ]
        if flows:
            fsm.act("LOOKUP", If(~flows.busy, NextState("DECIDE")))
            self.comb += [
                flows.take.eq(sink.valid & sink.ready & ~(out if vlan else 0)),
                flows.first.eq(~started),
                flows.data.eq(sink.data),
                flows.octets.eq(length),
                # Without the time stamp, which goes ahead of the first word.
                flows.fifo.write.eq(fifo.write & started),
                flows.fifo.data.eq(fifo.data),
                flows.fifo.param.length.eq(flows.length),
                flows.fifo.param.entry.eq(flows.entry),
                flows.fifo.abort.eq(fsm.ongoing("DECIDE") & ~flows.fifo.commit),
            ]
            if vlan:
                self.comb += [
                    flows.tagged.eq(tag.stripped),
                    flows.vid.eq(tag.tci[:VID_BITS]),
                ]
        if merge:
            self.comb += [
                self.continuation.take.eq(sink.valid & sink.ready),
                self.continuation.first.eq(~started),
                self.continuation.data.eq(sink.data),
                self.continuation.octets.eq(octets),
                self.continuation.decided.eq(fifo.commit | fifo.abort),
                self.continuation.kept.eq(fifo.accepted),
                fifo.param.continues.eq(self.continuation.continues),
            ]
        if merge and rss:
            self.comb += self.continuation.queue.eq(self.rss.queue)

        self.comb += self.awake.eq(sink.valid | ~fsm.ongoing("RECEIVE"))

        # Sum: a word late, for as many octets of a frame's last word as there are, so many of the word
        # before are not of the FCS. The sum is there when the frame's fate is decided.
        # ----------------------------------------------------------------------------------------------
        if options.rx_checksum:
            self.sum = total = OnesComplementSum(32)
            number   = Signal(13) # Of the current word.
            previous = Signal(32)
            self.comb += [
                number.eq(length[2:]),
                previous.eq(Cat(low[16:], carry)),
                total.add.eq(sink.valid & sink.ready),
                total.first.eq(~started),
                # Its octets are 12 to 15 when word 4 is here.
                [total.word[8*n:8*n + 8].eq(Mux(lanes[n] & (number > (4 if n < 2 else 3)),
                    previous[8*n:8*n + 8], 0)) for n in range(4)],
                fifo.param.sum.eq(total.sum),
            ]

        # Time stamp: in the clock of the first word, which writes none by itself.
        # ------------------------------------------------------------------------
        if options.timestamp:
            self.stamping = Signal()
            fsm.act("RECEIVE", If(sink.valid & ~started,
                NextValue(fifo.param.stamped, self.stamping),
                fifo.write.eq(self.stamping),
            ))
            self.comb += If(~started, fifo.data.eq(stamp))

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

        # What they count as.
        # -------------------
        self.counters = {
            "RX_FCS_ERRORS":  self.fcs_error,
            "RX_UNDERSIZE":   self.undersize,
            "RX_OVERSIZE":    self.oversize,
            "RX_FILTERED":    self.filtered,
            "RX_DROP_FIFO":   self.fifo_full,
            "RX_GOOD_FRAMES": self.good,
            "RX_GOOD_OCTETS": (self.good, self.octets),
        }
        self.fates = [self.good, self.fcs_error, self.filtered, self.fifo_full] # Of frames of valid length.
        if pause:
            self.counters |= {"RX_PAUSE_FRAMES": self.paused, "RX_CONTROL_UNKNOWN": self.unknown}
            self.fates    += [self.paused, self.unknown]
        if vlan:
            self.counters |= {"RX_VLAN_FILTERED": self.foreign}
            self.fates    += [self.foreign]
        self.options = options

    def connect_registers(self, regs, enable):
        """enable: of any of the queues."""
        options = self.options
        self.comb += [
            self.enable.eq(enable),
            self.max_frame.eq(regs.value["MAX_FRAME"]),
        ]
        self.filter.connect_registers(regs)
        self.urgent.connect_registers(regs)
        if options.pause:
            self.comb += self.obey.eq(regs.field("PAUSE", "RX"))
        if options.vlan:
            self.comb += [
                self.tag.strip.eq(regs.field("VLAN", "STRIP")),
                self.select.eq(regs.field("VLAN", "FILTER")),
            ]
            self.members.connect_registers(regs)
        if options.timestamp:
            self.comb += self.stamping.eq(regs.field("TIME_CTRL", "RX"))
        if options.queues > 1:
            self.rss.connect_registers(regs)
