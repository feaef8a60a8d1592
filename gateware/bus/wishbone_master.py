# SPDX-License-Identifier: BSD-2-Clause
"""The MAC's DMA on Wishbone, 32 or 64 bits wide.

LiteX's own bridges from AXI ignore Wishbone's ERR and transfer each beat alone. Here, a line is one cycle
with registered-feedback bursts (Wishbone B4, 4.3), and ERR becomes SLVERR of its beat.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import axi, stream, wishbone

from moderato.gateware.bus.dma import BURST_BEATS, DATA_BYTES

WIDTHS = (32, 64)

# Wishbone Master ----------------------------------------------------------------------------------

class WishboneMaster(LiteXModule):
    """Connects ModeratoMAC.dma, an AXI4 bus of 64 bits with INCR bursts of up to 8 whole beats, to `bus`.

    dma         ModeratoMAC.dma.
    bus         a wishbone.Interface of 32 or 64 bits, addressed by words or bytes; by default a new one
                addressed by words, with `data_width`, and with `address_width` bits for an address in bytes.
    bursting    CTI signals bursts; otherwise all beats are classic accesses of the same cycle.

    Reads and writes take turns. After an ERR the cycle ends for one clock, so that a slave with its own
    address counter restarts. Then the burst continues with the next beat, because AXI requires a response to
    each.
    """
    def __init__(self, dma, bus=None, data_width=32, address_width=32, bursting=True):
        if bus is None:
            bus = wishbone.Interface(data_width=data_width, address_width=address_width, addressing="word")
        if bus.data_width not in WIDTHS:
            raise ValueError(f"The MAC's Wishbone master is 32 or 64 bits wide, not {bus.data_width}: put "
                "LiteX's wishbone.Converter between.")
        self.bus = bus

        # # #

        parts   = 8*DATA_BYTES//bus.data_width # Wishbone accesses for each AXI beat.
        bytes_  = bus.data_width//8
        part    = Signal(max=max(2, parts))
        address = Signal(32 - log2_int(bytes_))
        beat    = Signal(max=BURST_BEATS)
        last    = Signal(max=BURST_BEATS)
        failed  = Signal() # Any part of this beat (read) or burst (write) before this one.

        answered  = Signal()
        last_part = Signal()
        last_beat = Signal()
        self.comb += [
            answered.eq(bus.stb & (bus.ack | bus.err)),
            last_part.eq(part == parts - 1),
            last_beat.eq(last_part & (beat == last)),
        ]

        # AXI's responses pass a register, which is free while a Wishbone access is in progress.
        # --------------------------------------------------------------------------------------
        self.r = r = stream.Buffer(dma.r.description)
        self.b = b = stream.Buffer(dma.b.description)
        self.comb += [r.source.connect(dma.r), b.source.connect(dma.b)]

        # Bus.
        # ----
        shift = log2_int(bytes_) if getattr(bus, "addressing", "word") == "byte" else 0
        self.comb += [
            bus.adr.eq(Cat(Constant(0, shift), address) if shift else address),
            bus.cti.eq(Mux(last_beat, wishbone.CTI_BURST_END, wishbone.CTI_BURST_INCREMENTING)
                if bursting else wishbone.CTI_BURST_NONE),
            bus.dat_w.eq(Array(dma.w.data[8*bytes_*n:8*bytes_*(n + 1)] for n in range(parts))[part]),
        ]

        # FSM.
        # ----
        read_next = Signal() # The next direction when both wait.
        id_       = Signal(len(dma.r.id))
        self.fsm = fsm = FSM(reset_state="IDLE")

        def accept(channel, state):
            return [
                channel.ready.eq(1),
                NextValue(address, channel.addr[log2_int(bytes_):]),
                NextValue(last, channel.len),
                NextValue(id_, channel.id),
                NextValue(beat, 0),
                NextValue(part, 0),
                NextValue(failed, 0),
                NextState(state),
            ]

        fsm.act("IDLE",
            If(dma.ar.valid & (read_next | ~dma.aw.valid),
                *accept(dma.ar, "READ"),
                NextValue(read_next, 0),
            ).Elif(dma.aw.valid & b.sink.ready,
                *accept(dma.aw, "WRITE"),
                NextValue(read_next, 1),
            ),
        )

        def step(pause):
            """To the next access."""
            return [
                NextValue(address, address + 1),
                NextValue(part, Mux(last_part, 0, part + 1)),
                If(last_part, NextValue(beat, beat + 1)),
                If(last_beat,
                    NextState("IDLE"),
                ).Elif(bus.err,
                    NextState(pause),
                ),
            ]

        fsm.act("READ",
            bus.cyc.eq(1),
            bus.stb.eq(r.sink.ready),
            bus.sel.eq(2**bytes_ - 1),
            If(answered,
                NextValue(failed, (failed | bus.err) & ~last_part),
                *step("READ-PAUSE"),
            ),
        )
        low = Signal(64 - bus.data_width) if parts > 1 else None # The parts before the last one.
        if parts > 1:
            self.sync += If(answered, low.eq(bus.dat_r))
        self.comb += [
            r.sink.valid.eq(fsm.ongoing("READ") & answered & last_part),
            r.sink.last.eq(last_beat),
            r.sink.data.eq(Cat(low, bus.dat_r) if parts > 1 else bus.dat_r),
            r.sink.resp.eq(Mux(failed | bus.err, axi.RESP_SLVERR, axi.RESP_OKAY)),
            r.sink.id.eq(id_),
        ]
        fsm.act("READ-PAUSE", NextState("READ"))

        fsm.act("WRITE",
            bus.cyc.eq(1),
            bus.stb.eq(dma.w.valid),
            bus.we.eq(1),
            bus.sel.eq(Array(dma.w.strb[bytes_*n:bytes_*(n + 1)] for n in range(parts))[part]),
            dma.w.ready.eq(answered & last_part),
            If(answered,
                NextValue(failed, failed | bus.err),
                *step("WRITE-PAUSE"),
            ),
        )
        self.comb += [
            b.sink.valid.eq(fsm.ongoing("WRITE") & answered & last_beat),
            b.sink.resp.eq(Mux(failed | bus.err, axi.RESP_SLVERR, axi.RESP_OKAY)),
            b.sink.id.eq(id_),
        ]
        fsm.act("WRITE-PAUSE", NextState("WRITE"))
