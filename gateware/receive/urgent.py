# SPDX-License-Identifier: BSD-2-Clause
"""Which received frames are urgent: masked comparisons of words among their first 64 octets."""

from functools import reduce
from operator import or_

from migen import *

from litex.gen import *

from moderato.gateware.frame.observer import Observer

WORDS = 16 # That can be compared: 64 octets.

# Urgent -------------------------------------------------------------------------------------------

class Comparison:
    """Word number `word` of a frame, of four octets with the first one in bits 7:0, has `value` in
    the bits that `mask` has set. When it is not `on`, it has no effect."""
    def __init__(self):
        self.on    = Signal()
        self.word  = Signal(max=WORDS)
        self.value = Signal(32)
        self.mask  = Signal(32)


class Urgent(Observer):
    """From the clock after a word on, `urgent` is the result of `comparisons` with the frame's words so far:
    at least one of those that are on holds, or with `together` all of them do. (A comparison with a word
    that the frame does not have keeps the result of the frame before.)"""
    def __init__(self, comparisons):
        super().__init__()
        self.comparisons = [Comparison() for _ in range(comparisons)]
        self.together    = Signal()
        self.urgent      = Signal()

        # # #

        passed = Signal(max=WORDS + 1) # Words of this frame, as far as they count.
        place  = Signal(max=WORDS + 1) # Of `data`.
        self.comb += place.eq(Mux(self.first, 0, passed))
        self.sync += If(self.take & (place != WORDS), passed.eq(place + 1))

        holds, fails = [], []
        for comparison in self.comparisons:
            hit = Signal()
            self.sync += If(self.take & (place == comparison.word),
                hit.eq(((self.data ^ comparison.value) & comparison.mask) == 0)
            )
            holds.append(comparison.on & hit)
            fails.append(comparison.on & ~hit)
        if self.comparisons:
            self.comb += self.urgent.eq(
                reduce(or_, holds) & ~(self.together & reduce(or_, fails)))

    def connect_registers(self, regs):
        if self.comparisons:
            self.comb += self.together.eq(regs.field("URGENT", "TOGETHER"))
        for n, comparison in enumerate(self.comparisons):
            self.comb += [
                comparison.on.eq(regs.field("URGENT", f"ON_{n}")),
                comparison.word.eq(regs.field("URGENT", f"WORD_{n}")),
                comparison.value.eq(regs.value[f"URGENT_VALUE_{n}"]),
                comparison.mask.eq(regs.value[f"URGENT_MASK_{n}"]),
            ]
