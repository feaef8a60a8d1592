# SPDX-License-Identifier: BSD-2-Clause
"""A clock that counts nanoseconds, for time stamps (IEEE 1588), and a periodic output that it drives.

The time is one number of 64 bits, like the kernel's ktime_t, not seconds and a fraction. It needs neither a
comparison with 10**9 nor a division, and a step is an addition. It lasts until 2554.
"""

from migen import *

from litex.gen import *

TIME_BITS      = 64 # Whole ns.
FRACTION_BITS  = 32 # A fraction of a ns: at 10 ns a clock, its last bit is 0.02 ppb of the rate.
INCREMENT_BITS = 8 + FRACTION_BITS

# PTP Clock ----------------------------------------------------------------------------------------

class PTPClock(LiteXModule):
    """Grows by `increment`, in units of 2**-32 ns, in each clock; in a domain that never stops.

    increment  takes effect with `tune`; until the first one, the time does not change.
    value      with `set`, it becomes the time; with `step`, it is added to the time modulo 2**64: one clock
               later.
    latch      copies the time of this clock to `latched`.

    late       the time of the clock before.
    """
    def __init__(self):
        self.increment = Signal(INCREMENT_BITS)
        self.tune      = Signal()
        self.value     = Signal(TIME_BITS)
        self.set       = Signal()
        self.step      = Signal()
        self.latch     = Signal()

        # Results.
        self.time    = Signal(TIME_BITS)
        self.late    = Signal(TIME_BITS)
        self.latched = Signal(TIME_BITS)

        # # #

        # The sum of increment and step is calculated a clock ahead: two additions in one clock would be too slow.
        self.total  = total  = Signal(TIME_BITS + FRACTION_BITS)
        self.addend = addend = Signal(TIME_BITS + FRACTION_BITS)
        self.rate   = rate   = Signal(INCREMENT_BITS)
        value = Cat(C(0, FRACTION_BITS), self.value)
        self.comb += self.time.eq(total[FRACTION_BITS:])
        self.sync += [
            If(self.tune, rate.eq(self.increment)),
            addend.eq(rate + Mux(self.step, value, 0)),
            total.eq(Mux(self.set, value, total + addend)),
            self.late.eq(self.time),
            If(self.latch, self.latched.eq(self.time)),
        ]

    def connect_registers(self, regs):
        value = regs.value
        self.comb += [
            self.increment.eq(Cat(value["TIME_INCREMENT"], value["TIME_INCREMENT_NS"])),
            self.tune.eq(regs.strobe["TIME_INCREMENT"]),
            self.value.eq(Cat(value["TIME_LOW"], value["TIME_HIGH"])),
            self.set.eq(regs.commands("TIME_COMMAND", "SET")),
            self.step.eq(regs.commands("TIME_COMMAND", "STEP")),
            self.latch.eq(regs.commands("TIME_COMMAND", "READ")),
            Cat(value["TIME_NOW_LOW"], value["TIME_NOW_HIGH"]).eq(self.latched),
        ]

# Periodic Output ----------------------------------------------------------------------------------

class PeriodicOutput(LiteXModule):
    """`level` rises when `time` reaches `begin`, and every `period` ns from then on; it falls `width` ns after each
    rise. It changes two clocks after the first clock with that time.

    on     enables the output, which is low otherwise.
    start  takes `begin`. Also required after a step of the time: otherwise the output would change every other
           clock until it has caught up, or not at all for a long time.
    """
    def __init__(self):
        self.time   = Signal(TIME_BITS)
        self.on     = Signal()
        self.start  = Signal()
        self.begin  = Signal(TIME_BITS)
        self.period = Signal(32)
        self.width  = Signal(32)
        self.level  = Signal()

        # # #

        change = Signal(TIME_BITS) # Time of the next change.
        left   = Signal(TIME_BITS) # The time since then: only the sign counts.
        due    = Signal()
        self.comb += left.eq(self.time - change)
        self.sync += [
            due.eq(self.on & ~left[TIME_BITS - 1] & ~due & ~self.start),
            If(~self.on | self.start,
                self.level.eq(0)
            ).Elif(due,
                self.level.eq(~self.level),
            ),
            If(self.start,
                change.eq(self.begin)
            ).Elif(due,
                change.eq(change + Mux(self.level, self.period - self.width, self.width)),
            ),
        ]

    def connect_registers(self, regs):
        value = regs.value
        self.comb += [
            self.on.eq(regs.field("TIME_CTRL", "OUTPUT")),
            self.start.eq(regs.commands("TIME_COMMAND", "START")),
            self.begin.eq(Cat(value["TIME_LOW"], value["TIME_HIGH"])),
            self.period.eq(value["TIME_PERIOD"]),
            self.width.eq(value["TIME_WIDTH"]),
        ]
