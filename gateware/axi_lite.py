# SPDX-License-Identifier: BSD-2-Clause
"""The MAC's registers on AXI4-Lite.

LiteX's own bridge to Wishbone waits for ever where a register refuses an access, as the MAC's refuse
those of less than a word.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import axi

# AXI-Lite Slave -----------------------------------------------------------------------------------

class AXILiteSlave(LiteXModule):
    """Serves `bus`, which is made, with the registers on the Wishbone bus `registers`, 32 bits wide.

    address_width   of `bus`, in bits of bytes; those beyond the registers' are not looked at.

    What the registers refuse is answered with SLVERR. Reads and writes take turns.
    """
    def __init__(self, registers, address_width=12):
        self.bus = bus = axi.AXILiteInterface(data_width=32, address_width=address_width)

        # # #

        answered = Signal()
        write    = bus.aw.valid & bus.w.valid # An access takes both at once.
        write_next, data, resp = Signal(), Signal(32), Signal(2)
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
            registers.sel.eq(0b1111),
            registers.adr.eq(bus.ar.addr[2:]),
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
            registers.adr.eq(bus.aw.addr[2:]),
            bus.aw.ready.eq(answered),
            bus.w.ready.eq(answered),
            NextValue(write_next, 0),
            If(answered, NextState("WRITE-ANSWER")),
        )
        fsm.act("WRITE-ANSWER",
            bus.b.valid.eq(1),
            If(bus.b.ready, NextState("IDLE")),
        )
