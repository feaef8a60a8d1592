# SPDX-License-Identifier: BSD-2-Clause
"""Octets from anywhere in words, into words without gaps."""

from migen import *

from litex.gen import *

from moderato.gateware.bus.dma import DATA_BYTES

# Packer -------------------------------------------------------------------------------------------

class Packer(LiteXModule):
    """Takes some octets of a word at a time. It returns a word when it knows whether that is the last one.

    put    takes `count` octets (1 to 8) of `word`, from its octet `first` on.
    end    ends the row: the rest comes as a word with `last`. Not together with `put`.
    ready  put and end count only then.
    clear  discards all octets.

    write  offers `data`, one clock after its last octet, until `room`. Octets of the last word after the end
           are undefined.
    """
    def __init__(self):
        self.put   = Signal()
        self.word  = Signal(8*DATA_BYTES)
        self.first = Signal(max=DATA_BYTES)
        self.count = Signal(max=DATA_BYTES + 1)
        self.end   = Signal()
        self.clear = Signal()
        self.ready = Signal()

        self.write = Signal()
        self.data  = Signal(8*DATA_BYTES)
        self.last  = Signal()
        self.room  = Signal()

        # # #

        # Where new octets belong: after those that are there.
        # ---------------------------------------------------------------
        fill     = Signal(max=DATA_BYTES + 1)
        together = Signal(max=2*DATA_BYTES + 1)
        word     = Signal(8*DATA_BYTES)
        shift    = Signal(max=DATA_BYTES)     # Octets to rotate by, around the word's end.
        keep     = Signal(max=DATA_BYTES + 1) # Octets that were there before.
        taken    = Signal()
        full     = Signal()
        self.comb += [
            together.eq(fill + self.count),
            self.ready.eq(~self.write | self.room),
        ]
        self.sync += [
            If(self.ready,
                word.eq(self.word),
                shift.eq(fill - self.first),
                keep.eq(Mux(self.end, DATA_BYTES, fill)),
                taken.eq(self.put),
                full.eq(self.end | (self.put & (together > DATA_BYTES))),
                self.last.eq(self.end),
                If(self.end,
                    fill.eq(0)
                ).Elif(self.put,
                    fill.eq(Mux(together > DATA_BYTES, together - DATA_BYTES, together))
                ),
            ),
            If(self.clear, fill.eq(0), taken.eq(0), full.eq(0)),
        ]

        # Words.
        # ------
        held    = Signal(8*DATA_BYTES)
        rotated = Signal(8*DATA_BYTES)
        self.comb += [
            Case(shift, {n: rotated.eq(Cat(word, word)[8*(DATA_BYTES - n):8*(2*DATA_BYTES - n)])
                for n in range(DATA_BYTES)}),
            [self.data[8*n:8*n + 8].eq(Mux(keep > n, held[8*n:8*n + 8], rotated[8*n:8*n + 8]))
                for n in range(DATA_BYTES)],
            self.write.eq(full),
        ]
        self.sync += If(taken & self.ready, held.eq(Mux(full, rotated, self.data)))
