# SPDX-License-Identifier: BSD-2-Clause
"""A bus master that software controls: timed bursts of known words, followed by flags."""

from litex.gen import LiteXModule
from litex.soc.interconnect import axi, wishbone
from migen import Cat, If, Replicate, Signal

MAX_PENDING = 4  # outstanding write bursts


class DMATester(LiteXModule):
    """Word n of a transfer is (~(seed + n) << 32) | (seed + n), n in 64-bit words.

    Registers (32 bits, in words from `bus`'s base):
    0 control  write: bit 0 starts writing, bit 1 starts reading; read: the same bits while busy
    1 address  of the first burst, multiple of 8
    2 bursts   how many
    3 beats    of each burst, less 1 (0 to 7)
    4 stride   bytes from a burst to the next
    5 seed
    6 flag     address of a word that gets the number of answered bursts after each burst, or 0: none;
               with a flag, a burst starts after the response to the flag before it
    7 pause    minimum cycles until the next write burst, plus a few varying ones; a flag follows its
               burst at once
    8 cycles   of the last transfer
    9 sum      of all 32-bit halves that were read
    10 errors  responses that were not OKAY
    """

    def __init__(self):
        self.bus = bus = wishbone.Interface(data_width=32, address_width=32, addressing="word")
        self.dma = dma = axi.AXIInterface(data_width=64, address_width=32, id_width=1)
        self.irq = Signal()  # while idle, after a transfer

        # # #

        # Registers.
        address, bursts, stride, seed, flag, pause = (Signal(32) for _ in range(6))
        beats = Signal(3)
        cycles = Signal(32)
        total = Signal(32)
        errors = Signal(32)
        writing = Signal()
        reading = Signal()
        start = Signal(2)
        used = Signal()
        write = Signal()
        settings = [None, address, bursts, beats, stride, seed, flag, pause]
        self.sync += bus.ack.eq(bus.cyc & bus.stb & ~bus.ack)
        self.comb += [
            write.eq(bus.cyc & bus.stb & bus.we & ~bus.ack),
            If(write & (bus.adr[:4] == 0), start.eq(bus.dat_w)),
            self.irq.eq(used & ~writing & ~reading),
        ]
        for index, register in enumerate(settings[1:], start=1):
            self.sync += If(write & (bus.adr[:4] == index), register.eq(bus.dat_w))
        results = [cycles, total, errors]
        for index, value in enumerate([Cat(writing, reading), *settings[1:], *results]):
            self.sync += If(bus.adr[:4] == index, bus.dat_r.eq(value))
        self.sync += [
            If(writing | reading, cycles.eq(cycles + 1)),
            If(start != 0, cycles.eq(0), total.eq(0), errors.eq(0), used.eq(1)),
        ]

        # Writing: bursts of data, each followed by its flag if there is one.
        issued, answered, number, beat = (Signal(32) for _ in range(4))
        flagging = Signal()
        data_done = Signal()
        last_w = Signal()
        pending = Signal(max=MAX_PENDING + 1)
        allowed = Signal()
        resting = Signal(32)
        word = Signal(32)
        aw_done = Signal()
        w_done = Signal()
        self.comb += [
            word.eq(seed + number),
            allowed.eq(
                writing
                & (issued != bursts)
                & (pending != MAX_PENDING)
                & (resting == 0)
                & ((flag == 0) | (pending == 0))
            ),
            last_w.eq(flagging | (beat == beats)),
            dma.aw.addr.eq(address + issued * stride),
            dma.aw.len.eq(beats),
            dma.aw.size.eq(3),
            dma.aw.burst.eq(1),
            dma.w.data.eq(Cat(word, ~word)),
            dma.w.strb.eq(0xFF),
            dma.w.last.eq(last_w),
            If(
                flagging,
                dma.aw.addr.eq(flag),
                dma.aw.len.eq(0),
                dma.aw.size.eq(2),
                dma.w.data.eq(Replicate(answered, 2)),
                dma.w.strb.eq(0x0F << flag[2] * 4),
            ),
            dma.aw.valid.eq(allowed & ~aw_done),
            dma.w.valid.eq(allowed & ~w_done),
            dma.b.ready.eq(1),
            data_done.eq((aw_done | dma.aw.ready) & (w_done | (dma.w.ready & last_w))),
        ]
        self.sync += [
            If(start[0], writing.eq(1), issued.eq(0), answered.eq(0), number.eq(0), beat.eq(0)),
            If(dma.aw.valid & dma.aw.ready, aw_done.eq(1)),
            If(
                dma.w.valid & dma.w.ready,
                If(last_w, w_done.eq(1), beat.eq(0)).Else(beat.eq(beat + 1)),
                If(~flagging, number.eq(number + 1)),
            ),
            If(resting != 0, resting.eq(resting - 1)),
            If(
                allowed & data_done,
                If((pause != 0) & ((flag == 0) | flagging), resting.eq(pause + issued[:3])),
                aw_done.eq(0),
                w_done.eq(0),
                If(flag == 0, issued.eq(issued + 1))
                .Elif(flagging, issued.eq(issued + 1), flagging.eq(0))
                .Else(flagging.eq(1)),
            ),
            pending.eq(pending + (allowed & data_done) - dma.b.valid),
            If(
                dma.b.valid,
                If((flag == 0) | flagging, answered.eq(answered + 1)),
                If(dma.b.resp != 0, errors.eq(errors + 1)),
            ),
            If(writing & (issued == bursts) & (pending == 0), writing.eq(0)),
        ]

        # Reading.
        asked, got = Signal(32), Signal(32)
        self.comb += [
            dma.ar.valid.eq(reading & (asked != bursts)),
            dma.ar.addr.eq(address + asked * stride),
            dma.ar.len.eq(beats),
            dma.ar.size.eq(3),
            dma.ar.burst.eq(1),
            dma.r.ready.eq(1),
        ]
        self.sync += [
            If(start[1], reading.eq(1), asked.eq(0), got.eq(0)),
            If(dma.ar.valid & dma.ar.ready, asked.eq(asked + 1)),
            If(
                dma.r.valid,
                total.eq(total + dma.r.data[:32] + dma.r.data[32:]),
                If(dma.r.last, got.eq(got + 1)),
                If(dma.r.resp != 0, errors.eq(errors + 1)),
            ),
            If(reading & (got == bursts), reading.eq(0)),
        ]
