# SPDX-License-Identifier: BSD-2-Clause
"""How descriptors end: each once, in order, with a true status, and after all of its data."""

from migen import *

from moderato.gateware.rings.completions import IN_FLIGHT, Completions
from moderato.gateware.rings.descriptor  import status
from moderato.gateware.registers.table   import INDEX_BITS, MAX_RING_ORDER, MIN_RING_ORDER

from formal.environment import AnyIndex, WriteBus, all_of, pointers, slots
from formal.prover      import internal


def levels(dut, bus):
    """Relations between the counts of a Completions and of the WriteBus at its port."""
    at_data = dut.fsm.ongoing("DATA")
    return {
        "lemma_levels": (dut.jobs.level <= IN_FLIGHT) & (dut.statuses.level <= IN_FLIGHT) &
            (internal(dut, "in_flight") <= IN_FLIGHT) & ~(at_data & (dut.statuses.level == 0)),
        "lemma_in_flight": internal(dut, "in_flight") ==
            C(0, 8) + dut.jobs.level + dut.statuses.level + (bus.owed - at_data),
        "lemma_at_data": (at_data == (bus.beats != 0)) & (bus.beats <= 1) &
            ~(at_data & (bus.owed == 0)),
        "lemma_pointers": pointers(dut.jobs) & pointers(dut.statuses),
    }


