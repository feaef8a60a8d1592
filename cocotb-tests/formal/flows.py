# SPDX-License-Identifier: BSD-2-Clause
"""Flows: when an entry ended, nothing goes by it any more; each frame is moved whole, by one entry, or
dropped."""

from unittest import mock

from migen import *

from formal.prover import internal
from moderato.gateware.flows.forward import Forward
from moderato.gateware.flows.table import FlowTable
from moderato.gateware.rings.queues import Turns

MOST = 6  # frames that wait
PATIENCE, PRESSED_PATIENCE = 9, 4  # as short as one can look ahead.


class FlowTableProof(Module):
    """Between a receiver whose frames hit when they like, and what forwards them in their order."""

    def __init__(self):
        self.submodules.dut = dut = FlowTable(3, max_frames=MOST)
        kept = Signal(name_override="kept")  # A frame that hit is in the FIFO from the next clock on.
        ends = internal(dut, "ends")
        before, cut = internal(dut, "before"), internal(dut, "cut")
        waiting, old = Signal(max=MOST + 1), Signal(max=MOST + 1)
        gone = Signal(8)  # Entries that ended since the lookup began, or in that clock.
        ended = Signal(8)
        searched = Signal(32)
        self.comb += [
            dut.waiting.eq(waiting),
            ended.eq(Mux(ends, 1 << dut.keys.target, 0)),
        ]
        self.sync += [
            waiting.eq(waiting + kept - dut.left),
            If(ends,
                old.eq(waiting + kept - dut.left)
            ).Elif(dut.left & (old != 0),
                old.eq(old - 1)
            ),
            gone.eq(Mux(dut.start, 0, gone) | ended),
            searched.eq(dut.hash),
        ]
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(
            (~dut.left | (waiting != 0)) & (
                ~kept | ((waiting != MOST) & dut.hit & ~dut.start)) & (
                dut.start | (dut.hash == searched)))  # Of the next frame it is new.
        state = dut.fsm.ongoing
        stored = dut.keys.write & dut.keys.data.valid
        counts = dut.counts
        self.promises = {
            "nothing_goes_by_what_ended": dut.command | (old == 0),
            "nor_when_a_new_one_begins": ~stored | (old == 0),
            "new_parts_come_together": stored == dut.actions.write,
            "a_new_one_counts_from_zero": ~stored | (
                counts.write & (counts.target == dut.keys.target) &
                (counts.data.frames == 0) & (counts.data.octets == 0)),
            "each_frame_counts_where_it_belongs": ~dut.counted | (
                counts.write & (counts.target == dut.address) &
                (counts.data.frames == (counts.row.frames + 1)[:32]) &
                (counts.data.octets == (counts.row.octets + dut.octets)[:32])),
            "nothing_hits_what_ended": ~dut.hit | dut.start | ~(gone >> dut.entry)[0],
            "lemma_cut": ~dut.busy | dut.start | (gone == 0) | cut,
            "lemma_waiting": waiting <= MOST,
            "lemma_old": old <= waiting,
            "lemma_count": ~state("COUNT") | (old == waiting),
            "lemma_drain": ~state("DRAIN") | (before == old),
            "lemma_rest": (old == 0) | state("CLEAR") | state("COUNT") | state("DRAIN"),
        }
        self.reachable = {
            "a_new_one_after_frames": stored & (waiting == 2),
            "some_left_meanwhile": state("DRAIN") & (old == 1) & (waiting == 2),
            "it_waits_for_the_adder": state("STORE") & ~stored,
            "a_frame_goes_by_another_one": kept & (gone != 0),
        }
        self.inputs = {kept, *(getattr(dut, name) for name in (
            "left", "start", "hash", "write", "remove", "clear", "read", "counted", "moving",
            "address", "octets"))}


class Received:
    """The frames of an Rx FIFO that are to be forwarded."""
    def __init__(self):
        self.available = Signal(name_override="fifo_available")
        self.head = Record([("length", 14), ("entry", 3)], name="head")
        self.word = Signal(64, name_override="fifo_word")
        self.next, self.release, self.held = Signal(), Signal(), Signal()


