# SPDX-License-Identifier: BSD-2-Clause
"""The MAC's registers on a Wishbone bus that is wider than they are.

LiteX's own converter knows no ERR: it waits for ever where a register refuses an access, as the MAC's
refuse writes of less than a word.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import wishbone

# Wishbone Slave -----------------------------------------------------------------------------------

class WishboneSlave(LiteXModule):
    """Serves `bus`, which is made, with the registers on the Wishbone bus `registers`, 32 bits wide.

    data_width, address_width   of `bus`: a power of two times 32, and in bits of bytes.

    An access is one of the registers for each word that it selects a byte of, the lowest first. What
    they refuse of it is answered with ERR at its end.
    """
    def __init__(self, registers, data_width=64, address_width=32):
        self.bus = bus = wishbone.Interface(data_width=data_width, address_width=address_width,
            addressing="word")

        # # #

        words    = data_width//32
        word     = Signal(max=max(2, words)) # The one under way,
        sel      = Signal(4)                 # and what is selected of it.
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
