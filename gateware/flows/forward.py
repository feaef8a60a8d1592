# SPDX-License-Identifier: BSD-2-Clause
"""From one MAC's Rx FIFO into the other one's Tx FIFO: frames whose flow's entry says how they leave."""

from functools import reduce
from operator  import or_

from migen import *

from litex.gen import *

from moderato.gateware.bus.dma         import DATA_BYTES
from moderato.gateware.flows.packet    import ETHERNET_OCTETS, TCP
from moderato.gateware.flows.table     import flow_action
from moderato.gateware.registers.table import RX_OFFSET

# Clocks that a frame waits for its turn, and for room: longer than two of the longest ones ahead of it take on a
# wire of 100 Mb/s, at up to 133 MHz: a ring that has the turn waits for room for its frame first, and then this one does.
# It waits no longer, for behind it are frames for software, and the wire may stand still; if there are many, or if
# nothing has left since one waited in vain, not longer than the shortest frames take to come at 1 Gb/s.
PATIENCE, PRESSED_PATIENCE = 2**15, 2**6

# To the sum that the IP header's checksum is the inverse of: TTL, the first octet of its pair, is one less.
TTL_LESS = 0xFFFE

# Forward ------------------------------------------------------------------------------------------

class Forward(LiteXModule):
    """Moves the frames of `fifo` (the RxQueue of those that are forwarded) to the other MAC's ForwardPort, to which
    pair.py joins what stands under *Towards the other MAC*.

    address, action, octets
              as of FlowTable, of the oldest frame; `moving` while it does;
    moved, dropped
              pulse when it has.
    pressed   half of the Rx FIFO is taken, and more.

    Packets stand in the words of both FIFOs as they do in memory, RX_OFFSET octets late: IP's header begins
    with word 2. Words pass two stages, one to choose what changes, one to change it.
    """
    def __init__(self, fifo, nat=False, vlan=False):
        self.address = Signal.like(fifo.head.entry)
        self.action  = action = Record(flow_action(nat, vlan))
        self.octets  = Signal(14)
        self.moving  = Signal()
        self.moved   = Signal()
        self.dropped = Signal()
        self.pressed = Signal()
        self.awake   = Signal()

        # Towards the other MAC.
        self.wants   = Signal()
        self.granted = Signal()   # Its turn, and room for `words` in a frame.
        self.leaves  = Signal()   # A frame does, anyone's.
        self.words   = Signal(12)
        self.write   = Signal()
        self.number  = Signal(12) # Of the word that is written,
        self.last    = Signal()   # the frame's last one.
        self.data    = Signal(8*DATA_BYTES)
        self.commit  = Signal()
        self.length  = Signal(14)

        # # #

        # When: whole frames, one after the other.
        # ----------------------------------------
        waited = Signal(max=PATIENCE + 1)
        still  = Signal() # None has left since one waited in vain.
        number = Signal(12)
        taken  = Signal() # A word is in the first stage:
        read   = Signal(8*DATA_BYTES)
        order  = Signal(12) # its number.
        self.comb += [
            self.address.eq(fifo.head.entry),
            self.length.eq(fifo.head.length),
            self.octets.eq(fifo.head.length - ETHERNET_OCTETS),
        ]
        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            NextValue(waited, 0),
            NextValue(number, 0),
            NextValue(self.words, (fifo.head.length + RX_OFFSET + DATA_BYTES - 1)[log2_int(DATA_BYTES):]),
            If(fifo.available, NextState("SKIP")),
        )
        fsm.act("SKIP",
            # Its time stamp, if it has one.
            fifo.next.eq(getattr(fifo.head, "stamped", 0)),
            NextState("WAIT"),
        )
        fsm.act("WAIT",
            self.wants.eq(1),
            NextValue(waited, waited + 1),
            If(self.granted,
                NextState("MOVE")
            ).Elif((waited == PATIENCE) | ((self.pressed | still) & (waited >= PRESSED_PATIENCE)),
                NextState("DROP")
            )
        )
        # By itself, for the room in one FIFO is a long way from the other FIFO's release.
        fsm.act("DROP",
            self.dropped.eq(1),
            NextState("IDLE"),
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
            self.awake.eq(fifo.held | ~fsm.ongoing("IDLE") | (still & self.leaves)),
        ]
        self.sync += [
            If(self.leaves, still.eq(0)).Elif(waited == PATIENCE, still.eq(1)),
            taken.eq(fsm.ongoing("MOVE")),
            read.eq(fifo.word),
            order.eq(number),
            self.write.eq(taken),
            self.number.eq(order),
            self.last.eq(fsm.ongoing("CHANGE")),
        ]

        # What changes: RFC 1624, equation 3. A header's sum is never 0, nor is its checksum 0xffff then.
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
                # None stays none, and what says so is not said of one.
                5: [If(~tcp & (old != 0), self.data[16:32].eq(Mux(new == 0, 0xFFFF, new)))],
                6: [If(tcp, self.data[32:48].eq(new))],
            }
        self.sync += [
            self.data.eq(read),
            Case(order, changed),
        ]
