# SPDX-License-Identifier: BSD-2-Clause
"""The MAC's registers on AXI4-Lite.

LiteX's own bridge to Wishbone hangs when a register returns an error, as the MAC's registers do for
accesses of less than a word. Its converter from 64 to 32 bits mistakes an access to a word's upper half
for an access to the next word.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import axi

from moderato.gateware.bus.wishbone_slave import WishboneSlave

# AXI-Lite Slave -----------------------------------------------------------------------------------

class AXILiteSlave(LiteXModule):
    """Makes `bus`, which accesses the registers on the 32-bit Wishbone bus `registers`.

    address_width   of `bus`: addresses count bytes, and their bits above the registers' are ignored.
    data_width      of `bus`: 32 or more.

    An error of the registers becomes SLVERR. Reads and writes take turns.
    """
    def __init__(self, registers, address_width=12, data_width=32):
        self.bus = bus = axi.AXILiteInterface(data_width=data_width, address_width=address_width)
        if data_width != registers.data_width:
            self.words = words = WishboneSlave(registers, data_width)
            registers  = words.bus

        # # #

        answered = Signal()
        write    = bus.aw.valid & bus.w.valid # An access takes both at once.
        write_next, data, resp = Signal(), Signal(data_width), Signal(2)
        word = log2_int(data_width//8)
        self.comb += [
            answered.eq(registers.ack | registers.err),
            registers.dat_w.eq(bus.w.data),
            bus.r.data.eq(data),
            bus.r.resp.eq(resp),
            bus.b.resp.eq(resp),
        ]
        self.sync += If(answered,
            data.eq(registers.dat_r),
            resp.eq(Mux(registers.err, axi.RESP_SLVERR, axi.RESP_OKAY)),
        )

        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            If(bus.ar.valid & ~(write & write_next),
                NextState("READ"),
            ).Elif(write,
                NextState("WRITE"),
            ),
        )
        fsm.act("READ",
            registers.cyc.eq(1),
            registers.stb.eq(1),
            registers.sel.eq(2**(data_width//8) - 1),
            registers.adr.eq(bus.ar.addr[word:]),
            bus.ar.ready.eq(answered),
            NextValue(write_next, 1),
            If(answered, NextState("READ-ANSWER")),
        )
        fsm.act("READ-ANSWER",
            bus.r.valid.eq(1),
            If(bus.r.ready, NextState("IDLE")),
        )
        fsm.act("WRITE",
            registers.cyc.eq(1),
            registers.stb.eq(1),
            registers.we.eq(1),
            registers.sel.eq(bus.w.strb),
            registers.adr.eq(bus.aw.addr[word:]),
            bus.aw.ready.eq(answered),
            bus.w.ready.eq(answered),
            NextValue(write_next, 0),
            If(answered, NextState("WRITE-ANSWER")),
        )
        fsm.act("WRITE-ANSWER",
            bus.b.valid.eq(1),
            If(bus.b.ready, NextState("IDLE")),
        )
