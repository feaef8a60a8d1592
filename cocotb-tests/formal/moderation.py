# SPDX-License-Identifier: BSD-2-Clause
"""Guarantees of interrupt moderation, for every stimulus by a driver that follows the rules."""

from migen import *
from migen.fhdl.tools import list_targets

from formal.environment import AnyIndex, EachIndex, all_of, asleep_nothing_changes
from formal.prover import internal
from moderato.gateware.interrupts.moderation import Moderation

TIMER_BITS, FRAMES_BITS, INDEX_BITS = 24, 16, 16
FOREVER = 2**TIMER_BITS - 1
RING  = 2**(INDEX_BITS - 2)  # the largest ring: indices must distinguish old from new
AHEAD = 15                   # completions that the driver may see in memory before they count


def _ones(*bits):
    """The number of set bits. (In Verilog, a sum of single bits may be one bit wide.)"""
    return sum((Cat(bit, C(0, 2)) for bit in bits), C(0, 3))


class ModerationProof(Module):
    """`rules` are the environment's guarantees, `promises` what is proved under them.

    device: of a simulation, which checks both (sim/harness/checks.py).
    """

    def __init__(self, device=None):
        names = ("frames", "packet_timer", "absolute_timer", "gap", "completion", "request",
                 "silent", "rearm", "rearm_index", "disarm", "clear", "halted")
        dut = device
        if not device:
            self.submodules.dut = dut = Moderation(TIMER_BITS, FRAMES_BITS, INDEX_BITS)
            for name in names:
                getattr(dut, name).name_override = name
        masked = dut.rearm | dut.disarm | dut.clear

        # The environment.
        # ----------------
        consumer = Signal(INDEX_BITS)  # the driver's index at its last re-arm
        completed = Signal(INDEX_BITS)  # index of the next descriptor to complete
        step = Signal(INDEX_BITS)
        held = Signal(INDEX_BITS)
        self.comb += [
            step.eq(dut.rearm_index - consumer),
            held.eq(completed + dut.completion + AHEAD - consumer),
        ]
        self.sync += [
            If(dut.rearm, consumer.eq(dut.rearm_index)),
            completed.eq(Mux(dut.clear, 0, completed + dut.completion)),
            If(dut.clear, consumer.eq(0)),
        ]
        self.rules = {
            "driver_saw_completed_or_imminent_ones": ~dut.rearm | dut.clear | (step <= held),
            "at_most_a_ring_is_in_progress": held <= RING + AHEAD,
            "one_register_is_written_at_a_time": ~(dut.rearm & dut.disarm),
            "nothing_completes_in_an_idle_ring": ~dut.clear | ~dut.completion,
        }
        if device:
            # A driver that takes no interrupts re-arms none, and its index is of no use then.
            del self.rules["at_most_a_ring_is_in_progress"]
            self.unknown, lags = Signal(), Signal()
            self.comb += self.unknown.eq(lags | (held > RING + AHEAD))
            self.sync += lags.eq(self.unknown & ~dut.rearm & ~dut.clear)
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(all_of(*self.rules.values()))

        # Completions that the driver has not seen.
        # -----------------------------------------
        ahead      = Signal()            # it has already seen the next completion
        lead       = Signal(INDEX_BITS)  # by how many it is ahead; negative: it lags
        uncovered  = Signal(INDEX_BITS)  # by its last re-arm
        unreported = Signal(INDEX_BITS)  # and completed since, except silent ones
        loud       = Signal()            # a completion that is not silent
        witness    = Signal(INDEX_BITS)  # one beyond the latest of these,
        witnessed  = Signal()            # which it has not seen,
        still      = Signal()            # not with this clock's re-arm, either
        beyond     = Signal(INDEX_BITS)  # how far that re-arm is beyond the witness, if not before
        latest     = Signal(INDEX_BITS)
        self.comb += [
            lead.eq(consumer - completed),
            ahead.eq((lead != 0) & ~lead[-1]),
            uncovered.eq(completed + dut.completion - dut.rearm_index),
            loud.eq(dut.completion & ~ahead & ~dut.silent),
            latest.eq(Mux(loud, completed + 1, witness)),
            beyond.eq(dut.rearm_index - latest),
            still.eq((loud | witnessed) & (~dut.rearm | beyond[-1])),
        ]
        self.sync += [
            witnessed.eq(still & ~dut.clear),
            witness.eq(latest),
            If(dut.rearm,
                unreported.eq(Mux(uncovered[-1] | ~still, 0, uncovered))
            ).Elif(dut.completion & ~ahead & ~dut.silent,
                unreported.eq(unreported + 1)
            ),
            If(dut.clear, unreported.eq(0)),
        ]

        # One completion, any: reported to a driver that has not seen it.
        # ---------------------------------------------------------------
        chosen_now   = Signal()
        unseen       = Signal()
        asked        = Signal()  # it carries the INTERRUPT flag
        self.submodules.any = any_index = \
            EachIndex(completed, unseen | asked) if device else AnyIndex()
        index        = any_index.index
        place        = Signal(INDEX_BITS)  # how far it is beyond the driver's index
        unseen_since = Signal(INDEX_BITS)  # completions from it on
        self.comb += [
            chosen_now.eq(dut.completion & ~ahead & (completed == index)),
            place.eq(index - consumer),
            unseen_since.eq(completed - index),
        ]
        self.sync += [
            If(chosen_now & ~dut.silent, unseen.eq(1)),
            If(chosen_now & dut.request, asked.eq(1)),
            If(dut.rearm & (place < step), unseen.eq(0), asked.eq(0)),
            If(dut.clear | getattr(self, "unknown", 0), unseen.eq(0), asked.eq(0)),
        ]

        # Time, independent of the device's counters, up to the settings.
        # ---------------------------------------------------------------
        since_raise = self._clocks_since(dut.raised, dut.gap, reset=FOREVER)
        waiting     = self._clocks_since(dut.rearm | dut.clear | (dut.unreported == 0),
                                         dut.absolute_timer)
        quiet       = self._clocks_since(dut.completion, dut.packet_timer)
        settled     = {setting: self._clocks_since_growth(setting)
                       for setting in (dut.gap, dut.absolute_timer, dut.packet_timer)}

        def over(time, setting):
            """The device may have forgotten the time beyond a setting when that grows."""
            return (time >= setting) & (settled[setting] >= setting)

        may_raise = Signal()  # armed, and no interrupt since
        before    = Signal()  # the line a clock ago
        dropped   = Signal()
        counted   = Signal()
        self.sync += [
            If(dut.rearm, may_raise.eq(1)),
            If(dut.raised | dut.disarm | dut.clear, may_raise.eq(0)),
            before.eq(dut.line | dut.raised),
            dropped.eq(masked),
            counted.eq(dut.rearm),
        ]
        ready   = may_raise & ~masked & over(since_raise, dut.gap)
        waiters = dut.unreported != 0

        # Sleep: an edge before which the device is not awake may be omitted.
        # -------------------------------------------------------------------
        registers = sorted(list_targets(dut._fragment.sync["sys"]), key=lambda s: s.duid)

        self.promises = {
            # Raising masks: at most one interrupt for each re-arm.
            "one_shot": ~dut.raised | may_raise,
            "armed_is_what_it_says": dut.armed == may_raise,
            # The line is high exactly from an interrupt to the next write that drops it.
            "line": dut.line == (before & ~dropped),
            "gap": ~dut.raised | (since_raise >= dut.gap),
            "counts_what_completed": dut.completed == completed,
            "one_cause": _ones(dut.by_request, dut.by_frames, dut.by_absolute, dut.by_packet,
                               dut.by_halt) == dut.raised,
            "counts_what_was_not_seen": dut.unreported == unreported,
            # No lost wake-up: an armed device remembers each completion that the driver has not
            # seen,
            "nothing_is_forgotten": ~(unseen & may_raise) | waiters,
            # and reports it in the clock in which the absolute timer ends, unless the gap forbids.
            "bounded_latency": ~(ready & waiters & (dut.absolute_timer != 0) &
                                 over(waiting, dut.absolute_timer)) | dut.raised,
            "packet_timer_raises": ~(ready & waiters & (dut.packet_timer != 0) &
                                     over(quiet, dut.packet_timer)) | dut.raised,
            "frames_raise_at_once": ~(ready & (dut.frames != 0) &
                                      (dut.unreported >= dut.frames)) | dut.raised,
            "requests_raise_at_once": ~(ready & asked) | dut.raised,
            "halt_raises_at_once": ~(ready & dut.halted) | dut.raised,
            # It raises for no other reason.
            "seen_raises_nothing": ~dut.raised | dut.by_halt | lead[-1],
            "silent_ones_count_for_nothing": ~waiters | witnessed,
            "halts_only_when_halted": ~dut.by_halt | dut.halted,
            "absolute_timer_not_early": ~dut.by_absolute | (waiting >= dut.absolute_timer),
            "packet_timer_not_early": ~dut.by_packet | (quiet >= dut.packet_timer),
            "all_off_is_silent": ~dut.raised | dut.by_request | dut.by_halt | (dut.frames != 0) |
                                 (dut.absolute_timer != 0) | (dut.packet_timer != 0),
            "asleep_nothing_changes": asleep_nothing_changes(self, dut.awake, registers),
        }
        if device:
            return
        # Lemmas for the induction: how the device's registers follow the proof's.
        # ------------------------------------------------------------------------
        under_way = Signal(INDEX_BITS)  # completed, but not seen
        request   = Signal(INDEX_BITS)  # how far the latest request is beyond the driver's index
        behind    = Signal(INDEX_BITS)  # and how far it is beyond the witness: negative
        since     = Signal(INDEX_BITS)  # completions since the witness
        self.comb += [
            under_way.eq(Mux(ahead, 0, -lead)),
            request.eq(internal(dut, "request_index") - 1 - consumer),
            behind.eq(consumer - witness),
            since.eq(completed - witness),
        ]
        self.promises |= {
            "lemma_ring": Mux(ahead, lead <= AHEAD, under_way <= RING),
            "lemma_ahead": internal(dut, "seen") == Mux(ahead, lead, 0),
            "lemma_unreported": dut.unreported <= under_way,
            "lemma_unseen": ~unseen | (waiters & (place < under_way)),
            "lemma_asked": ~asked | (internal(dut, "requested") & (place <= request)),
            "lemma_requested": ~internal(dut, "requested") | (request < under_way),
            "lemma_loud": internal(dut, "loud") == witnessed,
            "lemma_witness": internal(dut, "loud_index") == witness,
            "lemma_behind": ~witnessed | behind[-1],
            "lemma_unseen_witnessed": ~unseen | (witnessed & (since < unseen_since)),
            "lemma_first": ~any_index.first | ~(unseen | asked),
            "lemma_waiters": waiters | (internal(dut, "absolute_count") == 0),
        }
        for name, time, setting in (("gap", since_raise, dut.gap),
                                    ("absolute", waiting, dut.absolute_timer),
                                    ("packet", quiet, dut.packet_timer)):
            count = internal(dut, f"{name}_count")
            self.promises |= {
                f"lemma_{name}_not_early": count <= time,
                f"lemma_{name}_not_late": (count >= time) | (count >= settled[setting]) |
                                          (count >= setting),
            }
        # The promises are not vacuous: these states must be reachable.
        was_ahead = Signal()
        self.sync += If(counted & ahead, was_ahead.eq(1))
        self.reachable = {
            "interrupt": dut.raised,
            "interrupt_by_the_absolute_timer": dut.by_absolute & (waiting >= 4),
            "interrupt_by_a_timer_that_grew": dut.by_absolute & (dut.absolute_timer >= 4) &
                                              (waiting > settled[dut.absolute_timer]),
            "held_back_by_the_gap": may_raise & ~masked & (dut.unreported >= dut.frames) &
                                    (dut.frames != 0) & ~dut.raised,
            "uncovered_by_a_rearm": counted & unseen & may_raise,
            "request_unseen_at_rearm": counted & asked,
            "rearmed_ahead": counted & (lead == AHEAD),
            "request_seen_before_it_counts": dut.completion & dut.request & ahead & may_raise,
            "interrupt_after_being_ahead": dut.raised & was_ahead & (completed == 5),
            "interrupt_by_a_halt": dut.by_halt & was_ahead,
            "silent_ones_uncovered": counted & ~waiters & (under_way == 2),
            "others_uncovered_among_them": counted & (dut.unreported == 3) & (since == 1),
            "asleep_while_armed": ~dut.awake & may_raise & waiters & (dut.gap != 0),
        }
        self.inputs = any_index.inputs | {getattr(dut, name) for name in names}

    def _clocks_since(self, event, setting, reset=0):
        """0 in the clock after an event. It stops at the setting, so that a simulation can rest."""
        clocks = Signal(TIMER_BITS, reset=reset)
        self.sync += If(event, clocks.eq(0)).Elif(clocks < setting, clocks.eq(clocks + 1))
        return clocks

    def _clocks_since_growth(self, setting):
        """0 in the first clock in which a setting is larger than a clock ago; stops at the setting."""
        clocks = Signal(TIMER_BITS)
        next   = Signal(TIMER_BITS, reset=FOREVER)
        before = Signal(TIMER_BITS, reset=FOREVER)
        self.comb += clocks.eq(Mux(setting > before, 0, next))
        self.sync += before.eq(setting), next.eq(Mux(clocks < setting, clocks + 1, clocks))
        return clocks
