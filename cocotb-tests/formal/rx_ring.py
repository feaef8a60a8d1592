# SPDX-License-Identifier: BSD-2-Clause
"""The Rx ring writes only received words, only into buffers, and always terminates."""

from unittest import mock

from migen import *

from moderato.gateware.rings import ring
from moderato.gateware.rings.completions import IN_FLIGHT
from moderato.gateware.options     import MACOptions
from moderato.gateware.frame.records     import rx_frame
from moderato.gateware.registers.table   import INDEX_BITS, RX_BUFFER_ALIGN, RX_OFFSET, STAMP_OCTETS
from moderato.gateware.rings.rx_ring     import RxRing

from formal.completions import levels
from formal.environment import (OUTSTANDING, AnyIndex, Descriptors, Driver, WriteBus, all_of,
                                asleep_nothing_changes, slots)
from formal.prover      import internal


PARAM = rx_frame(MACOptions(rx_checksum=True, vlan=True, timestamp=True, merge=True))


class _FIFO(Module):
    """Replaces the frame FIFO: offers any frame, at any time, until its release."""
    def __init__(self):
        self.available = Signal(name_override="available")
        self.head      = Record(PARAM)
        self.word      = Signal(64, name_override="word")
        self.next      = Signal()
        self.release   = Signal()
        self.held      = self.available

        stands, same_word, word = Signal(), Signal(), Signal(64)
        head = Signal(layout_len(PARAM))
        self.sync += [
            stands.eq(self.available & ~self.release),
            head.eq(self.head.raw_bits()),
            same_word.eq(~self.next & ~self.release & self.available),
            word.eq(self.word),
        ]
        self.rules = [
            ~stands | (self.available & (head == self.head.raw_bits())),
            ~same_word | (word == self.word),
            self.head.length <= 2**14 - RX_OFFSET - STAMP_OCTETS - 4, # with its FCS in the largest FIFO
        ]
        self.inputs = {self.available, self.word, *self.head.flatten()}


