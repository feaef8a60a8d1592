# SPDX-License-Identifier: BSD-2-Clause
"""The Tx ring reads only the memory that descriptors name, never more than fits, and always
terminates."""

from unittest import mock

from migen import *

from litex.soc.interconnect import stream

from moderato.gateware.rings import ring
from moderato.gateware.rings.completions import IN_FLIGHT
from moderato.gateware.options     import MACOptions
from moderato.gateware.frame.records     import tx_frame
from moderato.gateware.registers.table   import INDEX_BITS, STAMP_BITS
from moderato.gateware.rings.tx_ring     import TxRing

from formal.completions import levels
from formal.environment import (AnyIndex, Descriptors, Driver, ReadBus, WriteBus, all_of,
                                asleep_nothing_changes, slots)
from formal.prover      import internal

FIFO_ORDER = 12
MAX_FRAMES = 64
DEPTH      = 2**FIFO_ORDER//8


class _FIFO(Module):
    """Replaces the frame FIFO: its transmitter takes frames and words at any time."""
    longest    = 2**FIFO_ORDER - 8
    max_frames = MAX_FRAMES

    def __init__(self, param):
        self.write  = Signal()
        self.data   = Signal(64)
        self.commit = Signal()
        self.param  = Record(param)
        self.space  = Signal(max=DEPTH + 1, reset=DEPTH)
        self.frames = Signal(max=MAX_FRAMES + 1)

        self.freed   = Signal(max=DEPTH + 1, name_override="freed")
        self.release = Signal(name_override="release")
        self.sync += [
            self.space.eq(self.space + self.freed - self.write),
            self.frames.eq(self.frames + self.commit - self.release),
        ]
        self.rules = [
            C(0, 16) + self.space + self.freed <= DEPTH,
            ~self.release | (self.frames != 0),
        ]
        self.inputs = {self.freed, self.release}


class _Checksum(Module):
    """Replaces the TxChecksum."""
    def __init__(self):
        self.write  = Signal()
        self.data   = Signal(64)
        self.number = Signal(12)
        self.last   = Signal()
        self.start  = Signal(15)
        self.end    = Signal(3)
        self.odd    = Signal()
        self.awake  = Signal(name_override="summing")


class _Stamps(Module):
    """Replaces the RingStamps: returns a stamp, or reports that there is none, at any time. A ring
    that stops does not wait."""
    def __init__(self):
        self.source  = source = stream.Endpoint([("stamp", STAMP_BITS), ("found", 1)])
        self.give_up = Signal()
        self.awake   = Signal(name_override="stamping")

        stands = Signal()
        self.sync += stands.eq(source.valid & ~source.ready)
        self.rules  = [~(self.give_up | stands) | source.valid]
        self.inputs = {self.awake, source.valid, source.stamp, source.found}


