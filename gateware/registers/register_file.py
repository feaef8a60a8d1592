# SPDX-License-Identifier: BSD-2-Clause
"""The register table as a Wishbone slave.

A plain slave instead of LiteX CSRs, because offsets must not move when a SoC gets another CSR.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import wishbone

from moderato.gateware.registers import table as registers

# Wider "rw" registers are read back from a memory. A multiplexer of their flip-flops took 10 % of the MAC on
# an FPGA.
NARROW = 8

# Register File ------------------------------------------------------------------------------------

class RegisterFile(LiteXModule):
    """All registers of table.py at `bus`: 32-bit Wishbone, 4 KiB, one wait state, or two for a read from a memory,
    because the bus's address comes too late for it. A write of part of a word changes nothing and returns `err`; a
    write of no byte, which a converter of widths may cause, returns `ack`. After a reset, the slave does not
    respond until the memory has the reset values.

    value[name]   Signal of the register: driven here for "rw", to be driven by the user for "ro".
    strobe[name]  "wo" and "rw": one-clock pulse when the register was written; `data` holds the
                  written word in that clock.
    options       names of options whose registers exist.
    counters      names of the counters.
    counting      a read of `counter`, a number in `counters`: in the next clock the user drives its `count`.
    """
    def __init__(self, options=()):
        self.bus    = wishbone.Interface(data_width=32, adr_width=30, addressing="word")
        self.value  = {}
        self.strobe = {}
        self.data   = Signal(32)
        self.awake  = Signal()

        self.counters = counters = registers.counters(options)
        self.counting = Signal()
        self.counter  = Signal(max=len(counters))
        self.count    = Signal(32)

        # # #

        known  = [reg for reg in registers.registers() if not reg.option or reg.option in options]
        stored = [reg for reg in known if reg.access == "rw" and reg.bits(options) > NARROW]

        is_counter = Signal()
        is_stored  = Signal()
        index      = Signal(max=len(stored)) # Of `stored`.
        live       = Signal(32)              # Value of a register outside the memory.
        lookup     = Signal()
        asked      = Signal()
        request    = Signal()
        write      = Signal()
        partial    = Signal()
        clearing   = Signal(reset=1)
        reads, writes, counts = {}, {}, {}
        for reg in known:
            name = reg.name.lower()
            word = reg.offset//4
            bits = reg.bits(options)
            if reg.counter:
                counts[word] = [is_counter.eq(1), self.counter.eq(counters.index(reg.name))]
            elif reg.access != "wo":
                self.value[reg.name] = Signal(bits, reset=reg.reset, name=f"reg_{name}")
                if reg in stored:
                    counts[word] = [is_stored.eq(1), index.eq(stored.index(reg))]
                else:
                    reads[word] = live.eq(self.value[reg.name])
            if reg.access in ("wo", "rw"):
                self.strobe[reg.name] = Signal(name=f"strobe_{name}")
                writes[word] = [self.strobe[reg.name].eq(1)]
                if reg.access == "rw":
                    writes[word].append(self.value[reg.name].eq(self.bus.dat_w[:bits]))

        # A strobe comes with the acknowledgement.
        self.comb += [
            request.eq(self.bus.cyc & self.bus.stb & ~self.bus.ack & ~self.bus.err & ~clearing),
            write.eq(self.bus.we & (self.bus.sel == 0b1111)),
            partial.eq(self.bus.we & (self.bus.sel != 0b1111) & (self.bus.sel != 0)),
            self.awake.eq(clearing | self.bus.cyc & self.bus.stb | self.bus.ack | self.bus.err),
            Case(self.bus.adr[:10], counts),
            Case(self.bus.adr[:10], reads),
            self.counting.eq(request & is_counter & ~asked),
            lookup.eq(self.counting | (request & is_stored & ~self.bus.we & ~asked)),
        ]

        # The written word, one clock later; reads mask the unused bits of narrower registers.
        # ------------------------------------------------------------------------------------
        storage  = Memory(32, len(stored), name="stored")
        read     = storage.get_port(async_read=True)
        keep     = storage.get_port(write_capable=True)
        self.specials += storage, read, keep
        row      = Signal.like(index)
        kept     = Signal() # The latest request reads from the memory.
        initial  = Signal(32)
        restored = Signal(32)
        widths   = sorted({reg.bits(options) for reg in stored})
        reaches  = {width: Signal(name=f"reaches_{width}") for width in widths} # The row does.
        self.comb += [
            read.adr.eq(row),
            keep.adr.eq(row),
            keep.we.eq(clearing | kept),
            keep.dat_w.eq(self.data | Mux(clearing, initial, 0)),
            Case(row, {n: initial.eq(reg.reset) for n, reg in enumerate(stored) if reg.reset}),
            Case(row, {n: [reaches[width].eq(1) for width in widths if width <= reg.bits(options)]
                for n, reg in enumerate(stored)}),
            [restored[low:high].eq(Mux(reaches[high], read.dat_r[low:high], 0))
                for low, high in zip([0, *widths], widths)],
        ]
        self.sync += [
            kept.eq(request & write & is_stored),
            If(clearing,
                row.eq(row + 1),
                If(row == len(stored) - 1, clearing.eq(0)),
            ).Elif(request,
                row.eq(index),
            ),
        ]

        self.sync += [
            asked.eq(lookup),
            self.bus.ack.eq(0),
            self.bus.err.eq(0),
            [strobe.eq(0) for strobe in self.strobe.values()],
            If(request & ~lookup,
                self.bus.ack.eq(~partial),
                self.bus.err.eq(partial),
                self.data.eq(self.bus.dat_w),
                self.bus.dat_r.eq(live | Mux(is_counter, self.count, 0) | Mux(is_stored, restored, 0)),
                If(write, Case(self.bus.adr[:10], writes)),
            ),
        ]

    def field(self, register, name):
        """The signal of a field."""
        bits = registers.bits(register, name)
        return self.value[register][bits.lsb:bits.lsb + bits.width]

    def commands(self, register, name):
        """A "wo" register is being written with this bit set."""
        return self.strobe[register] & self.data[registers.bits(register, name).lsb]
