# SPDX-License-Identifier: BSD-2-Clause
"""The Tx ring of frames in pieces reads only the memory that descriptors name, sends only whole
frames, and always terminates. It is the ring without segments."""

from unittest import mock

from migen import *

from moderato.gateware.rings import ring
from moderato.gateware.rings.completions import IN_FLIGHT
from moderato.gateware.rings.gather_ring import BUFFER_WORDS, GatherRing
from moderato.gateware.options     import MACOptions
from moderato.gateware.frame.records     import tx_frame
from moderato.gateware.registers.table   import INDEX_BITS

from formal              import tx_ring
from formal.completions  import levels
from formal.environment  import (AnyIndex, Descriptors, Driver, ReadBus, WriteBus, all_of,
                                 asleep_nothing_changes, pointers, slots)
from formal.prover       import internal
from formal.tx_ring      import DEPTH, FIFO_ORDER, MAX_FRAMES

LONGEST = 2**FIFO_ORDER - 8 # Octets of a frame.


class _FIFO(tx_ring._FIFO):
    """Discards its part of the frame on abort. It contains nothing else when it has no frames."""
    def __init__(self, param):
        super().__init__(param)
        self.abort = Signal()
        self.held  = Signal(max=2*DEPTH) # Words of the frame that is being written.
        self.sync += [
            self.held.eq(self.held + self.write),
            If(self.commit | self.abort, self.held.eq(0)),
        ]
        self.rules += [(self.frames != 0) | (C(0, 16) + self.space + self.held == DEPTH)]


