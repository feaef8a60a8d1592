# SPDX-License-Identifier: BSD-2-Clause
"""Adaptive moderation: the busier the CPU is with received frames, the longer they may wait.

The MAC measures this: from an interrupt to the re-arm that ends its poll, the CPU works on the ring or has
scheduled it. While the CPU has idle time, an interrupt for each frame does no harm, and a delay only adds
latency. The less idle time there is, the longer the MAC gathers frames.
"""

from migen import *

from litex.gen import *

from moderato.gateware.registers.table import TIMER_BITS

WINDOW_BITS = 15 # 0.33 ms at 100 MHz.

# Pacing -------------------------------------------------------------------------------------------

class Pacing(LiteXModule):
    """Chooses `delay` for Moderation's absolute timer after each window of 2**WINDOW_BITS clocks: `least` if the
    CPU was busy for less than 4/8 of it; from 4/8, 5/8, 6/8 and 7/8 on, an eighth, a quarter, a half and all
    of `longest`.

    least, longest  in clocks. With a `longest` of 0, `delay` is always `least`.
    busy            (a level) the CPU has been interrupted, and has not re-armed yet.
    clear           (a level) the ring is idle.

    level, delay    the current choice: level 0 for `least`, else 1 to 4.
    awake           something may change at the coming clock edge: while the CPU is busy, and for one window
                    after.
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
        rest   = Signal()            # The end of a window would change nothing.
        self.comb += [
            on.eq(self.longest != 0),
            Case(self.level, {
                4:         self.delay.eq(self.longest),
                3:         self.delay.eq(self.longest[1:] | 1), # Never 0, which would disable the timer.
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
        """Connects the registers of an Rx direction, named `prefix`_..., its moderation, and its ring."""
        value = regs.value
        self.comb += [
            self.least.eq(value[f"{prefix}_ABSOLUTE_TIMER"]),
            self.longest.eq(value[f"{prefix}_PACING_LONGEST"]),
            self.busy.eq(~moderation.armed),
            self.clear.eq(ring.idle),
            value[f"{prefix}_PACING"].eq(self.level),
        ]
