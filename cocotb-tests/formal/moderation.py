# SPDX-License-Identifier: BSD-2-Clause
"""What interrupt moderation promises, for every stimulus of a driver that plays by the rules.
"""

from migen import *

from formal.prover import internal
from moderato.gateware.moderation import Moderation

TIMER_BITS, FRAMES_BITS, INDEX_BITS = 24, 16, 16
RING = 2**(INDEX_BITS - 2)  # largest ring: indices must tell old from new


def _ones(*bits):
    """How many are set. (A sum of bits is one bit wide in Verilog when a bit is all it meets.)"""
    return sum((Cat(bit, C(0, 2)) for bit in bits), C(0, 3))


class ModerationProof(Module):
    """`assume` holds what the environment guarantees, `promises` what is proved under it."""

    def __init__(self):
        self.submodules.dut = dut = Moderation(TIMER_BITS, FRAMES_BITS, INDEX_BITS)
        names = ("frames", "packet_timer", "absolute_timer", "gap", "completion", "request",
                 "silent", "rearm", "rearm_index", "disarm", "clear")
        for name in names:
            getattr(dut, name).name_override = name
        masked = dut.rearm | dut.disarm | dut.clear

        # The environment.
        # ----------------
        seen = Signal(INDEX_BITS)  # the driver's consumer index, as of its last re-arm
        step = Signal(INDEX_BITS)
        held = Signal(INDEX_BITS)
        self.comb += [
            step.eq(dut.rearm_index - seen),
            held.eq(dut.completed + dut.completion - seen),
        ]
        self.sync += [
            If(dut.rearm, seen.eq(dut.rearm_index)),
            If(dut.clear, seen.eq(0)),
        ]
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(
            (~dut.rearm | (step <= held)) &               # only what completed can have been seen,
            (held <= RING) &                              # a ring at most is under way,
            (_ones(dut.rearm, dut.disarm, dut.clear) <= 1) &  # one register is written at a time,
            (~dut.clear | ~dut.completion))               # nothing completes in an idle ring

        # One completion, any: told to a driver that has not seen it.
        # -----------------------------------------------------------
        chosen       = Signal(INDEX_BITS, name_override="chosen")  # any index: a free input
        chosen_now   = Signal()
        unseen       = Signal()
        asked        = Signal()  # it carries the INTERRUPT flag
        chosen_const = Signal(INDEX_BITS)
        first        = Signal(reset=1)
        distance     = Signal(INDEX_BITS)
        self.sync += [first.eq(0), If(first, chosen_const.eq(chosen))]
        index = Mux(first, chosen, chosen_const)
        self.comb += [
            chosen_now.eq(dut.completion & (dut.completed == index)),
            distance.eq(dut.rearm_index - index - 1),  # below RING: the driver has seen it
        ]
        self.sync += [
            If(chosen_now & ~dut.silent, unseen.eq(1)),
            If(chosen_now & dut.request, asked.eq(1)),
            If(dut.rearm & (distance < 2*RING), unseen.eq(0), asked.eq(0)),
            If(dut.clear, unseen.eq(0), asked.eq(0)),
        ]

        # Time, kept apart from the device's counters.
        # --------------------------------------------
        forever     = 2**TIMER_BITS - 1
        since_raise = Signal(TIMER_BITS, reset=forever)
        waiting     = Signal(TIMER_BITS)
        self.sync += [
            If(dut.raised,
                since_raise.eq(0)
            ).Elif(since_raise != forever,
                since_raise.eq(since_raise + 1)
            ),
            If(dut.rearm | (dut.unreported == 0),
                waiting.eq(0)
            ).Elif(waiting != forever,
                waiting.eq(waiting + 1)
            ),
        ]
        may_raise = Signal()  # armed, and no interrupt since
        before    = Signal()  # the line a clock ago
        dropped   = Signal()
        counted, expected = Signal(), Signal(INDEX_BITS)
        self.sync += [
            If(dut.raised | dut.disarm | dut.clear, may_raise.eq(0)),
            If(dut.rearm, may_raise.eq(1)),
            before.eq(dut.line | dut.raised),
            dropped.eq(masked),
            counted.eq(dut.rearm),
            expected.eq(dut.completed + dut.completion - dut.rearm_index),
        ]
        ready = may_raise & ~masked & (since_raise >= dut.gap)

        self.promises = {
            # Raising masks: at most one interrupt for each re-arm.
            "one_shot": ~dut.raised | may_raise,
            "armed_is_what_it_says": dut.armed == may_raise,
            # The line stands exactly from an interrupt to the next write that drops it.
            "line": dut.line == (before & ~dropped),
            "gap": ~dut.raised | (since_raise >= dut.gap),
            "one_cause": _ones(dut.by_request, dut.by_frames, dut.by_absolute,
                               dut.by_packet) == dut.raised,
            "rearm_counts_what_was_not_seen": ~counted | (dut.unreported == expected),
            # No lost wake-up: an armed device knows of each completion that the driver did not see,
            "nothing_is_forgotten": ~(unseen & may_raise) | (dut.unreported != 0),
            # and reports it in the clock in which the absolute timer ends, unless the gap forbids.
            "bounded_latency": ~(ready & (dut.unreported != 0) & (dut.absolute_timer != 0) &
                                 (waiting >= dut.absolute_timer)) | dut.raised,
            "frames_raise_at_once": ~(ready & (dut.frames != 0) &
                                      (dut.unreported >= dut.frames)) | dut.raised,
            "requests_raise_at_once": ~(ready & asked) | dut.raised,
            "all_off_is_silent": ~dut.raised | dut.by_request | (dut.frames != 0) |
                                 (dut.absolute_timer != 0) | (dut.packet_timer != 0),
        }
        # What the induction leans on: how the device's registers follow the proof's.
        # ---------------------------------------------------------------------------
        under_way = Signal(INDEX_BITS)  # completed, but not seen
        age       = Signal(INDEX_BITS)  # how far the chosen one lies behind the latest
        behind    = Signal(INDEX_BITS)  # how far the latest request does
        self.comb += [
            under_way.eq(dut.completed - seen),
            age.eq(dut.completed - index),
            behind.eq(dut.completed - internal(dut, "request_index")),
        ]
        self.promises |= {
            "lemma_gap": internal(dut, "gap_count") == since_raise,
            "lemma_absolute": internal(dut, "absolute_count") == waiting,
            "lemma_ring": under_way <= RING,
            "lemma_unreported": dut.unreported <= under_way,
            "lemma_unseen": ~unseen | ((dut.unreported != 0) & (age != 0) & (age <= under_way)),
            "lemma_asked": ~asked | (internal(dut, "requested") & (age != 0) & (age <= under_way) &
                                     (behind < age)),
            "lemma_first": ~first | ~(unseen | asked),
        }
        # That each is worth something: states that must be reachable.
        self.reachable = {
            "interrupt": dut.raised,
            "interrupt_by_the_absolute_timer": dut.by_absolute & (waiting >= 4),
            "held_back_by_the_gap": may_raise & ~masked & (dut.unreported >= dut.frames) &
                                    (dut.frames != 0) & ~dut.raised,
            "uncovered_by_a_rearm": counted & unseen & may_raise,
            "request_unseen_at_rearm": counted & asked,
        }
        self.inputs = {chosen} | {getattr(dut, name) for name in names}
