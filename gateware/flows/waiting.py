# SPDX-License-Identifier: BSD-2-Clause
"""Marks frames in the flow FIFO whose entry has ended: they must not leave."""

from migen import *

from litex.gen import *

from moderato.gateware.flows.table import Columns

# Waiting Frames -----------------------------------------------------------------------------------

class Waiting(LiteXModule):
    """The entries of up to `depth` frames, in the order of the FIFO that holds them.

    comes, entry   a frame enters the FIFO: never in two clocks in a row.
    leaves         the oldest frame leaves the FIFO.
    frames         number of frames in the FIFO that came before this clock.

    known          `ended` is valid for the oldest frame, which has been there for two clocks.
    ended          the entry of the oldest frame has ended while it waited.

    search         level, until `done`: marks those of the `frames` whose entry is `target`, or `all` of them.
                   Meanwhile none `leaves`. Takes two clocks, three for each of the frames, and one for each
                   frame that comes.
    """
    def __init__(self, order, depth):
        self.comes  = Signal()
        self.entry  = Signal(order)
        self.leaves = Signal()
        self.frames = Signal(max=depth + 1)
        self.known  = Signal()
        self.ended  = Signal()
        self.search = Signal()
        self.target = Signal(order)
        self.all    = Signal()
        self.done   = Signal()

        # # #

        self.rows = rows = Columns([("entry", order), ("ended", 1)], depth)
        newest  = Signal(max=depth) # Place of the next frame.
        oldest  = Signal(max=depth)
        place   = Signal(max=depth) # Place of the frame under search.
        left    = Signal(max=depth + 1) # Frames left to search.
        mark    = Signal()
        settled = Signal(2)
        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            NextValue(place, oldest),
            NextValue(left, self.frames),
            If(self.search, NextState("NEXT")),
        )
        fsm.act("NEXT",
            # The row comes two clocks later.
            NextState("READ"),
            If(left == 0,
                self.done.eq(1),
                NextState("IDLE"),
            )
        )
        fsm.act("READ", NextState("MARK"))
        fsm.act("MARK",
            mark.eq(self.all | (rows.row.entry == self.target)),
            If(~self.comes,
                NextValue(place, place + 1),
                NextValue(left, left - 1),
                NextState("NEXT"),
            )
        )
        self.comb += [
            rows.address.eq(Mux(fsm.ongoing("IDLE"), oldest, place)),
            rows.write.eq(self.comes | mark),
            rows.target.eq(Mux(self.comes, newest, place)),
            rows.data.entry.eq(self.entry),
            rows.data.ended.eq(~self.comes),
            self.known.eq(settled[1] & fsm.ongoing("IDLE")),
            self.ended.eq(rows.row.ended),
        ]
        self.sync += [
            newest.eq(newest + self.comes),
            oldest.eq(oldest + self.leaves),
            If(self.leaves | ~fsm.ongoing("IDLE"),
                settled.eq(0)
            ).Else(
                settled.eq(Cat(1, settled[0]))
            ),
        ]
