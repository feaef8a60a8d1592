# SPDX-License-Identifier: BSD-2-Clause
"""The MAC's registers on AXI4.

LiteX's bridge from AXI to AXI-Lite responds OKAY to failed accesses. Its converter from 64 to 32 bits
mistakes an access to a beat's upper half for an access to the next beat.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import axi

from moderato.gateware.bus.wishbone_slave import WishboneSlave

# AXI Slave ----------------------------------------------------------------------------------------

class AXISlave(LiteXModule):
    """Makes `bus`, which accesses the registers on the 32-bit Wishbone bus `registers`.

    data_width      of `bus`: 32 or more.
    address_width   of `bus`: addresses count bytes, and their bits above the registers' are ignored.

    It takes one burst at a time, INCR or FIXED, of any size; reads and writes take turns. An error of the
    registers becomes SLVERR. WRAP, which only caches use, has no effect but SLVERR.
    """
    def __init__(self, registers, data_width=32, address_width=32):
        self.bus = bus = axi.AXIInterface(data_width=data_width, address_width=address_width, id_width=1)
        if data_width != registers.data_width:
            self.words = words = WishboneSlave(registers, data_width)
            registers  = words.bus

        # # #

        address  = Signal(12)
        step     = Signal(12) # In bytes, from beat to beat.
        left     = Signal(8)  # Beats after this one.
        wraps    = Signal()
        id_      = Signal.like(bus.ar.id)
        read     = Signal()   # An access to the registers is in progress.
        write    = Signal()
        answered = Signal()   # The registers have responded, or are not accessed.
        refused  = Signal()
        failed   = Signal()   # An earlier beat of the burst had an error.
        write_next, data, resp = Signal(), Signal(data_width), Signal(2)
        self.comb += [
            registers.cyc.eq((read | write) & ~wraps),
            registers.stb.eq((read | write) & ~wraps),
            registers.we.eq(write),
            registers.sel.eq(Mux(write, bus.w.strb, 2**(data_width//8) - 1)),
            registers.adr.eq(address[log2_int(data_width//8):]),
            registers.dat_w.eq(bus.w.data),
            answered.eq((read | write) & (registers.ack | registers.err | wraps)),
            refused.eq(registers.err | wraps),
            bus.r.data.eq(data),
            bus.r.resp.eq(resp),
            bus.r.id.eq(id_),
            bus.r.last.eq(left == 0),
            bus.b.resp.eq(resp),
            bus.b.id.eq(id_),
        ]
        self.sync += If(answered,
            data.eq(registers.dat_r),
            resp.eq(Mux(refused | failed, axi.RESP_SLVERR, axi.RESP_OKAY)),
            address.eq(address + step),
        )

        def accept(channel, state):
            return [
                channel.ready.eq(1),
                NextValue(address, channel.addr),
                NextValue(step, Mux(channel.burst == axi.BURST_FIXED, 0, 1 << channel.size)),
                NextValue(left, channel.len),
                NextValue(wraps, channel.burst == axi.BURST_WRAP),
                NextValue(id_, channel.id),
                NextValue(failed, 0),
                NextState(state),
            ]

        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            If(bus.ar.valid & ~(bus.aw.valid & write_next),
                *accept(bus.ar, "READ"),
                NextValue(write_next, 1),
            ).Elif(bus.aw.valid,
                *accept(bus.aw, "WRITE"),
                NextValue(write_next, 0),
            ),
        )
        fsm.act("READ",
            read.eq(1),
            If(answered, NextState("READ-ANSWER")),
        )
        fsm.act("READ-ANSWER",
            bus.r.valid.eq(1),
            If(bus.r.ready,
                NextValue(left, left - 1),
                If(bus.r.last,
                    NextState("IDLE")
                ).Else(
                    NextState("READ")
                )
            )
        )
        fsm.act("WRITE",
            write.eq(bus.w.valid),
            bus.w.ready.eq(answered),
            If(answered,
                NextValue(failed, failed | refused),
                If(bus.w.last, NextState("WRITE-ANSWER")),
            )
        )
        fsm.act("WRITE-ANSWER",
            bus.b.valid.eq(1),
            If(bus.b.ready, NextState("IDLE")),
        )
