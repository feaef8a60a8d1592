# SPDX-License-Identifier: BSD-2-Clause
"""The MAC's registers on a wider Wishbone bus.

LiteX's own converter ignores ERR: it hangs when a register returns an error, as the MAC's registers do
for writes of less than a word.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import wishbone

# Wishbone Slave -----------------------------------------------------------------------------------

class WishboneSlave(LiteXModule):
    """Makes `bus`, which accesses the registers on the 32-bit Wishbone bus `registers`.

    data_width      of `bus`: 32 times a power of two.
    address_width   of `bus`: addresses count bytes.

    An access to `bus` becomes one for each 32-bit word with a selected byte, the lowest word first. It ends
    with ERR if one of them had an error.
    """
    def __init__(self, registers, data_width=64, address_width=32):
        self.bus = bus = wishbone.Interface(data_width=data_width, address_width=address_width,
            addressing="word")

        # # #

        words    = data_width//32
        word     = Signal(max=max(2, words)) # The current one.
        sel      = Signal(4)                 # Its selected bytes.
        asked    = Signal()
        answered = Signal()
        refused  = Signal() # This word, or one before it.
        before   = Signal()
        last     = Signal()
        read     = [Signal(32) for _ in range(words - 1)]
        self.comb += [
            asked.eq(bus.cyc & bus.stb),
            last.eq(word == words - 1),
            Case(word, {n: [
                sel.eq(bus.sel[4*n:4*n + 4]),
                registers.dat_w.eq(bus.dat_w[32*n:32*n + 32]),
            ] for n in range(words)}),
            registers.cyc.eq(asked),
            registers.stb.eq(asked & (sel != 0)),
            registers.we.eq(bus.we),
            registers.sel.eq(sel),
            registers.adr.eq(Cat(word[:log2_int(words)], bus.adr)),
            answered.eq(asked & (registers.ack | registers.err | (sel == 0))),
            refused.eq(before | registers.err),
            bus.ack.eq(answered & last & ~refused),
            bus.err.eq(answered & last & refused),
            bus.dat_r.eq(Cat(*read, registers.dat_r)),
        ]
        self.sync += [
            If(answered,
                Case(word, {n: kept.eq(registers.dat_r) for n, kept in enumerate(read)}),
                word.eq(word + 1),
                before.eq(refused),
            ),
            If(~asked | (answered & last),
                word.eq(0),
                before.eq(0),
            ),
        ]
