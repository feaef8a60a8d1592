# SPDX-License-Identifier: BSD-2-Clause
"""The register table as a Wishbone slave.

A plain slave instead of LiteX CSRs: offsets must not move when a CSR is added elsewhere in a SoC.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import wishbone

from moderato.gateware.registers import table as registers

# Register File ------------------------------------------------------------------------------------

class RegisterFile(LiteXModule):
    """All registers of registers.py behind `bus` (32-bit Wishbone, 4 KiB, one wait state, two for
    counters: the bus's address comes too late to go through their memory, too). A write of part of a
    word changes nothing and is answered with `err`; one of no byte at all, as a converter of widths
    may make it, with `ack`.

    value[name]   Signal of the register: driven here for "rw", to be driven by the user for "ro".
    strobe[name]  "wo" and "rw": one-clock pulse when the register was written; `data` holds the
                  written word in that clock.
    options       of the registers that exist only with one (registers.py), those that are wanted.
    counters      names of those that there are.
    counting      a counter is asked for: `counter` says which one of them, and in the next clock the
                  user gives its `count`.
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

        is_counter = Signal()
        asked      = Signal()
        request    = Signal()
        write      = Signal()
        partial    = Signal()
        reads, writes, counts = {}, {}, {}
        for reg in registers.registers():
            if reg.option and reg.option not in options:
                continue
            name = reg.name.lower()
            word = reg.offset//4
            bits = reg.bits(options)
            if reg.access == "wo":
                reads[word] = self.bus.dat_r.eq(0)
            elif reg.counter:
                reads[word]  = self.bus.dat_r.eq(self.count)
                counts[word] = [is_counter.eq(1), self.counter.eq(counters.index(reg.name))]
            else:
                self.value[reg.name] = Signal(bits, reset=reg.reset, name=f"reg_{name}")
                reads[word] = self.bus.dat_r.eq(self.value[reg.name])
            if reg.access in ("wo", "rw"):
                self.strobe[reg.name] = Signal(name=f"strobe_{name}")
                writes[word] = [self.strobe[reg.name].eq(1)]
                if reg.access == "rw":
                    writes[word].append(self.value[reg.name].eq(self.bus.dat_w[:bits]))

        # A strobe comes with the acknowledgement.
        self.comb += [
            request.eq(self.bus.cyc & self.bus.stb & ~self.bus.ack & ~self.bus.err),
            write.eq(self.bus.we & (self.bus.sel == 0b1111)),
            partial.eq(self.bus.we & (self.bus.sel != 0b1111) & (self.bus.sel != 0)),
            self.awake.eq(self.bus.cyc & self.bus.stb | self.bus.ack | self.bus.err),
            Case(self.bus.adr[:10], counts),
            self.counting.eq(request & is_counter & ~asked),
        ]

        reads["default"] = self.bus.dat_r.eq(0)
        self.sync += [
            asked.eq(self.counting),
            self.bus.ack.eq(0),
            self.bus.err.eq(0),
            [strobe.eq(0) for strobe in self.strobe.values()],
            If(request & ~self.counting,
                self.bus.ack.eq(~partial),
                self.bus.err.eq(partial),
                self.data.eq(self.bus.dat_w),
                Case(self.bus.adr[:10], reads),
                If(write, Case(self.bus.adr[:10], writes)),
            ),
        ]

    def field(self, register, name):
        """The signal of a field."""
        bits = registers.bits(register, name)
        return self.value[register][bits.lsb:bits.lsb + bits.width]

    def commands(self, register, name):
        """Whether a register that is "wo" is being written with this bit."""
        return self.strobe[register] & self.data[registers.bits(register, name).lsb]
