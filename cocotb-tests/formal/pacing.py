# SPDX-License-Identifier: BSD-2-Clause
"""The hardware's delays are within their bounds, and no frame waits longer."""

from migen import *
from migen.fhdl.tools import list_targets

from moderato.gateware.interrupts.moderation import Moderation
from moderato.gateware.interrupts.pacing     import Pacing
from moderato.gateware.registers.table  import TIMER_BITS

from formal.environment import all_of, asleep_nothing_changes
from formal.prover      import internal

WINDOW_BITS = 4 # Bits of the window: how often the hardware decides matters to no promise.
FOREVER     = 2**TIMER_BITS - 1


class PacingProof(Module):
    """Pacing as ModeratoMAC puts it before Moderation, between any ring and any driver."""

    def __init__(self):
        self.submodules.dut        = dut        = Pacing(window_bits=WINDOW_BITS)
        self.submodules.moderation = moderation = Moderation()
        names = ("completion", "request", "silent", "rearm", "rearm_index", "disarm", "clear", "halted",
            "frames", "packet_timer")
        for owner, signals in ((dut, ("least", "longest")), (moderation, names)):
            for name in signals:
                getattr(owner, name).name_override = name
        self.comb += [
            dut.busy.eq(~moderation.armed),
            dut.clear.eq(moderation.clear),
            moderation.absolute_timer.eq(dut.delay),
        ]

        # The driver does not change the bounds. There is no gap: Moderation's proof covers it.
        # -------------------------------------------------------------------------------------
        started = Signal()
        least   = Signal(TIMER_BITS)
        longest = Signal(TIMER_BITS)
        self.sync += started.eq(1), least.eq(dut.least), longest.eq(dut.longest)
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(all_of(
            dut.least != 0, # RX_ABSOLUTE_TIMER must not be.
            ~started | (dut.least == least) & (dut.longest == longest)))

        # Time, independent of the device's counter.
        # ------------------------------------------
        waiting = Signal(TIMER_BITS)
        bound   = Signal(TIMER_BITS)
        waiters = moderation.unreported != 0
        masked  = moderation.rearm | moderation.disarm | moderation.clear
        self.comb += [
            bound.eq(Mux(dut.longest > dut.least, dut.longest, dut.least)),
        ]
        self.sync += If(moderation.rearm | moderation.clear | ~waiters,
            waiting.eq(0)
        ).Elif(waiting != FOREVER,
            waiting.eq(waiting + 1)
        )

        self.promises = {
            "longest_is_the_longest": dut.delay <= bound,
            "off_it_is_the_fixed_one": (dut.longest != 0) | ~started | (dut.delay == dut.least),
            "at_rest_it_is_the_least": ~internal(dut, "rest") | (dut.delay == dut.least),
            "some_delay_always": dut.delay != 0,
            # For an armed device, after any decisions, also while it waited.
            "bounded_latency": ~(moderation.armed & waiters & ~masked & (waiting >= bound)) |
                moderation.raised,
            "asleep_nothing_changes": asleep_nothing_changes(self, dut.awake,
                sorted(list_targets(dut._fragment.sync["sys"]), key=lambda signal: signal.duid)),
            # Lemmas for the induction.
            "lemma_worked": (internal(dut, "window") != 0) | (internal(dut, "worked") == 0),
            "lemma_waiting": ~(moderation.armed & waiters) |
                (internal(moderation, "absolute_count") == waiting),
        }
        self.reachable = {
            "longest": (dut.delay == dut.longest) & (dut.longest > 40),
            "least_again": internal(dut, "rest") & (dut.least == 7),
            "a_delay_that_grew": moderation.by_absolute & (waiting > 6) & (dut.least < 4),
            "asleep": ~dut.awake & moderation.armed & waiters,
        }
        self.inputs = {dut.least, dut.longest, *(getattr(moderation, name) for name in names)}