class GatherRingProof(Module):
    """The ring between a driver that follows the rules and a bus with any delays.

    options: with checksums and VLAN tags to be inserted, and with time stamps.
    """

    def __init__(self, options=False):
        checksums = tx_ring._Checksum() if options else None
        stamps    = None
        if options:
            self.submodules.stamps = stamps = tx_ring._Stamps()
        chosen = MACOptions(gather=True, tx_checksum=options, vlan=options, timestamp=options)
        self.submodules.fifo = fifo = _FIFO(tx_frame(chosen))
        with mock.patch.object(ring, "DescriptorFetcher", Descriptors):
            self.submodules.dut = dut = GatherRing(fifo, chosen, checksums, stamps)
        fetcher, data, completions, buffer = dut.fetcher, dut.data, dut.completions, dut.buffer
        source, job, oldest = fetcher.source, completions.job, completions.oldest
        assembly, packer    = dut.assembly, dut.assembly.packer
        self.submodules.driver = driver = Driver(dut)
        self.submodules.reads  = reads  = ReadBus(data)
        self.submodules.writes = writes = WriteBus(completions.port)
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(
            all_of(*driver.rules, *fetcher.rules, *fifo.rules, *reads.rules, *writes.rules,
                *(stamps.rules if options else [])))
        at, puts = dut.fsm.ongoing, assembly.fsm.ongoing
        status   = completions.fsm.ongoing("DATA")
        jobs     = slots(self, completions.jobs)
        level    = completions.jobs.level
        bits     = self._bits
        at_hand  = at("MEASURE") | at("JOB") | at("REQUEST")
        busy     = ~puts("PIECE")

        def touched(length, offset):
            """Number of words that contain these octets."""
            return bits(15, (bits(18, length + offset) + 7) >> 3)

        # The current descriptor, and its frame up to there.
        # --------------------------------------------------
        taken   = Record(source.description.payload_layout)
        words   = touched(taken.length, taken.address[:3])
        place   = Signal(29) # Of the request, in words from the first.
        earlier = Signal(17) # Octets of its frame before it,
        upto    = Signal(18) # and with it.
        follows = Signal()   # An earlier piece aborted the frame.
        legal   = Signal()
        self.sync += [
            If(source.valid & source.ready, taken.eq(source.payload)),
            If(job.valid,
                earlier.eq(Mux(job.more & ~job.error, upto, 0)),
                follows.eq(job.more & job.error),
            ),
            If(completions.restart, earlier.eq(0), follows.eq(0)),
        ]
        self.comb += [
            place.eq(data.request.address - taken.address[3:]),
            upto.eq(earlier + taken.length),
            legal.eq((taken.length != 0) & (upto <= LONGEST)),
        ]

        # The frame that is being assembled.
        # ----------------------------------
        wrong   = Signal() # A piece of it is invalid, or failed.
        off     = Signal() # The ring was disabled, and not idle since.
        no_data = Signal() # The oldest piece is one without data.
        at_once = Signal() # Such a piece was taken a clock ago.
        over    = Signal() # The oldest piece ends.
        halts   = Signal() # A clock ago nothing more could come,
        gone    = Signal() # and since then the frame is being aborted.
        self.comb += [
            no_data.eq(completions.waiting & oldest.error),
            over.eq(completions.finish | no_data),
        ]
        self.sync += [
            If((buffer.source.valid & buffer.source.ready & buffer.source.error) | no_data, wrong.eq(1)),
            If((over & ~oldest.more) | assembly.awake | completions.restart, wrong.eq(0)),
            halts.eq(dut.halted & at("WAIT") & (level == 0)),
            If(completions.restart, gone.eq(0)).Elif(assembly.awake, gone.eq(1)),
            If(completions.restart, off.eq(0)).Elif(~dut.enable, off.eq(1)),
            at_once.eq(job.valid & job.error),
        ]

        # Words that the oldest job needs, and octets of it that its frame lacks.
        # -----------------------------------------------------------------------
        remaining, owed = internal(dut, "remaining"), internal(dut, "owed")
        left, first     = internal(assembly, "left"), internal(assembly, "first")
        count, octets   = internal(assembly, "count"), internal(assembly, "octets")
        final, spoilt   = internal(assembly, "final"), internal(assembly, "spoilt")
        number, begun   = internal(assembly, "number"), internal(assembly, "begun")
        fill, full      = internal(packer, "fill"), internal(packer, "full")
        need, lacks     = Signal(16), Signal(17)
        self.comb += [
            If(puts("PIECE"),
                need.eq(touched(jobs[0].length, jobs[0].offset)),
                lacks.eq(jobs[0].length),
            ).Elif(puts("WORD"),
                need.eq(touched(left, first)),
                lacks.eq(left),
            ).Elif(puts("OCTETS"),
                need.eq(Mux(final, 0, touched(left, C(0, 3)))),
                lacks.eq(count + Mux(final, 0, left)),
            )
        ]

        # Where each job ends: in the stream of all words ever requested by jobs, and in its frame.
        # -----------------------------------------------------------------------------------------
        promised = Signal(16)
        popped   = Signal(16)
        ends     = [Signal(16, name=f"end{n}") for n in range(IN_FLIGHT)]
        sums     = [Signal(13, name=f"sum{n}") for n in range(IN_FLIGHT)]
        remains, end = bits(3, level - over), bits(16, promised + Mux(job.error, 0, words))
        self.sync += [
            If(job.valid, promised.eq(end)),
            popped.eq(popped + (buffer.source.valid & buffer.source.ready)),
            If(over, [a.eq(b) for each in (ends, sums) for a, b in zip(each, each[1:])]),
            If(job.valid, Case(remains, {n: [
                ends[n].eq(end),
                sums[n].eq(Mux(job.error, 0, upto)),
            ] for n in range(IN_FLIGHT)})),
        ]

        # Remaining work, the most significant part on top: it decreases with every event in a
        # disabled ring.
        # ------------------------------------------------------------------------------------
        rank    = Signal(2)
        measure = Signal(80)
        before  = Signal(80)
        disabled, waited = Signal(), Signal() # a clock ago
        bus_moves = data.request.valid | (reads.owed != 0) | completions.port.request.valid | \
            completions.port.data.valid | (writes.owed != 0)
        full_fifo = (packer.write & (fifo.space == 0)) | \
            (puts("PIECE") & completions.waiting & (fifo.frames == MAX_FRAMES))
        self.comb += [
            rank.eq(Mux(puts("OCTETS"), 3, Mux(puts("END"), 2, Mux(puts("WORD"), 0, 1)))),
            measure.eq(Cat(writes.owed, bits(4, 2*completions.statuses.level - status), packer.write,
                bits(1, completions.waiting & ~spoilt), rank, level, buffer.level, reads.owed,
                bits(14, Mux(at("REQUEST"), remaining, 0)),
                bits(3, Mux(at("REQUEST"), 4, Mux(at("WAIT") | at("MEASURE"), 3, Mux(at("JOB"), 2,
                    at("DRAIN"))))))),
        ]
        self.sync += [
            before.eq(measure),
            disabled.eq(~dut.enable & ~dut.idle),
            waited.eq(bus_moves | (at("DRAIN") & ~fetcher.idle)),
        ]
        waits_for_stamp = 0
        if options:
            waits_for_stamp = completions.statuses.source.valid & ~stamps.source.valid & \
                completions.statuses.source.stamp

        stands  = Signal()
        asked   = Signal(29 + 3)
        request = Cat(data.request.address, data.request.last_beat)
        self.sync += [
            stands.eq(data.request.valid & ~data.request.ready),
            asked.eq(request),
        ]
        self.promises = writes.promises | {
            # Read requests.
            "reads_nothing_beyond_the_piece": ~data.request.valid |
                (place + data.request.last_beat < words),
            "reads_in_order": ~data.request.valid | (place + remaining == words),
            "request_stays_in_its_line": ~data.request.valid |
                (data.request.address[:3] + data.request.last_beat < 8),
            "read_request_stands": ~stands | (data.request.valid & (request == asked)),
            "asks_for_no_word_without_room": ~data.valid | buffer.sink.ready,
            # Results of a piece.
            "words_meet_their_job": ~(buffer.source.valid & buffer.source.ready) |
                (completions.waiting & ~oldest.error),
            "illegal_lengths_are_told": ~job.valid | (job.error == (~legal | follows)),
            "illegal_lengths_are_counted_once": dut.drop_length == (job.valid & ~legal & ~follows),
            "job_is_the_descriptor": ~job.valid | (job.length == taken.length) &
                (job.offset == taken.address[:3]) & (job.more == taken.more) &
                (job.request == taken.request) & (job.silent == taken.silent),
            "one_job_at_a_time": ~job.valid |
                (completions.room & ~(job.error & completions.waiting)),
            "ends_what_waits": ~completions.finish | (completions.waiting & ~oldest.error),
            "takes_all_of_a_piece": ~completions.finish | (need == 0),
            "refusals_are_told": ~completions.finish | ~wrong | completions.refused,
            "nothing_else_is_told": ~completions.finish | ~completions.refused | wrong | off,
            # Results of a frame.
            "sends_no_part_of_a_frame": ~fifo.commit |
                (completions.finish & ~oldest.more & ~wrong & ~completions.refused),
            "sends_what_is_whole": ~completions.finish | oldest.more | completions.refused | fifo.commit,
            "frame_is_as_long_as_its_pieces": ~fifo.commit | (
                (fifo.param.length == sums[0]) & (fifo.held == ((fifo.param.length + 7) >> 3)) &
                (fifo.param.offset == 0) & ~fifo.param.error),
            "a_halted_ring_lets_go": ~halts | ~assembly.wants,
            "forgets_what_it_does_not_send": fifo.commit | fifo.abort |
                ~((over & ~oldest.more) | assembly.awake | dut.idle) | (fifo.held == 0),
            # The FIFO.
            "never_overflows": ~fifo.write | (fifo.space != 0),
            "never_too_many_frames": C(0, 8) + fifo.frames + fifo.commit <= MAX_FRAMES,
            "writes_before_the_end": ~((fifo.commit | fifo.abort) & fifo.write),
            "an_empty_fifo_has_room": ~full_fifo | spoilt | (fifo.frames != 0),
            # Termination: no deadlock, and each answer reduces the remaining work of a disabled
            # ring.
            "something_moves": completions.idle | bus_moves | waits_for_stamp | full_fifo | no_data |
                (puts("PIECE") & (level != 0)) | (puts("WORD") & buffer.source.valid) |
                puts("OCTETS") | puts("END") | (puts("COMMIT") & (fifo.commit | packer.write | spoilt)),
            "idle_is_the_end": ~(at("STOPPED") & ~dut.enable) | dut.idle,
            "idle_is_empty": ~dut.idle | (completions.idle & (owed == 0) & (reads.owed == 0)),
            "disabled_comes_to_an_end": ~disabled |
                Mux(waited, measure <= before, measure < before),
            "asleep_nothing_changes": asleep_nothing_changes(self, dut.awake,
                [*map(at, dut.fsm.actions), *map(puts, assembly.fsm.actions), status, owed, buffer.level,
                 internal(completions, "in_flight"), level, completions.statuses.level, fifo.commit],
                acts=source.ready | job.valid | dut.drop_length | data.request.valid |
                    assembly.awake | completions.finish | completions.port.request.valid |
                    completions.port.data.valid),
        }
        if options:
            # One piece, any: the requests of a frame that starts with it.
            self.submodules.any = any_index = AnyIndex()
            index   = any_index.index
            pushed  = Signal(INDEX_BITS)
            ended   = Signal(INDEX_BITS)
            begins  = Signal(INDEX_BITS) # The frame's first piece.
            known   = Record(completions.jobs.source.description.payload_layout)
            allowed = Signal() # Tags, when the descriptor was taken.
            self.sync += [
                If(source.valid & source.ready, allowed.eq(dut.insert)),
                If(job.valid, pushed.eq(pushed + 1)),
                If(job.valid & (pushed == index), known.eq(job.payload)),
                If(over, ended.eq(ended + 1), If(~oldest.more, begins.eq(ended + 1))),
                If(completions.restart, pushed.eq(0), ended.eq(0), begins.eq(0)),
            ]
            asks = [("place", taken.place), ("insert", taken.insert), ("tag", taken.tag),
                    ("tagged", taken.tagged & allowed)]
            told = all_of(*[getattr(fifo.param, name) == getattr(known, name) for name, _ in asks])
            same = all_of(*[getattr(job, name) == value for name, value in asks],
                job.start == taken.start, job.stamp == (taken.stamp & ~taken.more))
            waits = completions.statuses.sink.valid & completions.statuses.sink.stamp
            self.promises |= {
                "job_asks_as_the_descriptor": ~job.valid | same,
                "frame_asks_as_its_first_piece": ~fifo.commit | (begins != index) | told,
                "sums_what_goes_into_the_fifo":
                    (checksums.write == fifo.write) & (checksums.data == fifo.data),
                "sums_a_frame_from_its_first_word_on": ~checksums.write |
                    ((checksums.number == fifo.held) & (checksums.last == puts("COMMIT"))),
                "sums_what_was_asked_for": ~checksums.write | (begins != index) | (
                    (checksums.start == Cat(C(0, 1), known.start)) &
                    (~checksums.last | (checksums.end == sums[0][:3]))),
                "stamps_what_waits_for_a_stamp": (fifo.commit & fifo.param.stamp) == waits,
                "waits_for_no_stamp_when_disabled": dut.enable | ~waits_for_stamp,
                "lemma_asks": ~at_hand | same,
                "lemma_stamp": all_of(*[(n >= level) | ~(jobs[n].stamp & jobs[n].more)
                    for n in range(IN_FLIGHT)]),
                "lemma_pushed": pushed == ended + level,
                "lemma_known": all_of(*[(n >= level) | (index != ended + n) |
                    (jobs[n].raw_bits() == known.raw_bits()) for n in range(IN_FLIGHT)]),
                "lemma_begins": spoilt | follows | gone |
                    Mux(begun, busy | (begins != ended), begins == ended),
                "lemma_pieces": spoilt | gone | (bits(INDEX_BITS, ended - begins) <= octets),
                "lemma_told": spoilt | ~begun | (begins != index) |
                    (told & (internal(assembly, "start") == known.start)),
            }
        # Lemmas for the induction.
        # -------------------------
        self.promises |= levels(completions, writes) | {
            "lemma_at_hand": ~at_hand | ((internal(dut, "length") == taken.length) &
                (job.offset == taken.address[:3]) & (job.more == taken.more) &
                (job.request == taken.request) & (job.silent == taken.silent)),
            "lemma_room": ~(at("MEASURE") | at("JOB")) | completions.room,
            "lemma_first": ~(at("MEASURE") | at("JOB")) |
                (internal(dut, "address") == taken.address[3:]),
            "lemma_measured": ~at("JOB") |
                ((remaining == words) & (internal(dut, "total") == upto)),
            "lemma_before": (internal(dut, "before") == earlier) & (internal(dut, "spoils") == follows) &
                (earlier <= LONGEST) & ~(follows & (earlier != 0)),
            "lemma_place": ~at("REQUEST") | ((remaining != 0) & (remaining <= words) &
                (internal(dut, "address") - taken.address[3:] + remaining == words)),
            "lemma_owed": (owed == C(0, 16) + reads.owed + buffer.level) & (owed <= BUFFER_WORDS) &
                (buffer.level <= BUFFER_WORDS),
            "lemma_buffer": pointers(buffer),
            "lemma_comes": bits(16, promised - popped) == owed + Mux(at("REQUEST"), remaining, 0),
            "lemma_ends": promised == Mux(level == 0, popped, Array(ends)[level - 1]),
            "lemma_need": (level == 0) | (bits(16, ends[0] - popped) == Mux(jobs[0].error, 0, need)),
            "lemma_needs": all_of(*[(n >= level) | jobs[n].error |
                (bits(16, ends[n] - ends[n - 1]) == touched(jobs[n].length, jobs[n].offset))
                for n in range(1, IN_FLIGHT)]),
            "lemma_busy": ~busy | ((level != 0) & ~jobs[0].error),
            "lemma_jobs": all_of(*[(n >= level) | jobs[n].error | (jobs[n].length != 0)
                for n in range(IN_FLIGHT)]),
            "lemma_no_data": Mux(level == 0, ~at_once, (jobs[0].error == at_once) &
                (~at_once | ((level == 1) & at("WAIT")))),
            "lemma_left": ~(puts("WORD") | (puts("OCTETS") & ~final)) | (left != 0),
            "lemma_count": ~puts("OCTETS") | ((count != 0) & (count <= 8)),
            "lemma_final": ~(puts("END") | puts("COMMIT")) | (final & ~jobs[0].more & (octets != 0)),
            "lemma_sum": (level == 0) | jobs[0].error | (sums[0] == octets + lacks),
            "lemma_sums": all_of(*[(n >= level) | jobs[n].error |
                (sums[n] == bits(17, Mux(jobs[n - 1].more, sums[n - 1], 0) + jobs[n].length))
                for n in range(1, IN_FLIGHT)]),
            "lemma_longest": all_of(*[total <= LONGEST for total in sums]),
            "lemma_earlier": follows | (level == 0) | jobs[0].error | (earlier ==
                Mux(Array([entry.more for entry in jobs])[level - 1], Array(sums)[level - 1], 0)),
            "lemma_error": (level == 0) | ~jobs[0].error |
                ((earlier == 0) & (follows == jobs[0].more)),
            "lemma_follows": ~follows | Mux(level == 0, spoilt | gone, jobs[0].error),
            "lemma_gone": ~gone | at("STOPPED") | ((level == 0) & ~begun & ~wrong &
                (at("DRAIN") | (at("WAIT") & dut.halted & ~off & ~spoilt))),
            "lemma_octets": (octets <= LONGEST) & (follows | gone | (level != 0) | (octets == earlier)),
            "lemma_wrong": (spoilt | ~wrong) & (~spoilt | wrong | off),
            "lemma_off": (~off | ~dut.enable) & (~at("DRAIN") | off),
            "lemma_begun": begun | (~busy & (octets == 0) & (number == 0) & ~full & (fill == 0)),
            "lemma_held": fifo.held == Mux(at("STOPPED"), 0, number),
            "lemma_packed": spoilt | puts("COMMIT") | (~(full & packer.last) & (fill <= 8) &
                ((fill == 0) == (octets == 0)) &
                (octets == C(0, 16) + (Cat(C(0, 3), number + full)) + fill)),
            "lemma_last": spoilt | ~puts("COMMIT") | (full == packer.last),
            "lemma_sent": spoilt | ~puts("COMMIT") | (full != fifo.commit),
            "lemma_words": spoilt | ~puts("COMMIT") |
                (bits(12, (octets + 7) >> 3) == bits(12, number + full)),
            "lemma_given_up": ~off | ~full | spoilt | (level != 0) | (completions.statuses.level != 0),
            "lemma_frames": ~busy | spoilt | (fifo.frames != MAX_FRAMES),
            "lemma_commit": ~fifo.commit | (puts("COMMIT") & ~full & ~spoilt),
            "lemma_space": fifo.space <= DEPTH,
            "lemma_stopped": ~at("STOPPED") | completions.idle,
        }
        self.promises |= {f"lemma_later_job_{n}": (n >= level) | ~jobs[n].error
            for n in range(1, IN_FLIGHT)}
        sent = Signal()
        self.sync += If(fifo.commit, sent.eq(1))
        self.reachable = {
            "a_frame_of_two_pieces": fifo.commit & (level == 1) & (fifo.held == 2),
            "several_pieces_at_once": level == 3,
            "refusal_told": completions.finish & wrong & oldest.more,
            "halts_within_a_frame": gone & (earlier != 0),
            "disabled_under_way": ~dut.enable & (level == 2) & (reads.owed == 3),
            "ended_after_that": dut.idle & sent,
        }
        self.inputs = driver.inputs | fetcher.inputs | fifo.inputs | reads.inputs | writes.inputs
        if options:
            self.reachable["waits_for_a_stamp"] = waits_for_stamp
            self.inputs |= any_index.inputs | stamps.inputs | {checksums.awake, dut.insert}

    def _bits(self, width, expression):
        """An expression in a signal, so that it has a width."""
        signal = Signal(width)
        self.comb += signal.eq(expression)
        return signal