class RxRingProof(Module):
    """The ring between a driver that follows the rules and a bus with any delays."""

    def __init__(self):
        self.submodules.fifo = fifo = _FIFO()
        with mock.patch.object(ring, "DescriptorFetcher", Descriptors):
            self.submodules.dut = dut = RxRing(fifo)
        fetcher, data, completions = dut.fetcher, dut.data, dut.completions
        source, job, oldest = fetcher.source, completions.job, completions.oldest
        self.submodules.driver = driver = Driver(dut)
        self.submodules.bus    = bus    = WriteBus(data)
        self.submodules.writes = writes = WriteBus(completions.port)
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(
            all_of(*driver.rules, *fetcher.rules, *fifo.rules, *bus.rules, *writes.rules,
                ~source.valid | (source.address[:log2_int(RX_BUFFER_ALIGN)] == 0)))
        at     = dut.fsm.ongoing
        status = completions.fsm.ongoing("DATA")

        # The current descriptor, and the words of the frame that goes to its buffer.
        # ---------------------------------------------------------------------------
        taken = Record(source.description.payload_layout)
        words = Signal(12)
        read  = Signal(12) # of them, taken off the FIFO.
        fits  = Signal()
        place = Signal(29) # Of the request, in words from the buffer's first.
        follows = Signal() # The frame before had a descriptor of this ring, since it was enabled.
        self.sync += [
            If(at("STOPPED") | dut.drop_ring,
                follows.eq(0)
            ).Elif(job.valid,
                follows.eq(1)
            ),
            If(source.valid & source.ready, taken.eq(source.payload)),
            If(fifo.next, read.eq(read + 1)),
            If(fifo.release, read.eq(0)),
        ]
        self.comb += [
            words.eq(((C(0, 16) + fifo.head.length + RX_OFFSET + 7) >> 3) + fifo.head.stamped),
            fits.eq((words << 3) <= taken.length),
            place.eq(data.request.address - taken.address[3:]),
        ]

        # One descriptor, any: its state.
        # -------------------------------
        self.submodules.any = any_index = AnyIndex()
        index   = any_index.index
        pushed  = Signal(INDEX_BITS)
        ended   = Signal(INDEX_BITS) # with all data acknowledged
        no_data = Signal()
        lost    = Signal() # Some of its data failed.
        finish  = Signal()
        self.comb += [
            finish.eq(data.done & bus.note(0)),
        ]
        self.sync += [
            no_data.eq(job.valid & job.error),
            If(job.valid, pushed.eq(pushed + 1)),
            If(finish | no_data, ended.eq(ended + 1)),
            If(data.done & (ended == index), lost.eq((lost | data.refused) & ~finish)),
            If(completions.restart, pushed.eq(0), ended.eq(0), lost.eq(0)),
        ]

        # Remaining work, the most significant part on top: it decreases with every event in a
        # disabled ring.
        # ------------------------------------------------------------------------------------
        remaining = internal(dut, "remaining")
        measure   = Signal(64)
        before    = Signal(64)
        happens   = Signal()
        happened  = Signal()
        disabled  = Signal() # a clock ago
        busy      = at("REQUEST") | at("DATA")
        pending   = Signal(4)
        self.comb += [
            pending.eq(2*completions.statuses.level - status),
            measure.eq(Cat(writes.owed, pending, completions.jobs.level, bus.owed, at("REQUEST"),
                Mux(busy, remaining, 0), at("DRAIN") | busy, at("WAIT") | busy)),
            happens.eq((data.request.valid & data.request.ready) | (data.data.valid & data.data.ready) |
                data.done | no_data | job.valid |
                (completions.port.request.valid & completions.port.request.ready) |
                (completions.port.data.valid & completions.port.data.ready) | completions.port.done |
                at("WAIT") | (at("DRAIN") & completions.idle & fetcher.idle)),
        ]
        self.sync += [
            before.eq(measure),
            happened.eq(happens),
            disabled.eq(~dut.enable),
        ]
        bus_moves = data.request.valid | data.data.valid | (bus.owed != 0) | no_data | \
            completions.port.request.valid | completions.port.data.valid | (writes.owed != 0)

        self.promises = {f"data_{name}": promise for name, promise in bus.promises.items()} | \
            {f"status_{name}": promise for name, promise in writes.promises.items()} | {
            # Writes.
            "writes_nothing_beyond_the_buffer": ~data.request.valid |
                (place + data.request.last_beat < taken.length[3:]),
            "writes_in_order": ~data.request.valid | (place == read),
            "writes_what_was_received": ~data.data.valid |
                (fifo.available & (read < words) & (data.data.data == fifo.word)),
            "each_word_is_written": fifo.next == (data.data.valid & data.data.ready),
            "last_burst_is_noted": ~data.request.valid |
                (data.request.note == (place + data.request.last_beat + 1 == words)),
            # Results.
            "releases_what_is_there": ~fifo.release | fifo.available,
            "releases_when_all_is_written": ~(fifo.release & job.valid & ~job.error) |
                (read + fifo.next == words),
            "job_for_each_release": ~job.valid | fifo.release,
            "job_is_the_frame": ~job.valid | (
                (job.length == fifo.head.length) & (job.multicast == fifo.head.multicast) &
                (job.broadcast == fifo.head.broadcast) & (job.urgent == fifo.head.urgent) &
                (job.sum == fifo.head.sum) &
                (job.tagged == fifo.head.tagged) & (job.tci == fifo.head.tci) &
                (job.continues == (fifo.head.continues & follows)) &
                (job.error == ~fits) &
                (job.request == (taken.request | fifo.head.urgent)) & (job.silent == taken.silent)),
            "drops_are_told": ~(fifo.release & dut.enable) | job.valid | dut.drop_ring | at("STOPPED"),
            "one_job_at_a_time": ~job.valid |
                (completions.room & ~(job.error & completions.waiting)),
            # A descriptor's data end with the acknowledgement of its last burst, which belongs to
            # its job.
            "ends_when_acknowledged": completions.finish == finish,
            "acknowledged_meet_their_job": ~finish | (completions.waiting & ~oldest.error),
            "refusals_are_told": ~(finish & (ended == index)) |
                (completions.refused == (lost | data.refused)),
            "halted_writes_nothing_new": ~(dut.halted & source.ready),
            # Termination: no deadlock, and each answer reduces the remaining work of a disabled
            # ring.
            "something_moves": completions.idle | bus_moves,
            "idle_is_the_end": ~(at("STOPPED") & ~dut.enable & ~fifo.available) |
                (dut.idle & (measure == 0)),
            "idle_is_empty": ~dut.idle | (completions.idle & (bus.owed == 0) & ~fifo.available),
            "stopped_drops": ~at("STOPPED") | (fifo.release == fifo.available),
            "disabled_moves": dut.enable | at("STOPPED") | bus_moves | at("WAIT") |
                (at("DRAIN") & completions.idle) | job.valid,
            "asleep_nothing_changes": asleep_nothing_changes(self, dut.awake,
                [*map(at, dut.fsm.actions), status, internal(completions, "in_flight"),
                 completions.jobs.level, completions.statuses.level, internal(dut, "refused")],
                acts=source.ready | job.valid | fifo.next | fifo.release | dut.drop_ring |
                    data.request.valid | data.data.valid |
                    completions.port.request.valid | completions.port.data.valid),
            "disabled_comes_to_an_end": ~disabled | Mux(happened, measure < before, measure <= before),
        }
        # Lemmas for the induction.
        # -------------------------
        jobs    = slots(self, completions.jobs)
        level   = completions.jobs.level
        beats   = bus.beats
        newest  = Signal()
        notes   = Signal(4)
        address = internal(dut, "address")
        self.comb += [
            newest.eq(Array(bus.note(n)[0] for n in range(OUTSTANDING))[bus.owed - 1]),
            notes.eq(sum(((n < bus.owed) & bus.note(n) for n in range(OUTSTANDING)), C(0, 4))),
        ]
        last_burst = at("DATA") & (remaining == beats)
        self.promises |= levels(completions, writes) | {
            "lemma_at_hand": ~busy | (fifo.available & completions.room &
                (job.length == fifo.head.length) & (job.multicast == fifo.head.multicast) &
                (job.broadcast == fifo.head.broadcast) & (job.urgent == fifo.head.urgent) &
                (job.sum == fifo.head.sum) &
                (job.tagged == fifo.head.tagged) & (job.tci == fifo.head.tci) &
                (job.continues == (fifo.head.continues & follows)) &
                (job.error == ~fits) &
                (job.request == (taken.request | fifo.head.urgent)) & (job.silent == taken.silent)),
            "lemma_follows": Mux(busy, ~internal(dut, "lost"),
                at("DRAIN") | at("STOPPED") | (internal(dut, "lost") == ~follows)),
            "lemma_place": Mux(busy,
                (address - taken.address[3:] == read) & (remaining != 0) & (remaining <= words) &
                    (read + remaining == words),
                read == 0),
            "lemma_fits": ~busy | (fits == (words <= taken.length[3:])) & (fits | (read == 0)),
            "lemma_beats": (at("DATA") == (beats != 0)) & (beats <= 8) &
                (~at("DATA") | ((beats <= remaining) & ~job.error & (internal(dut, "beats") == beats))),
            "lemma_notes": notes == C(0, 4) + level - no_data + last_burst,
            "lemma_error_jobs": Mux(level == 0, ~no_data,
                (jobs[0].error == no_data) & (~no_data | ((level == 1) & at("WAIT")))),
            "lemma_later_jobs": all_of(*[(n >= level) | ~jobs[n].error for n in range(1, IN_FLIGHT)]),
            "lemma_pushed": pushed == ended + level,
            "lemma_stopped": ~at("STOPPED") | completions.idle,
            "lemma_newest": (bus.owed == 0) |
                (newest == Mux(at("DATA"), remaining == beats, read == 0)),
            "lemma_fresh": (bus.owed != 0) | (read != 0) | ~internal(dut, "refused"),
            "lemma_refused": Mux(index == ended, internal(dut, "refused") == lost, ~lost),
        }
        sent = Signal()
        self.sync += If(completions.completion, sent.eq(1))
        self.reachable = {
            "several_frames_at_once": (level == 2) & (bus.owed == 3),
            "refusal_told": completions.finish & lost & (index == 1),
            "fits_exactly": job.valid & ~job.error & (words == taken.length[3:]) & (words == 3),
            "does_not_fit": dut.drop_buffer & (taken.length == 23) & (words == 3) & sent,
            "does_not_fit_and_waits": at("REQUEST") & job.error & completions.waiting,
            "disabled_under_way": ~dut.enable & (level == 1) & at("DATA"),
            "ended_after_that": dut.idle & sent,
        }
        self.inputs = driver.inputs | fetcher.inputs | fifo.inputs | bus.inputs | writes.inputs | \
            any_index.inputs
