# SPDX-License-Identifier: BSD-2-Clause
"""Moves frames from one MAC's flow FIFO to the other one's Tx FIFO, and changes them as the flow's entry requires."""

from functools import reduce
from operator  import or_

from migen import *

from litex.gen import *

from moderato.gateware.bus.dma         import DATA_BYTES
from moderato.gateware.flows.packet    import ETHERNET_OCTETS, TCP
from moderato.gateware.flows.table     import flow_action
from moderato.gateware.registers.table import RX_OFFSET

# Added to the inverse of the IP header's checksum: the TTL, first octet of its pair, is decremented.
TTL_LESS = 0xFFFE

# Forward ------------------------------------------------------------------------------------------

class Forward(LiteXModule):
    """Moves the frames of `fifo` (FrameFIFO with flow_frame) to the other MAC's ForwardPort. pair.py connects the
    signals under *Towards the other MAC*. The oldest frame waits for its turn and for room without a limit.

    address, action, octets
              of the oldest frame, as in FlowTable.
    known, ended
              as in Waiting: a frame starts to move when `known`; if its entry has `ended`, Forward drops it.
    moving    the oldest frame is moving with `action`, and will leave.
    moved, dropped
              pulse when the frame has left `fifo`, in the clock in which it is released.

    Forward also drops a frame that is longer than the other FIFO.

    In both FIFOs as in memory, packets start RX_OFFSET octets late: the IP header begins with word 2. Words pass two
    stages: the first one chooses the change, the second one makes it.
    """
    def __init__(self, fifo, nat=False, vlan=False):
        self.address = Signal.like(fifo.head.entry)
        self.known   = Signal()
        self.ended   = Signal()
        self.action  = action = Record(flow_action(nat, vlan))
        self.octets  = Signal(14)
        self.moving  = Signal()
        self.moved   = Signal()
        self.dropped = Signal()
        self.awake   = Signal()

        # Towards the other MAC.
        self.wants   = Signal()
        self.granted = Signal()   # The turn, and room for a frame of `words`.
        self.fits    = Signal()   # The FIFO is large enough for `words`.
        self.words   = Signal(12)
        self.write   = Signal()
        self.number  = Signal(12) # Number of the written word.
        self.last    = Signal()   # It is the frame's last one.
        self.data    = Signal(8*DATA_BYTES)
        self.commit  = Signal()
        self.length  = Signal(14)

        # # #

        # When: whole frames, one after the other.
        # ----------------------------------------
        number = Signal(12)
        taken  = Signal() # A word is in the first stage.
        read   = Signal(8*DATA_BYTES)
        order  = Signal(12) # Its number.
        self.comb += [
            self.address.eq(fifo.head.entry),
            self.length.eq(fifo.head.length),
            self.octets.eq(fifo.head.length - ETHERNET_OCTETS),
        ]
        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            NextValue(number, 0),
            NextValue(self.words, (fifo.head.length + RX_OFFSET + DATA_BYTES - 1)[log2_int(DATA_BYTES):]),
            If(fifo.available, NextState("WAIT")),
        )
        fsm.act("WAIT",
            If(self.known,
                If(self.ended | ~self.fits,
                    self.dropped.eq(1),
                    NextState("IDLE"),
                ).Else(
                    self.wants.eq(1),
                    If(self.granted, NextState("MOVE")),
                )
            )
        )
        fsm.act("MOVE",
            self.wants.eq(1),
            fifo.next.eq(1),
            NextValue(number, number + 1),
            If(number + 1 == self.words, NextState("CHANGE")),
        )
        fsm.act("CHANGE",
            self.wants.eq(1),
            NextState("WRITE"),
        )
        fsm.act("WRITE",
            self.wants.eq(1),
            NextState("COMMIT"),
        )
        fsm.act("COMMIT",
            self.wants.eq(1),
            self.commit.eq(1),
            self.moved.eq(1),
            NextState("IDLE"),
        )
        self.comb += [
            fifo.release.eq(self.moved | self.dropped),
            self.moving.eq(reduce(or_, [fsm.ongoing(state) for state in ("MOVE", "CHANGE", "WRITE", "COMMIT")])),
            self.awake.eq(fifo.held | ~fsm.ongoing("IDLE")),
        ]
        self.sync += [
            taken.eq(fsm.ongoing("MOVE")),
            read.eq(fifo.word),
            order.eq(number),
            self.write.eq(taken),
            self.number.eq(order),
            self.last.eq(fsm.ongoing("CHANGE")),
        ]

        # Changes: RFC 1624, equation 3. A header's sum is never 0, so its checksum is never 0xffff.
        # -----------------------------------------------------------------------------------------------
        tcp      = Signal()
        old, new = Signal(16), Signal(16)
        change   = Signal(16)
        total    = Signal(17)
        changed  = {
            0: [self.data[16:64].eq(action.stations[:48])],
            1: [self.data[0:48].eq(action.stations[48:])],
            3: [self.data[0:8].eq(read[0:8] - 1), self.data[16:32].eq(new)],
        }
        self.comb += [
            old.eq(read[16:32]),
            change.eq(TTL_LESS),
            total.eq((old ^ 0xFFFF) + change),
            new.eq(~(total[:16] + total[16])),
        ]
        if nat:
            self.comb += [
                If(order == 6, old.eq(read[32:48])),
                change.eq(Mux(order == 3, action.network, action.transport)),
            ]
            self.sync += If(order == 3, tcp.eq(read[8:16] == TCP))
            changed[3] += [self.data[32:64].eq(action.source)]
            changed |= {
                4: [self.data.eq(Cat(action.destination, action.ports))],
                # A UDP checksum of 0 stays 0, and no other one becomes 0.
                5: [If(~tcp & (old != 0), self.data[16:32].eq(Mux(new == 0, 0xFFFF, new)))],
                6: [If(tcp, self.data[32:48].eq(new))],
            }
        self.sync += [
            self.data.eq(read),
            Case(order, changed),
        ]
