# SPDX-License-Identifier: BSD-2-Clause
"""Adaptive moderation: how long received frames may wait, by how busy the CPU is with them.

The MAC sees that without asking: from an interrupt to the re-arm that ends its poll, the CPU works
on the ring, or has it on its list. While it has time to spare, an interrupt for each frame costs
nothing that matters, and any delay is latency. The less is left, the longer frames gather.
"""

from migen import *

from litex.gen import *

from moderato.gateware.registers.table import TIMER_BITS

WINDOW_BITS = 15 # 0.33 ms at 100 MHz.

# Pacing -------------------------------------------------------------------------------------------

class Pacing(LiteXModule):
    """Chooses `delay`, for Moderation's absolute timer, once a window of 2**WINDOW_BITS clocks: the
    `least` if the CPU was busy for less than half of it, an eighth, a quarter, a half of `longest` for
    each eighth of the window more, and all of it from seven eighths on.

    least, longest  in clocks. A `longest` of 0 switches it off: `delay` is `least`.
    busy            (a level) the CPU has been interrupted, and has not re-armed yet.
    clear           (a level) the ring is idle.

    level, delay    what holds now; 0 for `least`, 1 to 4.
    awake           something may change at the coming clock edge: for as long as the CPU is busy, and
                    a window beyond.
    """
    def __init__(self, timer_bits=TIMER_BITS, window_bits=WINDOW_BITS):
        self.least   = Signal(timer_bits)
        self.longest = Signal(timer_bits)
        self.busy    = Signal()
        self.clear   = Signal()
        self.level   = Signal(3)
        self.delay   = Signal(timer_bits)
        self.awake   = Signal()

        # # #

        on     = Signal()
        window = Signal(window_bits)
        worked = Signal(window_bits) # Clocks of the window in which the CPU was busy.
        rest   = Signal()            # Nothing that a window would change.
        self.comb += [
            on.eq(self.longest != 0),
            Case(self.level, {
                4:         self.delay.eq(self.longest),
                3:         self.delay.eq(self.longest[1:] | 1), # Never 0, which would be none.
                2:         self.delay.eq(self.longest[2:] | 1),
                1:         self.delay.eq(self.longest[3:] | 1),
                "default": self.delay.eq(self.least),
            }),
            rest.eq((window == 0) & (self.level == 0)),
            self.awake.eq(~rest | (on & self.busy & ~self.clear)),
        ]
        self.sync += If(self.clear | ~on,
            window.eq(0),
            worked.eq(0),
            self.level.eq(0),
        ).Elif(self.busy | ~rest,
            window.eq(window + 1),
            If(window == 2**window_bits - 1,
                worked.eq(0),
                # 4, 5, 6, 7 eighths.
                self.level.eq(Mux(worked[-1], worked[-3:-1] + 1, 0)),
            ).Else(
                worked.eq(worked + self.busy)
            )
        )

    def connect_registers(self, regs, prefix, moderation, ring):
        """Those of an Rx direction, named `prefix`_...; to its moderation, and its ring."""
        value = regs.value
        self.comb += [
            self.least.eq(value[f"{prefix}_ABSOLUTE_TIMER"]),
            self.longest.eq(value[f"{prefix}_PACING_LONGEST"]),
            self.busy.eq(~moderation.armed),
            self.clear.eq(ring.idle),
            value[f"{prefix}_PACING"].eq(self.level),
        ]