class TxRingProof(Module):
    """The ring between a driver that follows the rules and a bus with any delays.

    checksum: with checksums to be inserted.
    tag:      with VLAN tags to be inserted.
    stamp:    with time stamps.
    """

    def __init__(self, checksum=False, tag=False, stamp=False):
        checksums = _Checksum() if checksum else None
        stamps    = None
        if stamp:
            self.submodules.stamps = stamps = _Stamps()
        options = MACOptions(tx_checksum=checksum, vlan=tag, timestamp=stamp)
        self.submodules.fifo = fifo = _FIFO(tx_frame(options))
        with mock.patch.object(ring, "DescriptorFetcher", Descriptors):
            self.submodules.dut = dut = TxRing(fifo, options, checksums, stamps)
        fetcher, data, completions = dut.fetcher, dut.data, dut.completions
        source, job, oldest = fetcher.source, completions.job, completions.oldest
        self.submodules.driver = driver = Driver(dut)
        self.submodules.reads  = reads  = ReadBus(data)
        self.submodules.writes = writes = WriteBus(completions.port)
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(
            all_of(*driver.rules, *fetcher.rules, *fifo.rules, *reads.rules, *writes.rules,
                *(stamps.rules if stamp else [])))
        at     = dut.fsm.ongoing
        status = completions.fsm.ongoing("DATA")

        # The current descriptor, and the words that contain its frame.
        # -------------------------------------------------------------
        taken = Record(source.description.payload_layout)
        words = Signal(14)
        place = Signal(29) # Of the request, in words from the first.
        legal = Signal()
        self.sync += If(source.valid & source.ready, taken.eq(source.payload))
        self.comb += [
            words.eq(((taken.address[:3] + taken.length - 1) >> 3) + 1), # if there are any
            legal.eq((taken.length != 0) & (taken.length <= 2**FIFO_ORDER - 8)),
            place.eq(data.request.address - taken.address[3:]),
        ]

        # One descriptor, any: its state.
        # -------------------------------
        self.submodules.any = any_index = AnyIndex()
        index   = any_index.index
        pushed  = Signal(INDEX_BITS)
        ended   = Signal(INDEX_BITS)
        no_data = Signal()
        known   = Record(completions.jobs.source.description.payload_layout)
        lost    = Signal() # Some of its data failed.
        commits = Signal() # It is whole, and committed to the FIFO in this clock.
        self.sync += [
            no_data.eq(job.valid & job.error),
            If(job.valid, pushed.eq(pushed + 1)),
            If(completions.finish | no_data, ended.eq(ended + 1)),
            If(completions.restart, pushed.eq(0), ended.eq(0)),
            If(job.valid & (pushed == index), known.eq(job.payload), lost.eq(0)),
            If(data.valid & (ended == index) & data.error, lost.eq(1)),
            commits.eq(completions.finish & (ended == index)),
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
        self.comb += [
            measure.eq(Cat(writes.owed, self._bits(4, 2*completions.statuses.level - status),
                completions.jobs.level, reads.owed, Mux(at("REQUEST"), remaining, 0),
                at("DRAIN") | at("REQUEST") | at("RESERVE"),
                at("WAIT") | at("REQUEST") | at("RESERVE"))),
            happens.eq((data.request.valid & data.request.ready) | data.valid | no_data |
                (completions.port.request.valid & completions.port.request.ready) |
                (completions.port.data.valid & completions.port.data.ready) | completions.port.done |
                at("WAIT") | at("RESERVE") | (at("DRAIN") & completions.idle & fetcher.idle)),
        ]
        self.sync += [
            before.eq(measure),
            happened.eq(happens),
            disabled.eq(~dut.enable),
        ]
        waits_for_stamp = 0
        if stamp:
            waits_for_stamp = completions.statuses.source.valid & ~stamps.source.valid & \
                completions.statuses.source.stamp
        bus_moves = data.request.valid | (reads.owed != 0) | no_data | \
            completions.port.request.valid | completions.port.data.valid | (writes.owed != 0)

        reserved, room = internal(dut, "reserved"), internal(dut, "room", but=completions.room)
        self.promises = writes.promises | {
            # Read requests.
            "reads_nothing_beyond_the_frame": ~data.request.valid |
                (legal & (place + data.request.last_beat < words)),
            "reads_in_order": ~data.request.valid | (place + remaining == words),
            "request_stays_in_its_line": ~data.request.valid |
                (data.request.address[:3] + data.request.last_beat < 8),
            # Results.
            "data_meet_their_job": ~data.valid | (completions.waiting & ~oldest.error),
            "counts_no_words_of_others": ~data.valid | (internal(dut, "arrived") < oldest.words),
            "illegal_lengths_are_told": ~job.valid | (job.error == ~legal),
            "job_is_the_descriptor": ~job.valid | ((job.length == taken.length[:14]) | ~legal) &
                (job.offset == taken.address[:3]) & (~legal | (job.words == words)) &
                (job.request == taken.request) & (job.silent == taken.silent),
            "one_job_at_a_time": ~job.valid |
                (completions.room & ~(job.error & completions.waiting)),
            "refusals_are_told": ~(completions.finish & (ended == index)) |
                (completions.refused == (lost | data.error)),
            "frame_is_told_as_it_was": ~commits | (fifo.commit & (fifo.param.error == lost) &
                (fifo.param.length == known.length) & (fifo.param.offset == known.offset)),
            # The FIFO.
            "never_overflows": ~fifo.write | (fifo.space != 0),
            "reserves_what_is_there": reserved <= fifo.space,
            "never_too_many_frames": fifo.frames + fifo.commit <= MAX_FRAMES,
            "an_empty_fifo_has_room": ~(at("RESERVE") & legal) | (reserved != 0) |
                (fifo.space != DEPTH) | (fifo.frames != 0) | room,
            # Termination: no deadlock, and each answer reduces the remaining work of a disabled
            # ring.
            "something_moves": completions.idle | bus_moves | waits_for_stamp,
            "idle_is_the_end": ~(at("STOPPED") & ~dut.enable) | (dut.idle & (measure == 0)),
            "idle_is_empty": ~dut.idle | (completions.idle & (reserved == 0) & (reads.owed == 0)),
            "disabled_moves": dut.enable | dut.idle | bus_moves | at("WAIT") | at("RESERVE") |
                (at("DRAIN") & completions.idle),
            "asleep_nothing_changes": asleep_nothing_changes(self, dut.awake,
                [*map(at, dut.fsm.actions), status, internal(completions, "in_flight"),
                 completions.jobs.level, completions.statuses.level, internal(dut, "reserved"),
                 internal(dut, "arrived"), internal(dut, "refused"), fifo.commit],
                acts=source.ready | job.valid | fifo.write | dut.drop_length | data.request.valid |
                    completions.port.request.valid | completions.port.data.valid),
            "disabled_comes_to_an_end": ~disabled | Mux(happened, measure < before, measure <= before),
        }
        if checksum:
            self.promises |= {
                "job_asks_for_a_checksum_as_the_descriptor": ~job.valid | (
                    (job.start == Cat(C(0, 1), taken.start) + taken.address[:3]) &
                    (job.place == taken.place) & (job.insert == taken.insert)),
                "sums_what_goes_into_the_fifo":
                    (checksums.write == fifo.write) & (checksums.data == fifo.data),
                "sums_a_frame_from_its_first_word_on": ~checksums.write | (
                    (checksums.number == internal(dut, "arrived")) &
                    (checksums.last == (checksums.number + 1 == oldest.words))),
                "sums_what_was_asked_for": ~checksums.write | (ended != index) | (
                    (checksums.start == known.start) &
                    (checksums.end == (known.offset + known.length)[:3]) &
                    (checksums.odd == known.offset[0])),
                "place_is_told_as_it_was": ~commits |
                    ((fifo.param.place == known.place) & (fifo.param.insert == known.insert)),
                "lemma_asked": ~(at("RESERVE") | at("REQUEST")) | (
                    (internal(dut, "start") == taken.start) & (job.place == taken.place) &
                    (job.insert == taken.insert)),
            }
        if tag:
            allowed = Signal() # when the descriptor was taken
            self.sync += If(source.valid & source.ready, allowed.eq(dut.insert))
            self.promises |= {
                "job_asks_for_a_tag_as_the_descriptor": ~job.valid |
                    ((job.tag == taken.tag) & (job.tagged == (taken.tagged & allowed))),
                "tag_is_told_as_it_was": ~commits |
                    ((fifo.param.tag == known.tag) & (fifo.param.tagged == known.tagged)),
                "lemma_tagged": ~(at("RESERVE") | at("REQUEST")) |
                    ((job.tag == taken.tag) & (job.tagged == (taken.tagged & allowed))),
            }
        if stamp:
            self.promises |= {
                "job_asks_for_a_stamp_as_the_descriptor": ~job.valid | (job.stamp == taken.stamp),
                "whether_it_asks_is_told_as_it_was": ~commits | (fifo.param.stamp == known.stamp),
                "waits_for_no_stamp_when_disabled": dut.enable | ~waits_for_stamp,
                "lemma_asks": ~(at("RESERVE") | at("REQUEST")) | (job.stamp == taken.stamp),
            }
        # Lemmas for the induction.
        # -------------------------
        jobs     = slots(self, completions.jobs)
        level    = completions.jobs.level
        arrived  = internal(dut, "arrived")
        frames   = Signal(8)

        # Positions in the stream of all words ever requested for jobs.
        promised = Signal(12)
        received = Signal(12)
        begun    = Signal(12) # The start of the oldest job,
        ends     = [Signal(12, name=f"end{n}") for n in range(IN_FLIGHT)] # and the end of each.
        left     = Signal(max=IN_FLIGHT + 1)
        ended_job, end = Signal(), Signal(12)
        self.comb += [
            ended_job.eq(completions.finish | no_data),
            left.eq(level - ended_job),
            end.eq(promised + Mux(job.valid & ~job.error, job.words, 0)),
        ]
        self.sync += [
            promised.eq(end),
            received.eq(received + data.valid),
            If(ended_job, begun.eq(ends[0]), [a.eq(b) for a, b in zip(ends, ends[1:])]),
            If(job.valid, Case(left, {n: ends[n].eq(end) for n in range(IN_FLIGHT)})),
        ]
        self.comb += [
            # The frames that will be in the FIFO.
            frames.eq(C(0, 8) + fifo.frames + fifo.commit + level - no_data),
        ]
        at_hand = at("RESERVE") | at("REQUEST")
        self.promises |= levels(completions, writes) | {
            "lemma_at_hand": ~at_hand | ((internal(dut, "length") == taken.length) &
                (internal(dut, "offset") == taken.address[:3]) &
                (internal(dut, "request") == taken.request) & (internal(dut, "silent") == taken.silent)),
            "lemma_room": ~at_hand | (internal(completions, "in_flight") != IN_FLIGHT) |
                at("REQUEST"),
            "lemma_first": ~at("RESERVE") | (internal(dut, "address") == taken.address[3:]),
            "lemma_place": ~at("REQUEST") | (legal & (remaining != 0) & (remaining <= words) &
                (internal(dut, "address") - taken.address[3:] + remaining == words)),
            "lemma_reserved": reserved == C(0, 16) + reads.owed + Mux(at("REQUEST"), remaining, 0),
            "lemma_position": (internal(dut, "reserved") == promised - received) &
                (arrived == received - begun),
            "lemma_ends": promised == Mux(level == 0, begun, Array(ends)[level - 1]),
            "lemma_words": all_of(*[
                (n >= level) | (ends[n] - (ends[n - 1] if n else begun) ==
                    Mux(jobs[n].error, 0, jobs[n].words)) for n in range(IN_FLIGHT)]),
            "lemma_arrived": Mux(level == 0, arrived == 0,
                Mux(no_data, (arrived == 0) & jobs[0].error & (level == 1),
                    ~jobs[0].error & (arrived < jobs[0].words))),
            "lemma_longest": all_of(*[
                (n >= level) | jobs[n].error | (jobs[n].words <= DEPTH) for n in range(IN_FLIGHT)]),
            "lemma_no_data": ~no_data | (at("WAIT") & (level == 1)),
            "lemma_later_jobs": all_of(*[
                (n >= level) | (~jobs[n].error & (jobs[n].words != 0)) for n in range(1, IN_FLIGHT)]),
            "lemma_frames": frames <= MAX_FRAMES,
            "lemma_space": fifo.space <= DEPTH,
            "lemma_commit": ~fifo.commit | ~completions.idle,
            "lemma_pushed": pushed == ended + level,
            "lemma_stopped": ~at("STOPPED") | completions.idle,
            "lemma_known": all_of(*[
                (n >= level) | (index != ended + n) |
                    (jobs[n].raw_bits() == known.raw_bits()) for n in range(IN_FLIGHT)]),
            "lemma_lost": (level == 0) | (index != ended) | no_data |
                (internal(dut, "refused") == lost),
            "lemma_fresh": Mux((level == 0) | no_data, ~internal(dut, "refused"),
                all_of(*[(n >= level) | (index != ended + n) | ~lost for n in range(1, IN_FLIGHT)])),
        }
        sent = Signal()
        self.sync += If(fifo.commit, sent.eq(1))
        self.reachable = {
            "several_frames_at_once": (level == 3) & (reserved == 5),
            "illegal_before_short_one": no_data & sent,
            "illegal_waits": at("RESERVE") & ~legal & completions.waiting,
            "waits_for_the_fifo": at("RESERVE") & legal & ~room & (reserved == 0),
            "refusal_told": commits & lost & (index == 1),
            "disabled_under_way": ~dut.enable & (level == 2) & (reads.owed == 3),
            "ended_after_that": dut.idle & sent,
        }
        self.inputs = driver.inputs | fetcher.inputs | fifo.inputs | reads.inputs | writes.inputs | \
            any_index.inputs
        if checksum:
            self.inputs |= {checksums.awake}
        if tag:
            self.inputs |= {dut.insert}
        if stamp:
            self.reachable["waits_for_a_stamp"] = waits_for_stamp
            self.inputs |= stamps.inputs

    def _bits(self, width, expression):
        """An expression as a signal, so that it has a place in a Cat."""
        signal = Signal(width)
        self.comb += signal.eq(expression)
        return signal