class CompletionsProof(Module):
    """Between a ring that follows the rules and a bus with any delays."""

    def __init__(self):
        self.submodules.dut = dut = Completions(
            [("length", 14), ("sum", 16), ("tci", 16), ("continues", 1), ("error", 1), ("request", 1),
             ("silent", 1)], fields=["length", "sum", "tci", "continues"])
        port, job, oldest = dut.port, dut.job, dut.oldest
        self.submodules.bus = bus = WriteBus(port)

        # The ring.
        # ---------
        same  = Signal()
        order, base, idle = Signal(4), Signal(32), Signal(reset=1)
        self.sync += order.eq(dut.order), base.eq(dut.base), idle.eq(dut.idle)
        self.comb += same.eq((order == dut.order) & (base == dut.base))
        ring = [
            (dut.order >= MIN_RING_ORDER) & (dut.order <= MAX_RING_ORDER) & (dut.base[:6] == 0),
            same | idle,
            ~dut.restart | (dut.idle & ~job.valid),
            ~job.valid | (dut.room & ~(job.error & dut.waiting)),
            ~dut.finish | (dut.waiting & ~oldest.error),
        ]
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(all_of(*ring, *bus.rules))

        # Counts of descriptors: taken, with all of their data acknowledged, with a status handed to
        # memory, with that acknowledged.
        # ------------------------------------------------------------------------------------------
        taken   = Signal(INDEX_BITS)
        ended   = Signal(INDEX_BITS)
        written = Signal(INDEX_BITS)
        done    = Signal(INDEX_BITS)
        no_data = Signal() # A job without data was taken a clock ago.
        refused = Signal() # Memory failed a status.
        self.sync += [
            no_data.eq(job.valid & job.error),
            If(job.valid, taken.eq(taken + 1)),
            If(dut.finish | no_data, ended.eq(ended + 1)),
            If(port.data.valid & port.data.ready, written.eq(written + 1)),
            If(port.done, done.eq(done + 1)),
            If(port.done & port.refused, refused.eq(1)),
            If(dut.restart, [count.eq(0) for count in (taken, ended, written, done, refused)]),
        ]

        # One descriptor, any: its state.
        # -------------------------------
        self.submodules.any = any_index = AnyIndex()
        index  = any_index.index
        known  = Record(dut.jobs.source.description.payload_layout)
        lost   = Signal() # and whether memory failed some of its data,
        alone  = Signal() # or of the one before it.
        failed = Signal() # The latest one that ended.
        self.sync += [
            If(job.valid & (taken == index), known.eq(job.payload), lost.eq(job.error)),
            If(dut.finish & (ended == index) & dut.refused, lost.eq(1)),
            If(dut.finish | no_data, failed.eq(dut.refused | no_data)),
            If((dut.finish | no_data) & (ended == index), alone.eq(failed)),
            If(dut.restart, failed.eq(0)),
        ]

        beat  = port.data.data[32:]
        slot  = Signal(29)
        mask  = Signal(INDEX_BITS)
        marks = Cat(known.request, known.silent)
        field = lambda name: beat[status[name].lsb:status[name].lsb + status[name].width]
        self.comb += [
            mask.eq((1 << dut.order) - 1),
            slot.eq(dut.base[3:] + ((written & mask) << 1) + 1),
        ]
        of_chosen = port.data.valid & (written == index)
        moves     = port.request.valid | port.data.valid | (bus.owed != 0)
        self.promises = bus.promises | levels(dut, bus) | {
            "status_only_after_its_data": ~port.request.valid | (written != ended),
            "status_in_its_slot": ~port.request.valid |
                ((port.request.address == slot) & (port.request.last_beat == 0)),
            "status_of_this_pass": ~port.data.valid |
                (field("PHASE") == ~((written >> dut.order)[0])),
            "status_tells_what_was": ~of_chosen | (
                (field("LENGTH") == Mux(lost, 0, known.length)) & (field("ERROR") == lost) &
                (field("CONTINUES") == (known.continues & ~lost & ~alone)) &
                (port.data.data[:32] == Mux(lost, 0, Cat(known.sum, known.tci)))),
            "completes_what_was_written": ~dut.completion | (done != written),
            "completion_asks_as_it_should": ~(port.done & (done == index)) |
                (Cat(dut.request, dut.silent) == marks),
            "each_acknowledged_status_completes":
                dut.completion == (port.done & ~port.refused & ~refused),
            "tells_that_it_failed": dut.failed == refused,
            "idle_is_empty": dut.idle == (taken == done),
            "waits_for_data": dut.waiting == (taken != ended),
            "never_overflows": (~job.valid | dut.jobs.sink.ready) &
                (~dut.statuses.sink.valid | dut.statuses.sink.ready),
            # No deadlock: a descriptor in progress lacks data, or the bus has to act.
            "something_moves": dut.idle | moves | (dut.waiting & ~oldest.error) | no_data,
        }
        # Lemmas for the induction.
        # -------------------------
        jobs     = slots(self, dut.jobs)
        statuses = slots(self, dut.statuses)
        at_data  = dut.fsm.ongoing("DATA")
        self.promises |= {
            "lemma_taken": taken == ended + dut.jobs.level,
            "lemma_ended": ended == written + dut.statuses.level,
            "lemma_written": written == done + (bus.owed - at_data),
            "lemma_index": internal(dut, "index") == written,
            "lemma_failed": internal(dut, "lost") == failed,
            "lemma_no_data": Mux(dut.jobs.level == 0, ~no_data,
                (jobs[0].error == no_data) & (~no_data | (dut.jobs.level == 1))),
            "lemma_later_jobs_have_data": all_of(*[
                (n >= dut.jobs.level) | ~jobs[n].error for n in range(1, IN_FLIGHT)]),
            "lemma_jobs": all_of(*[
                (n >= dut.jobs.level) | (index != ended + n) | (
                    (jobs[n].raw_bits() == known.raw_bits()) & (jobs[n].error == lost))
                for n in range(IN_FLIGHT)]),
            "lemma_statuses": all_of(*[
                (n >= dut.statuses.level) | (index != written + n) | (
                    (Cat(statuses[n].request, statuses[n].silent) == marks) &
                    (statuses[n].length == known.length) & (statuses[n].sum == known.sum) &
                    (statuses[n].tci == known.tci) &
                    (statuses[n].continues == (known.continues & ~alone)) &
                    (statuses[n].error == lost))
                for n in range(IN_FLIGHT)]),
            "lemma_marks": all_of(*[
                (n >= bus.owed) | (index != done + n) | (bus.note(n) == marks)
                for n in range(IN_FLIGHT)]),
        }
        failed_before = Signal()
        self.sync += If(refused & dut.restart, failed_before.eq(1))
        self.reachable = {
            "four_at_once": dut.jobs.level == IN_FLIGHT,
            "second_pass": dut.completion & (done == 5) & (dut.order == MIN_RING_ORDER),
            "continues_what_memory_refused": of_chosen & known.continues & alone & ~lost,
            "refused_data_told": of_chosen & lost & ~known.error & (index == 2),
            "no_data_told": of_chosen & known.error & (index == 2),
            "refused_status_among_others": refused & (bus.owed == 3),
            "completes_after_a_failure": dut.completion & failed_before,
        }
        self.inputs = bus.inputs | any_index.inputs | {dut.base, dut.order,
            dut.restart, dut.finish, dut.refused, job.valid, *job.payload.flatten()}
