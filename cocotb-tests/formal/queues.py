# SPDX-License-Identifier: BSD-2-Clause
"""The arbitration between two queues loses nothing and starves none. Each queue's ring and
moderation are those of one queue, with their own proofs.
"""

from migen import *

from moderato.gateware.rings.queues import OneByOne, Turns


class TurnsProof(Module):
    """Two clients that want a turn at any time."""

    def __init__(self):
        self.submodules.dut = dut = Turns()
        self.assume = Signal(name_override="assume_all", reset=1)
        self.comb += self.assume.eq(1)
        wants = Signal(2)
        turn  = Signal()
        began = Signal() # There was a clock before this one.
        self.sync += wants.eq(dut.wants), turn.eq(dut.turn), began.eq(1)
        had, wanted = (wants >> turn)[0], (wants >> ~turn)[0]
        self.promises = {
            "who_wants_it_keeps_it": ~began | ~had | (dut.turn == turn),
            "who_is_done_gives_it": ~began | had | ~wanted | (dut.turn != turn),
            "none_is_taken_from_who_rests": ~began | wanted | (dut.turn == turn),
        }
        self.reachable = {
            "it_goes": began & (dut.turn == 1) & (turn == 0),
            "it_comes_back": began & (dut.turn == 0) & (turn == 1),
            "one_waits": (dut.wants == 0b11) & (dut.turn == 1),
        }
        self.inputs = {dut.wants}


class OneByOneProof(Module):
    """Two pulses, each never in two clocks in a row: as many come out, and soon."""

    def __init__(self):
        one, other = Signal(name_override="one"), Signal(name_override="other")
        self.submodules.dut = dut = OneByOne(one, other)
        one_before, other_before = Signal(), Signal()
        came, told = Signal(8), Signal(8) # Until the clock before.
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(~(one & one_before) & ~(other & other_before))
        self.sync += [
            one_before.eq(one),
            other_before.eq(other),
            came.eq(came + one + other),
            told.eq(told + dut.pulse),
        ]
        owed = Signal(8)
        self.comb += owed.eq(came - told)
        self.promises = {
            "never_more_than_one_is_owed": owed <= 1,
            "who_owes_is_awake": (owed == 1) == dut.awake,
            "what_is_owed_comes_next": (owed == 0) | dut.pulse,
            "nothing_comes_of_nothing": ~dut.pulse | one | other | (owed == 1),
            "lemma_both_came": (owed == 0) | (one_before | other_before),
        }
        self.reachable = {
            "both_at_once": one & other & (owed == 0),
            "again_at_once": (owed == 1) & ~one & ~other & (came == 4),
        }
        self.inputs = {one, other}
