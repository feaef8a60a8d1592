# SPDX-License-Identifier: BSD-2-Clause
"""The options of Receive: each one's observer, its branch of the frame's fate, its fields of the record. Receive
calls join() with itself (receive/rss.py and receive/merge.py have one, too).
"""

from migen import *

from litex.gen import *

from liteeth.common import eth_min_frame_length

from moderato.gateware.frame.checksum import OnesComplementSum
from moderato.gateware.frame.pause    import ControlFrame
from moderato.gateware.frame.vlan     import VID_BITS, Membership, Tag

# MAC Control --------------------------------------------------------------------------------------

class MACControl(ControlFrame):
    """With `obey`, MAC control frames do not reach software.

    pauses   pulses when the MAC has to pause for `quanta`. A frame pauses whether `enable` lets frames
             in or not: a frame that ends a pause must always count.
    paused, unknown
             pulse for each such frame: it pauses, or its opcode is unknown.
    """
    def __init__(self):
        super().__init__()
        self.obey    = Signal()
        self.pauses  = Signal()
        self.paused  = Signal()
        self.unknown = Signal()
        self.counters = {"RX_PAUSE_FRAMES": self.paused, "RX_CONTROL_UNKNOWN": self.unknown}
        self.fates    = [self.paused, self.unknown]

    def join(self, receive):
        ours = self.obey & self.control & (self.group | receive.filter.unicast)
        self.observe(receive.sink, ~receive.started)
        self.comb += self.pauses.eq(receive.fsm.ongoing("DECIDE") & ours & self.pause &
            (receive.frame_octets >= eth_min_frame_length) & ~receive.long & ~receive.damaged)
        receive.decide(ours,
            self.paused.eq(self.pause),
            self.unknown.eq(~self.pause))

    def connect_registers(self, regs):
        self.comb += self.obey.eq(regs.field("PAUSE", "RX"))

# VLAN ---------------------------------------------------------------------------------------------

class VLAN(Tag):
    """A VLAN tag may be taken out. With `select`, frames of VLANs that are not in `members` are dropped:
    `foreign` pulses."""
    def __init__(self):
        super().__init__()
        self.members  = Membership()
        self.select   = Signal()
        self.foreign  = Signal()
        self.counters = {"RX_VLAN_FILTERED": self.foreign}
        self.fates    = [self.foreign]

    def join(self, receive):
        self.observe(receive.sink, ~receive.started)
        self.comb += [
            self.members.vid.eq(self.tci[:VID_BITS]),
            receive.fifo.param.tagged.eq(self.stripped),
            receive.fifo.param.tci.eq(Mux(self.stripped, self.tci, 0)),
        ]
        receive.decide(self.select & self.tagged & ~self.members.member & ~receive.filter.promiscuous,
            self.foreign.eq(1))

    def connect_registers(self, regs):
        self.comb += [
            self.strip.eq(regs.field("VLAN", "STRIP")),
            self.select.eq(regs.field("VLAN", "FILTER")),
        ]
        self.members.connect_registers(regs)

# Flows --------------------------------------------------------------------------------------------

class Forwarded:
    """Frames for the station's own address whose flow `flows` (flows.py) knows go into its FIFO, not to
    software. Words go into both FIFOs, and in the end one of them keeps the frame."""
    def __init__(self, flows):
        self.flows = flows

    def join(self, receive):
        flows, fifo, fsm = self.flows, receive.fifo, receive.fsm
        fsm.act("LOOKUP", If(~flows.busy, NextState("DECIDE")))
        receive.comb += [
            flows.take.eq(receive.sink.valid & receive.sink.ready & ~(receive.tag.out if receive.tag else 0)),
            flows.first.eq(~receive.started),
            flows.data.eq(receive.sink.data),
            flows.octets.eq(receive.length),
            # Without the time stamp, which precedes the first word.
            flows.fifo.write.eq(fifo.write & receive.started),
            flows.fifo.data.eq(fifo.data),
            flows.fifo.param.length.eq(flows.length),
            flows.fifo.param.entry.eq(flows.entry),
            flows.fifo.abort.eq(fsm.ongoing("DECIDE") & ~flows.fifo.commit),
        ]
        if receive.tag:
            receive.comb += [
                flows.tagged.eq(receive.tag.stripped),
                flows.vid.eq(receive.tag.tci[:VID_BITS]),
            ]
        receive.decide(receive.forwarded,
            flows.fifo.commit.eq(1),
            receive.good.eq(1))

# Sum ----------------------------------------------------------------------------------------------

class Sum(OnesComplementSum):
    """Sums a frame from its 15th octet on, without its FCS. The last four octets so far may be the FCS, so
    each word is added one word late. The sum is complete when the frame's fate is decided."""
    def __init__(self):
        super().__init__(32)

    def join(self, receive):
        number   = Signal(13) # Of the current word.
        previous = Signal(32)
        self.comb += [
            number.eq(receive.length[2:]),
            previous.eq(receive.previous),
            self.add.eq(receive.sink.valid & receive.sink.ready),
            self.first.eq(~receive.started),
            # Its octets are 12 to 15 when word 4 is here.
            [self.word[8*n:8*n + 8].eq(Mux(receive.lanes.lanes[n] & (number > (4 if n < 2 else 3)),
                previous[8*n:8*n + 8], 0)) for n in range(4)],
            receive.fifo.param.sum.eq(self.sum),
        ]

# Time Stamp ---------------------------------------------------------------------------------------

class Stamping(LiteXModule):
    """Writes `stamp` into the FIFO ahead of a frame, if `on`: in the clock of the frame's first word, which
    itself completes no word of the FIFO."""
    def __init__(self, stamp):
        self.stamp = stamp
        self.on    = Signal()

    def join(self, receive):
        receive.fsm.act("RECEIVE", If(receive.sink.valid & ~receive.started,
            NextValue(receive.fifo.param.stamped, self.on),
            receive.fifo.write.eq(self.on),
        ))
        receive.comb += If(~receive.started, receive.fifo.data.eq(self.stamp))

    def connect_registers(self, regs):
        self.comb += self.on.eq(regs.field("TIME_CTRL", "RX"))
