# SPDX-License-Identifier: BSD-2-Clause
"""A FIFO for frames between two clocks whose sides do little in each of their clocks, and can each be
reset alone."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect import stream

# Pointer ------------------------------------------------------------------------------------------

class Pointer(LiteXModule):
    """Where one side of the FIFO is: it counts words, from 0 to twice the depth, through all resets.

    limit  where it must not go on, as a Gray code; it may move ahead at any time.
    step   go on; only while `may`, which is a register.
    """
    def __init__(self, bits):
        self.limit   = Signal(bits + 1)
        self.step    = Signal()
        self.may     = Signal(reset_less=True)
        self.gray    = Signal(bits + 1, reset_less=True)
        self.address = Signal(bits, reset_less=True)

        # # #

        ahead, next_gray = Signal(bits + 1, reset=1, reset_less=True), Signal(bits + 1)
        self.comb += next_gray.eq(ahead ^ ahead[1:])
        self.sync += [
            self.may.eq(Mux(self.step, next_gray != self.limit, self.gray != self.limit)),
            If(self.step,
                ahead.eq(ahead + 1),
                self.gray.eq(next_gray),
                self.address.eq(ahead),
            ),
        ]

# Asynchronous FIFO --------------------------------------------------------------------------------

class AsyncFIFO(LiteXModule):
    """Frames from the clock domain "write" to the domain "read".

    Each side's pointer reaches the other one as a Gray code, so that a bit which is late makes the
    FIFO look fuller to the writer or emptier to the reader, and never the other way. (C. E.
    Cummings, Simulation and Synthesis Techniques for Asynchronous FIFO Design, SNUG 2002.)

    Migen's compares the pointers, finds the next one and reads its memory at that in one clock,
    which is more than 8 ns on a slow ECP5. Here there is a register behind the comparison and
    another one behind the memory: `source` comes two clocks later, at the same rate.

    Either domain may be reset alone, at any moment, while the clock of the other stands or not. Were
    its pointer to go back to 0, that side would see words where there are none. So no reset touches the
    pointers, and what is in the FIFO stays. The frame that a reset cuts in two is all that is lost:
    the writer, whose half of it is gone, ends it with a word that has nothing to do with it, so that its
    FCS is wrong; the reader, who has lost its half, drops the rest.

    layout   of the stream's payload, with `last_be`, which is not 0 in the last word of a frame and
             only there.
    depth    words in memory, a power of two; `source` holds one more.
    waits    frames can: `sink.ready` counts. If not, one that finds no room is cut as by a reset.

    starved  the reader missed a word within a frame, in the clock after this it is `broken`: that
             frame's rest is dropped. `broken` is set after a reset, too.
    """
    def __init__(self, layout, depth, waits=True):
        self.sink    = sink   = stream.Endpoint(layout)
        self.source  = source = stream.Endpoint(layout)
        self.starved = Signal()
        self.broken  = broken = Signal(reset=1)

        # # #

        bits = log2_int(depth)
        self.writer = writer = ClockDomainsRenamer("write")(Pointer(bits))
        self.reader = reader = ClockDomainsRenamer("read")(Pointer(bits))
        written, taken = Signal(bits + 1), Signal(bits + 1) # As the other side sees them.
        self.specials += [
            MultiReg(writer.gray, written, "read"),
            MultiReg(reader.gray, taken, "write"),
        ]
        full = 0b11 << (bits - 1) # What differs in Gray codes that are `depth` apart.
        self.comb += [
            writer.limit.eq(taken ^ full),
            reader.limit.eq(written),
        ]

        stored = stream.Endpoint(layout)
        word   = Signal(len(stored.payload.raw_bits()), reset_less=True)
        memory = Memory(len(word), depth, name="storage")
        write  = memory.get_port(write_capable=True, clock_domain="write")
        read   = memory.get_port(async_read=True, clock_domain="read")
        self.specials += memory, write, read

        # Write.
        # ------
        cut  = Signal(reset=1)         # The frame gets no more words of its own:
        open = Signal(reset_less=True) # it was begun, and has no end yet.
        self.comb += [
            sink.ready.eq(writer.may & ~cut if waits else 1),
            writer.step.eq(writer.may & Mux(cut, open, sink.valid)),
            stored.payload.eq(sink.payload),
            If(cut, stored.last_be[-1].eq(1)),
            write.adr.eq(writer.address),
            write.dat_w.eq(stored.payload.raw_bits()),
            write.we.eq(writer.step),
        ]
        self.sync.write += If(writer.step, open.eq(stored.last_be == 0))
        if waits:
            self.sync.write += cut.eq(cut & open)
        else:
            coming, more = Signal(), Signal() # The frame at the sink has words that are yet to come.
            self.comb += more.eq(Mux(sink.valid, sink.last_be == 0, coming))
            self.sync.write += [
                coming.eq(more),
                cut.eq((cut & (open | more)) | (sink.valid & ~writer.may)),
            ]

        # Read.
        # -----
        held   = Signal(reset_less=True) # A word waits at the source.
        begun  = Signal(reset_less=True) # It is not its frame's first one.
        space  = Signal()
        self.comb += [
            source.valid.eq(held & ~broken),
            source.payload.raw_bits().eq(word),
            source.last.eq(source.last_be != 0),
            space.eq(~held | Mux(broken, begun, source.ready)),
            reader.step.eq(space & reader.may),
            read.adr.eq(reader.address),
        ]
        self.sync.read += [
            If(space, held.eq(reader.may), word.eq(read.dat_r)),
            If(held & space, begun.eq(~source.last)),
            broken.eq((broken & begun) | self.starved),
        ]
