# SPDX-License-Identifier: BSD-2-Clause
"""The clock of time stamps advances, and goes back only on request; its output is never early."""

from migen import *

from moderato.gateware.time.ptp_clock import (FRACTION_BITS, INCREMENT_BITS, TIME_BITS, PeriodicOutput,
                                          PTPClock)

from formal.prover import internal


class PTPClockProof(Module):
    """The clock, with any writes by software."""

    def __init__(self):
        self.submodules.dut = dut = PTPClock()
        settings = ("increment", "tune", "value", "set", "step", "latch")
        for name in settings:
            getattr(dut, name).name_override = name
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(1)

        before = {name: Signal(len(getattr(dut, name))) for name in settings}
        total, addend = Signal(len(dut.total)), Signal(len(dut.addend))
        rate, latched = Signal(INCREMENT_BITS), Signal(TIME_BITS)
        time    = total[FRACTION_BITS:]
        stepped = Signal() # Two clocks ago: the value that is added now includes a step.
        self.sync += [
            [before[name].eq(getattr(dut, name)) for name in settings],
            total.eq(dut.total),
            addend.eq(dut.addend),
            rate.eq(dut.rate),
            latched.eq(dut.latched),
            stepped.eq(before["step"]),
        ]
        wraps = total[-1] & ~dut.total[-1]
        self.promises = {
            "never_goes_back": before["set"] | stepped | wraps | (dut.total >= total),
            "goes_on_by_what_it_is_told": before["set"] | (dut.total == total + addend),
            "a_step_is_added_to_the_increment": dut.addend == rate +
                Mux(before["step"], Cat(C(0, FRACTION_BITS), before["value"]), 0),
            "is_set": ~before["set"] | (dut.total == Cat(C(0, FRACTION_BITS), before["value"])),
            "keeps_its_rate": dut.rate == Mux(before["tune"], before["increment"], rate),
            # Both words of one clock, until the next READ.
            "reads_one_value": dut.latched == Mux(before["latch"], time, latched),
            "is_late_by_a_clock": dut.late == time,
            "lemma_addend": stepped | (addend[INCREMENT_BITS:] == 0),
            "lemma_next": before["step"] | (dut.addend[INCREMENT_BITS:] == 0),
        }
        self.reachable = {
            "goes": dut.time == 100,
            "stepped_back": stepped & (dut.total < total),
            "carries": (dut.time[:32] == 0) & (dut.time[32:] == 1) & ~before["set"] & ~stepped,
        }
        self.inputs = {getattr(dut, name) for name in settings}


class PeriodicOutputProof(Module):
    """The output, with an arbitrary time."""

    def __init__(self):
        self.submodules.dut = dut = PeriodicOutput()
        settings = ("time", "on", "start", "begin", "period", "width")
        for name in settings:
            getattr(dut, name).name_override = f"in_{name}"
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(1)

        change, due = internal(dut, "change"), internal(dut, "due")
        before = {name: Signal(len(getattr(dut, name))) for name in settings}
        level, was_due, next_change = Signal(), Signal(), Signal(TIME_BITS)
        since = Signal(TIME_BITS)
        self.sync += [
            [before[name].eq(getattr(dut, name)) for name in settings],
            level.eq(dut.level),
            was_due.eq(due),
            next_change.eq(change),
        ]
        self.comb += since.eq(before["time"] - next_change)
        self.promises = {
            "is_low_when_off": before["on"] | ~dut.level,
            "starts_low": ~before["start"] | (~dut.level & ~due & (change == before["begin"])),
            "is_never_early": ~due | (before["on"] & ~since[-1]),
            "is_never_missed": before["start"] | was_due | due | ~before["on"] | since[-1],
            "changes_when_it_is_due": before["start"] | ~before["on"] | (dut.level == level ^ was_due),
            "changes_once": ~(due & was_due),
            "next_one_follows": before["start"] | (change == next_change +
                Mux(was_due, Mux(level, before["period"] - before["width"], before["width"]), 0)),
        }
        self.reachable = {
            "rises": dut.level & ~level,
            "falls": ~dut.level & level & before["on"] & ~before["start"],
        }
        self.inputs = {getattr(dut, name) for name in settings}