class ForwardProof(Module):
    """Between a FIFO whose oldest frame stays as it is until it is released, and a port that grants its
    turn only to who wants it."""

    def __init__(self):
        fifo = Received()
        with mock.patch.multiple("moderato.gateware.flows.forward", PATIENCE=PATIENCE,
                                 PRESSED_PATIENCE=PRESSED_PATIENCE):
            self.submodules.dut = dut = Forward(fifo)
        state = dut.fsm.ongoing
        read = internal(dut, "number", but=dut.number)
        taken, order = internal(dut, "taken"), internal(dut, "order")
        waited, still = internal(dut, "waited"), internal(dut, "still")
        length, entry, there = Signal(14), Signal(3), Signal()
        written, granted = Signal(12), Signal()
        vain, due = Signal(), Signal()  # Nothing left since one waited in vain; this one may be dropped.
        moved = Signal(2)  # In the last two clocks.
        self.sync += [
            there.eq(fifo.available & ~fifo.release),
            length.eq(fifo.head.length),
            entry.eq(fifo.head.entry),
            If(state("IDLE"), written.eq(0)).Elif(dut.write, written.eq(written + 1)),
            If(dut.granted & state("WAIT"), granted.eq(1)).Elif(dut.commit, granted.eq(0)),
            If(dut.leaves, vain.eq(0)).Elif(waited == PATIENCE, vain.eq(1)),
            due.eq((waited == PATIENCE) | ((dut.pressed | vain) & (waited >= PRESSED_PATIENCE))),
            moved.eq(Cat(dut.moving, moved)),
        ]
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(
            (~there | (fifo.available & (fifo.head.length == length) & (fifo.head.entry == entry))) &
            (fifo.head.length >= 42) & (fifo.head.length <= 9022) &
            (~dut.granted | dut.wants))
        waits = state("IDLE") | state("SKIP") | state("WAIT") | state("DROP")
        words = dut.words
        self.promises = {
            "writes_while_it_is_granted": ~dut.write | granted,
            "commits_what_is_whole": ~dut.commit | (granted & (written == words) & ~dut.write),
            "words_in_their_order": ~dut.write | (dut.number == written),
            "says_which_is_the_last": ~dut.write | (dut.last == (written + 1 == words)),
            "all_of_the_frame": waits | (
                (words << 3 >= fifo.head.length + 2) & (words << 3 < fifo.head.length + 10)),
            "wants_until_it_commits": ~granted | dut.wants,
            "once": ~(dut.moved & dut.dropped),
            "by_one_entry": state("IDLE") | (fifo.available & (~there | (dut.address == entry))),
            "counts_when_its_row_is_there": ~dut.moved | (dut.moving & (moved == 0b11)),
            "waits_while_it_may_leave": ~dut.dropped | due,
            "keeps_no_counters_waiting": ~dut.moving | granted,
            "leaves_with_its_fate": fifo.release == (dut.moved | dut.dropped),
            "a_dropped_one_is_not_begun": ~dut.dropped | ((written == 0) & ~granted),
            "lemma_there": state("IDLE") | there,
            "lemma_vain": still == vain,
            "lemma_moved": ~state("WRITE") | moved[0],
            "lemma_granted": granted == ~waits,
            "lemma_waits": ~waits | (~taken & ~dut.write & (
                ((read == 0) & (written == 0)) | state("IDLE"))),
            "lemma_words": state("IDLE") | (words == (length + 9)[3:]),
            "lemma_move": ~state("MOVE") | (
                (read < words) & (read == (written + dut.write + taken)[:12])),
            "lemma_change": ~state("CHANGE") | (
                (read == words) & taken & (words == (written + dut.write + 1)[:12])),
            "lemma_write": ~state("WRITE") | (~taken & dut.write & (words == (written + 1)[:12])),
            "lemma_commit": ~state("COMMIT") | (~taken & ~dut.write & (written == words)),
            "lemma_taken": ~taken | ((order == (written + dut.write)[:12]) & (order < words)),
            "lemma_last": ~dut.write | (dut.last == state("WRITE")),
            "lemma_reads": ~taken | state("MOVE") | state("CHANGE"),
        }
        self.reachable = {
            "a_frame_moves": dut.commit & (words == 6),
            "the_next_one": dut.commit & there & (written == 6),
            "it_is_dropped": dut.dropped,
            "so_is_the_next_one": dut.dropped & vain & ~dut.pressed,
        }
        dut.pressed.name_override = "pressed"
        self.inputs = {fifo.available, fifo.head.length, fifo.head.entry, fifo.word, dut.granted,
                       dut.leaves, dut.pressed, dut.action.stations}


class ThreeTurnsProof(Module):
    """Between three that want a turn when they like."""

    def __init__(self):
        self.submodules.dut = dut = Turns(3)
        self.assume = Signal(name_override="assume_all", reset=1)
        self.comb += self.assume.eq(1)
        wants = Signal(3)
        turn = Signal(2)
        began = Signal()
        self.sync += wants.eq(dut.wants), turn.eq(dut.turn), began.eq(1)
        had = (wants >> turn)[0]
        after = Signal(2)
        self.comb += after.eq(Mux(turn == 2, 0, turn + 1))
        self.promises = {
            "one_of_three": dut.turn != 3,
            "who_wants_it_keeps_it": ~began | ~had | (dut.turn == turn),
            "who_is_done_gives_it": ~began | had | (wants == 0) | (dut.turn != turn),
            "it_goes_to_who_wants_it": ~began | had | (wants == 0) | (wants >> dut.turn)[0],
            "the_next_one_comes_first": ~began | had | ~(wants >> after)[0] | (dut.turn == after),
            "none_is_taken_from_who_rests": ~began | (wants != 0) | (dut.turn == turn),
            "lemma_before": ~began | (turn != 3),
        }
        self.reachable = {
            "all_around": began & (dut.turn == 0) & (turn == 2),
            "one_is_left_out": began & (dut.turn == 2) & (turn == 0),
        }
        self.inputs = {dut.wants}
