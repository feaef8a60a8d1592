# SPDX-License-Identifier: BSD-2-Clause
"""A FIFO for frames between two clocks. Each side has short paths, and can be reset alone."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect import stream

# Pointer ------------------------------------------------------------------------------------------

class Pointer(LiteXModule):
    """The position of one side of the FIFO: it counts words modulo twice the depth, and ignores resets.

    limit  the position, as a Gray code, at which this side must stop. It may advance at any time.
    step   advance; allowed only while `may`, which is a register.
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

    Migen's FIFO compares pointers, increments one and reads its memory in one clock, which takes more than
    8 ns on a slow ECP5. This FIFO has a register after the comparison and another one after the memory:
    `source` comes two clocks later, at the same rate.

    Either domain may be reset alone at any time, whether the clock of the other one runs or not. If a reset
    set the pointer back to 0, that side would see words where there are none. So no reset changes the pointers,
    and the FIFO keeps its contents. Only the frame that the reset cuts is lost. The writer, which has lost the
    rest of the frame, ends it with an unrelated word, so that the FCS is wrong. The reader, which has lost the
    beginning, drops the rest.

    layout   of the stream's payload, with `last_be`, which is not 0 in the last word of a frame and
             only there.
    depth    words in memory, a power of two; `source` holds one more.
    waits    the writer obeys `sink.ready`. Otherwise, a frame without room is cut as by a reset.

    taken    the reader's position as the writer sees it: all words are taken if it is `writer.gray`.
    starved  the reader had no word within a frame. From the next clock on, it is `broken`: it drops the rest
             of the frame. A reset also sets `broken`.
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
        written, taken = Signal(bits + 1), Signal(bits + 1) # The other side's view.
        self.specials += [
            MultiReg(writer.gray, written, "read"),
            MultiReg(reader.gray, taken, "write"),
        ]
        self.taken = taken
        full = 0b11 << (bits - 1) # The bits in which Gray codes differ that are `depth` apart.
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
        cut  = Signal(reset=1)         # The frame gets no more words of its own.
        open = Signal(reset_less=True) # It has begun, and has no end yet.
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
            coming, more = Signal(), Signal() # Further words of the frame at the sink will come.
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
