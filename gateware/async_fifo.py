# SPDX-License-Identifier: BSD-2-Clause
"""A FIFO between two clocks whose sides do little in each of their clocks."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect import stream

# Pointer ------------------------------------------------------------------------------------------

class Pointer(LiteXModule):
    """Where one side of the FIFO is: it counts words, from 0 to twice the depth.

    limit  where it must not go on, as a Gray code; it may move ahead at any time.
    step   go on; only while `may`, which is a register.
    """
    def __init__(self, bits):
        self.limit   = Signal(bits + 1)
        self.step    = Signal()
        self.may     = Signal()
        self.gray    = Signal(bits + 1)
        self.address = Signal(bits)

        # # #

        ahead, next_gray = Signal(bits + 1, reset=1), Signal(bits + 1)
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
    """A stream from the clock domain "write" to the domain "read".

    Each side's pointer reaches the other one as a Gray code, so that a bit which is late makes the
    FIFO look fuller to the writer or emptier to the reader, and never the other way. (C. E.
    Cummings, Simulation and Synthesis Techniques for Asynchronous FIFO Design, SNUG 2002.)

    Migen's compares the pointers, finds the next one and reads its memory at that in one clock,
    which is more than 8 ns on a slow ECP5. Here there is a register behind the comparison and
    another one behind the memory: `source` comes two clocks later, at the same rate.

    layout  of the stream's payload.
    depth   words in memory, a power of two; `source` holds one more.
    """
    def __init__(self, layout, depth):
        self.sink   = sink   = stream.Endpoint(layout)
        self.source = source = stream.Endpoint(layout)

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

        words, fields = [Cat(port.payload.raw_bits(), port.first, port.last)
            for port in (sink, source)]
        memory = Memory(len(words), depth, name="storage")
        write  = memory.get_port(write_capable=True, clock_domain="write")
        read   = memory.get_port(async_read=True, clock_domain="read")
        self.specials += memory, write, read
        self.comb += [
            sink.ready.eq(writer.may),
            writer.step.eq(sink.valid & writer.may),
            write.adr.eq(writer.address),
            write.dat_w.eq(words),
            write.we.eq(writer.step),
        ]

        space = Signal()
        self.comb += [
            space.eq(~source.valid | source.ready),
            reader.step.eq(space & reader.may),
            read.adr.eq(reader.address),
        ]
        self.sync.read += If(space, source.valid.eq(reader.may), fields.eq(read.dat_r))
