# SPDX-License-Identifier: BSD-2-Clause
"""Flows: frames leave by an entry only as software last wrote it, and commands end.

The properties compare software's register writes with the frames that leave. Each frame is moved
whole, by one entry, or dropped.
"""

from functools import reduce
from operator import or_
from types import SimpleNamespace
from unittest import mock

from migen import *

from litex.gen import *

from formal.environment import AnyIndex, all_of
from formal.prover import internal, internals
from moderato.gateware.flows import flows
from moderato.gateware.flows.forward import Forward
from moderato.gateware.registers import table as registers
from moderato.gateware.registers.table import FLOW_WAYS
from moderato.gateware.rings.queues import Turns

ORDER = 3 # Entries: 2 in each way.
MOST = 4  # Frames in the flow FIFO.
COMMANDS = ("WRITE", "REMOVE", "READ", "CLEAR")
# Clocks of BUSY in which no frame moves and none arrives: one for each entry that ends, two to
# begin and to end the search of the FIFO, three for each frame, one to store.
LONGEST = 2**ORDER + 2 + 3*MOST + 1


class Software(Module):
    """Writes any register, one at a time, with at most one bit of FLOW_COMMAND. Enables flows after
    the end of BUSY that a reset starts with.

    Replaces RegisterFile: `strobe`, `data`, `value`, field(), commands(). It tracks the effect of
    its writes. Commands count without BUSY. The last one was `written`, `removed`, `read` or
    `cleared`, of entry `target`; a reset clears. `key` and `action` were written to their registers
    without BUSY.
    """
    PARTS = ("FLOW_SOURCE", "FLOW_DESTINATION", "FLOW_PORTS", "FLOW_KIND",
             "FLOW_MAC_0", "FLOW_MAC_1", "FLOW_MAC_2")

    def __init__(self):
        self.data = Signal(32, name_override="regs_data")
        self.strobe = {name: Signal(name_override=f"strobe_{name}")
                       for name in ("FLOW_COMMAND", *self.PARTS)}
        self.value = {name: Signal(32) for name in (
            "FLOW_CTRL", "FLOW_STATUS", "FLOW_FRAMES", "FLOW_OCTETS", "FLOW_LAST")}
        self.inputs = {self.data, self.value["FLOW_CTRL"], *self.strobe.values()}
        self.value["FLOW_CTRL"].name_override = "flow_ctrl"

    def field(self, register, name):
        bits = registers.bits(register, name)
        return self.value[register][bits.lsb:bits.lsb + bits.width]

    def commands(self, register, name):
        return self.strobe[register] & self.data[registers.bits(register, name).lsb]

    def follow(self, key, action):
        """The arguments are the layouts of the key and the action."""
        busy = self.field("FLOW_STATUS", "BUSY")
        given = Cat(*[self.commands("FLOW_COMMAND", name) for name in COMMANDS])
        last = Signal(4, reset=0b1000)
        self.written, self.removed, self.read, self.cleared = last
        self.target = Signal(ORDER)
        self.key, self.action = Record(key), Record(action)
        self.before = Signal()  # There was BUSY in the clock before.
        self.over = Signal()    # It ended,
        self.used = Signal()    # or did so since the reset.
        taken, was_used, first = Signal(), Signal(), Signal(reset=1)
        places = [getattr(self.key, name) for name, _ in key] + [
            self.action.stations[32*n:32*n + 32] for n in range(3)]
        self.comb += [
            self.over.eq(self.before & ~busy),
            self.used.eq(was_used | self.over),
        ]
        self.sync += [
            first.eq(0),
            was_used.eq(self.used),
            self.before.eq(busy),
            taken.eq((given != 0) & ~busy),
            If(~busy,
                If(given != 0, last.eq(given), self.target.eq(self.data)),
                [If(self.strobe[name], place.eq(self.data)) for name, place in zip(self.PARTS, places)],
            ),
        ]
        strobes = Cat(*self.strobe.values())
        self.rules = [
            (strobes & (strobes - 1)) == 0,
            (given & (given - 1)) == 0,
            ~self.field("FLOW_CTRL", "ENABLE") | self.used,
        ]
        self.promises = {
            "busy_from_a_command_on": ~(taken | first) | busy,
            "busy_by_nothing_else": ~busy | self.before | taken | first,
            "lemma_taken": ~taken | ~self.before,
            "lemma_last": (last != 0) & ((last & (last - 1)) == 0),
            "lemma_used": self.used | (busy & self.cleared),
        }


class AnyPacket(Module):
    """Replaces Packet: any frames, with the key at any time."""
    def __init__(self, key):
        for name, bits in (("take", 1), ("first", 1), ("data", 32), ("octets", 15), ("tagged", 1),
                           ("vid", 12), ("mtu", 14), ("hash", 32), ("ready", 1), ("plain", 1),
                           ("total", 16)):
            setattr(self, name, Signal(bits, name_override=f"packet_{name}"))
        self.key = Record(key, name="packet_key")
        self.inputs = {self.ready, self.hash, self.plain, self.total, *self.key.flatten()}


class AnyFIFO(Module):
    """Replaces the flow FIFO: takes frames that have room, and keeps their records in order.

    ours  which of the frames leave by entry `chosen`; the oldest one is bit 0.
    age   clocks before this one in which the oldest one was `available`.
    """
    def __init__(self, param, most):
        self.max_frames = most
        self.write, self.abort, self.next = Signal(), Signal(), Signal()
        self.data, self.word = Signal(64), Signal(64)
        self.commit = Signal(name_override="fifo_commit")
        self.room = Signal(name_override="fifo_room")
        self.param, self.head = Record(param), Record(param, name="fifo_head")
        self.accepted, self.available, self.release = Signal(), Signal(), Signal()
        self.space = Signal(16, name_override="fifo_space")
        self.frames = Signal(max=most + 1)
        self.held, self.awake = Signal(), Signal()
        self.ours = ours = Signal(most)
        self.new = Signal(most)   # The bit of an arriving frame.
        self.age = age = Signal(max=4)
        self.chosen = Signal(ORDER)
        head, came, left = Signal(len(self.head.raw_bits())), Signal(), Signal(max=most + 1)
        self.comb += [
            self.accepted.eq(self.commit & self.room & (self.frames != most)),
            self.held.eq(self.frames != 0),
            left.eq(self.frames - self.release),
            self.new.eq((self.accepted & (self.param.entry == self.chosen)) << left),
        ]
        self.sync += [
            self.frames.eq(left + self.accepted),
            self.available.eq(self.frames > self.release),
            ours.eq((ours >> self.release) | self.new),
            If(~self.available | self.release, age.eq(0)).Elif(age != 3, age.eq(age + 1)),
            head.eq(self.head.raw_bits()),
            came.eq(self.commit),
        ]
        self.rules = [
            ~self.commit | ~came,
            (age == 0) | (head == self.head.raw_bits()),
            ~self.available | ((self.head.entry == self.chosen) == ours[0]),
        ]
        self.promises = {
            "lemma_frames": (self.frames <= most) & ((ours >> self.frames) == 0),
            "lemma_available": ~self.available | (self.frames != 0),
            "lemma_age": (age == 0) | self.available,
            "leaves_when_it_is_there": ~self.release | self.available,
        }
        self.inputs = {self.commit, self.room, self.word, self.space, *self.head.flatten()}


class Row(Module):
    """The row of Columns at `address`: `stored` in the memory, `read` in its output register. It
    was read one clock ago (`asked`), and two (`asked_before`), and `written`, `written_before`
    then."""

    def __init__(self, columns, address):
        memory, = [special for special in columns._fragment.specials if isinstance(special, Memory)]
        port = memory.get_port(async_read=True)
        self.specials += port
        self.stored, self.read = Record(columns.row.layout), Record(columns.row.layout)
        self.asked, self.asked_before = Signal(), Signal()
        self.written, self.written_before = Signal(), Signal()
        self.comb += [
            port.adr.eq(address),
            self.stored.raw_bits().eq(port.dat_r),
            self.read.raw_bits().eq(memory.ports[0].dat_r),
        ]
        self.sync += [
            self.asked.eq(columns.address == address),
            self.asked_before.eq(self.asked),
            self.written.eq(columns.write & (columns.target == address)),
            self.written_before.eq(self.written),
        ]
        # Of a row whose address does not change.
        self.lemma = \
            (~self.asked | self.written | (self.read.raw_bits() == self.stored.raw_bits())) & (
             ~self.asked_before | self.written | self.written_before |
                (columns.row.raw_bits() == self.stored.raw_bits()))


class FlowsProof(Module):
    """Between software, any frames, and another MAC that grants a turn at any time. What holds for
    any entry holds for all.

    narrow  keys and counters have one or two bits.
    """
    def __init__(self, narrow=False):
        def key():
            return [(name, 1 if narrow else bits) for name, bits in (
                ("source", 32), ("destination", 32), ("ports", 32), ("kind", 16))]

        def counters():
            return [(name, 2 if narrow else bits) for name, bits in (
                ("frames", 32), ("octets", 32), ("last", 16))]

        options = SimpleNamespace(flows=ORDER, flow_nat=False, vlan=False,
                                  flow_fifo_order=log2_int(64*MOST), flow_room=64)
        self.submodules.software = software = Software()
        ticker = SimpleNamespace(time=Signal(16, name_override="ticker_time"))
        with mock.patch.multiple(flows, Packet=lambda: AnyPacket(key()), flow_frame=lambda options: [
                    ("length", 14), ("entry", ORDER)],
                    FrameFIFO=lambda order, param, most: AnyFIFO(param, most)), \
                mock.patch.multiple("moderato.gateware.flows.table", flow_key=key,
                                    flow_counters=counters):
            self.submodules.dut = dut = flows.Flows(options)
            dut.connect_registers(software, ticker)
        table, waiting, forward, fifo, packet = dut.table, dut.waiting, dut.forward, dut.fifo, dut.packet
        software.follow(table.key.layout, table.action.layout)
        self.submodules.any = AnyIndex(ORDER)
        chosen = self.any.index
        busy = software.field("FLOW_STATUS", "BUSY")

        # Receive: looks frames up one by one, and keeps some of those that hit, with their entry.
        # ----------------------------------------------------------------------------------------
        searched_for = Cat(packet.key.raw_bits(), packet.hash)
        key_before = Signal(len(searched_for))
        changes, stale, was_stale = Signal(), Signal(), Signal() # The key, for the next frame.
        looked, hit = Signal(), Signal()
        looks = Signal(max=16)  # Clocks of this lookup before this one.
        self.comb += [
            fifo.chosen.eq(chosen),
            fifo.param.entry.eq(dut.entry),
            fifo.param.length.eq(dut.length),
            changes.eq(searched_for != key_before),
            stale.eq((was_stale | changes) & ~packet.ready),
            hit.eq(dut.hit & ~packet.ready & ~stale),
        ]
        self.sync += [
            key_before.eq(searched_for),
            was_stale.eq(stale),
            looked.eq(dut.busy),
            If(~dut.busy, looks.eq(0)).Elif(looks != 15, looks.eq(looks + 1)),
        ]
        granted, fits = Signal(name_override="granted"), Signal(name_override="fits")
        self.comb += [
            forward.granted.eq(granted),
            forward.fits.eq(fits),
        ]
        sends = Signal(name_override="sends")
        self.comb += dut.sends.eq(sends)
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(all_of(
            *software.rules, *fifo.rules,
            ~packet.ready | ~looked,
            ~dut.busy | packet.ready | ~changes,
            ~fifo.commit | hit,
            ~fifo.available | (fifo.head.length >= 42),
            ~granted | forward.wants))

        # The entry as software wrote it: from the end of BUSY to the end of the next command that
        # ends it.
        # ----------------------------------------------------------------------------------------
        ours, open = Signal(), Signal()  # The command is for this entry, and in progress.
        ended, new = Signal(), Signal()  # BUSY ended for it.
        there, was_there = Signal(), Signal()
        since, was_since = Signal(), Signal()  # It was written since the reset.
        its_key, old_key = Record(table.key.layout), Record(table.key.layout)
        its_action, old_action = Record(table.action.layout), Record(table.action.layout)
        its, old = Record(table.counters.layout), Record(table.counters.layout)
        time, moved, was_read = Signal(16), Signal(2), Signal(len(table.counters.raw_bits()))
        read = Cat(*[software.value[name][:bits] for name, (_, bits) in zip(
            ("FLOW_FRAMES", "FLOW_OCTETS", "FLOW_LAST"), counters())])
        self.comb += [
            ours.eq(software.cleared |
                ((software.written | software.removed) & (software.target == chosen))),
            open.eq(ours & busy),
            ended.eq(ours & software.over),
            new.eq(ended & software.written),
            there.eq(Mux(ended, software.written, was_there)),
            since.eq(new | was_since),
            its_key.raw_bits().eq(Mux(new, software.key.raw_bits(), old_key.raw_bits())),
            its_action.raw_bits().eq(Mux(new, software.action.raw_bits(), old_action.raw_bits())),
            If(new, its.last.eq(time)).Else(its.raw_bits().eq(old.raw_bits())),
        ]
        self.sync += [
            was_there.eq(there),
            was_since.eq(since),
            old_key.raw_bits().eq(its_key.raw_bits()),
            old_action.raw_bits().eq(its_action.raw_bits()),
            time.eq(ticker.time),
            old.raw_bits().eq(its.raw_bits()),
            # Frames that leave by it are counted.
            If(forward.commit & fifo.ours[0],
                old.frames.eq(its.frames + 1),
                old.octets.eq(its.octets + fifo.head.length - 14),
                old.last.eq(ticker.time),
            ),
            moved.eq(Cat(forward.moving, moved)),
            was_read.eq(read),
        ]
        # Its frames in the FIFO: those that hit before it last ended, those whose entry a command
        # ends.
        before, was_before, due, was_due = Signal(MOST), Signal(MOST), Signal(MOST), Signal(MOST)
        self.comb += [
            before.eq(Mux(ended, fifo.ours, was_before)),
            due.eq(Mux(open, fifo.ours, was_due)),
        ]
        self.sync += [
            was_before.eq(before >> fifo.release),
            was_due.eq((due >> fifo.release) | Mux(open, fifo.new, 0)),
        ]
        spent, quiet, rested = Signal(max=LONGEST + 2), Signal(max=4), Signal(max=4)
        self.sync += [
            If(~busy,
                spent.eq(0)
            ).Elif(~forward.moving & ~fifo.commit & (spent <= LONGEST),
                spent.eq(spent + 1)
            ),
            If(~busy | forward.moving, quiet.eq(0)).Elif(quiet != 3, quiet.eq(quiet + 1)),
            If(forward.moving, rested.eq(0)).Elif(rested != 3, rested.eq(rested + 1)),
        ]

        # Parts of the device that the lemmas mention.
        # --------------------------------------------
        self.submodules.key = key_row = Row(table.keys, chosen)
        self.submodules.action = action = Row(table.actions, chosen)
        self.submodules.counts = counts = Row(table.counts, chosen)
        state, search, moves = table.fsm.ongoing, waiting.fsm.ongoing, forward.fsm.ongoing
        target = internal(table, "target", but=table.target)
        found, cut, reads, writes, way, asking, same = (internal(table, name) for name in (
            "found", "cut", "reads", "writes", "way", "asking", "same"))
        asked, ways = internals(table, "asked"), internals(table, "ways")
        newest, oldest, place, left, settled = (internal(waiting, name) for name in (
            "newest", "oldest", "place", "left", "settled"))
        memory, = [special for special in waiting.rows._fragment.specials if isinstance(special, Memory)]
        slots = []
        for n in range(MOST):
            port = memory.get_port(async_read=True)
            slot = Record(waiting.rows.row.layout)
            self.specials += port
            self.comb += [
                port.adr.eq(oldest + n),
                slot.raw_bits().eq(port.dat_r),
            ]
            slots.append(slot)
        alive = Signal(MOST)  # Not marked.
        self.comb += alive.eq(Cat(*[fifo.ours[n] & ~slot.ended for n, slot in enumerate(slots)]))
        waiting_read = Signal(ORDER + 1)
        self.comb += waiting_read.eq(memory.ports[0].dat_r)
        looks_at = Array(slot.raw_bits() for slot in slots)
        seen = Signal(max=MOST + 1)  # Frames that this search has examined.
        self.sync += If(search("IDLE"),
            seen.eq(0)
        ).Elif(search("MARK") & ~waiting.comes,
            seen.eq(seen + 1)
        )
        searched = Signal(max=2*MOST + 1)
        self.comb += searched.eq(seen + left)  # of the frames, in the end.
        looking = Signal(len(waiting_read))
        self.comb += looking.eq(looks_at[seen])
        places = ORDER - log2_int(FLOW_WAYS)

        def of_way(way):
            """Whether the key's place in this way is this entry."""
            at = Signal(places)
            self.comb += Case(way, {
                n: at.eq(packet.hash[n*places:(n + 1)*places]) for n in range(FLOW_WAYS)})
            return Cat(at, way) == chosen

        def stands(row):
            """Whether the value read for this entry still holds, if it was valid."""
            return ~row.valid | (row.raw_bits() == key_row.stored.raw_bits())

        calm, was_calm = Signal(), Signal()  # No command but READ since the lookup began.
        self.comb += calm.eq((packet.ready | was_calm) & (~busy | software.read))
        self.sync += was_calm.eq(calm)
        its_way = chosen[places:]
        wanted = calm & there & ~stale & of_way(its_way) & (packet.key.raw_bits() == its_key.raw_bits())

        stored_key = Record(table.key.layout)
        self.comb += [getattr(stored_key, name).eq(getattr(key_row.stored, name))
                      for name, _ in table.key.layout]
        it_is = key_row.stored.valid & (stored_key.raw_bits() == packet.key.raw_bits())
        gone = open & (state("SEARCH") | state("STORE") | (state("CLEAR") & (target > chosen)))
        to_go, in_all = Signal(max=2*LONGEST), Signal(max=4*LONGEST)  # Clocks.
        rest = 3*left
        self.comb += If(state("CLEAR"),
            to_go.eq(2**ORDER - target + 3*MOST + 2 + 1)
        ).Elif(state("END"),
            to_go.eq(1 + 3*MOST + 2 + 1)
        ).Elif(state("SEARCH"),
            If(search("IDLE"), to_go.eq(3*MOST + 2 + 1)),
            If(search("NEXT"), to_go.eq(rest + 1 + 1)),
            If(search("READ"), to_go.eq(rest + 1)),
            If(search("MARK"), to_go.eq(rest)),
        ).Elif(state("STORE"),
            to_go.eq(1)
        )

        self.comb += in_all.eq(spent + to_go)

        def is_one_of(fsm):
            return reduce(or_, [fsm.ongoing(name) for name in fsm.actions])

        self.promises = {
            # Software's guarantees.
            "leaves_by_what_is_there": ~(forward.commit & fifo.ours[0]) | (there & ~before[0]),
            "leaves_as_it_was_written": ~(forward.moving & fifo.ours[0]) | (
                there & ~before[0] & (table.action.raw_bits() == its_action.raw_bits())),
            "hits_what_was_written": ~(hit & (dut.entry == chosen)) | (
                there & (packet.key.raw_bits() == its_key.raw_bits())),
            "finds_what_is_there": ~(looked & ~dut.busy & wanted) | table.hit,
            "drops_what_ended": ~(forward.dropped & fifo.ours[0]) | due[0] | ~fits,
            "counts_since_it_was_written": ~(software.over & software.read & since & (
                software.target == chosen)) | (read == its.raw_bits()),
            "what_was_read_stays": (software.before & software.read) | (read == was_read),
            "a_lookup_ends": ~dut.busy | (looks < 8),
            "a_command_ends": ~busy | software.read | (spent <= LONGEST),
            "a_read_ends": ~busy | ~software.read | (quiet <= 2),
            "two_frames_leave_it_time": ~(forward.moving & ~moved[0]) | (rested == 3),
            **software.promises,
            **fifo.promises,
            # Lemmas for the induction.
            "lemma_registers": (software.key.raw_bits() == table.new_key.raw_bits()) & (
                software.action.raw_bits() == table.new_action.raw_bits()),
            "lemma_entry": open | (key_row.stored.valid == there),
            "lemma_key": ~key_row.stored.valid | ~software.used | (
                there & (stored_key.raw_bits() == its_key.raw_bits())),
            "lemma_action": ~there | (action.stored.raw_bits() == its_action.raw_bits()),
            "lemma_counts": ~since | (counts.stored.raw_bits() == its.raw_bits()),
            "lemma_since": since | ~there,
            "lemma_gone": ~gone | ~key_row.stored.valid,
            "lemma_rows": action.lemma & counts.lemma,
            # The lookup.
            "lemma_asking": (asking == ((looks >= 1) & (looks <= FLOW_WAYS))) & (
                ~asking | (looks == way + 1)),
            "lemma_stages": all_of(*[
                (stage == ((looks >= n + 2) & (looks <= n + FLOW_WAYS + 1))) & (
                    ~stage | (looks == ways[n] + (n + 2)))
                for n, stage in enumerate(asked)]),
            "lemma_looked": looked | ((looks == 0) & ~asking & (Cat(*asked) == 0)),
            "lemma_stale": ~stale | (~asking & (Cat(*asked) == 0)),
            "lemma_asked": ~(asked[0] & of_way(ways[0]) & ~cut) | stands(key_row.read),
            "lemma_came": ~(asked[1] & of_way(ways[1]) & ~cut) | stands(table.keys.row),
            "lemma_same": ~(asked[2] & of_way(ways[2]) & ~cut & (same == 2**len(same) - 1)) | it_is,
            "lemma_calm": (looks == 0) | ~calm | ~cut,
            "lemma_asks": ~(asked[0] & of_way(ways[0]) & wanted) | (
                key_row.read.raw_bits() == key_row.stored.raw_bits()),
            "lemma_comes": ~(asked[1] & of_way(ways[1]) & wanted) | (
                table.keys.row.raw_bits() == key_row.stored.raw_bits()),
            "lemma_is_same": ~(asked[2] & of_way(ways[2]) & wanted) | (same == 2**len(same) - 1),
            "lemma_finds": ~(wanted & (looks > its_way + FLOW_WAYS)) | found,
            "lemma_found": ~(found & ~cut & ~stale & ~packet.ready & (dut.entry == chosen)) | it_is,
            # The command.
            "lemma_states": is_one_of(table.fsm) & is_one_of(waiting.fsm) & is_one_of(forward.fsm),
            "lemma_clear": ~state("CLEAR") | software.cleared,
            "lemma_end": ~state("END") | software.written | software.removed,
            "lemma_search": ~state("SEARCH") | ~software.read,
            "lemma_store": ~state("STORE") | (software.written & ~forward.moving),
            "lemma_read": ~state("READ") | software.read,
            "lemma_reads": ~state("READ") | (reads == quiet),
            "lemma_target": ~busy | software.cleared | (software.target == target),
            "lemma_writes": ~busy | Mux(software.cleared, ~writes, writes == software.written),
            "lemma_none_yet": software.used | (fifo.frames == 0),
            "lemma_all": ~busy | ~software.used | (table.all == software.cleared),
            "lemma_to_go": ~busy | software.read | (in_all <= LONGEST),
            "lemma_counts_read": ~state("READ") | (target != chosen) | (
                ((reads == 0) | (counts.asked & ~counts.written)) & (
                 (reads <= 1) | (counts.asked_before & ~counts.written_before))),
            # Frames in the FIFO, and which are marked.
            "lemma_alive": (alive == 0) | there,
            "lemma_not_before": (alive & before) == 0,
            "lemma_ours": ((before | due) & ~fifo.ours) == 0,
            "lemma_none_alive": ~(ended | (state("STORE") & ours)) | (alive == 0),
            "lemma_slots": all_of(*[(fifo.frames <= n) | slot.ended | (
                (slot.entry == chosen) == fifo.ours[n]) for n, slot in enumerate(slots)]),
            "lemma_due": all_of(*[(fifo.frames <= n) | ~fifo.ours[n] | ~slot.ended | due[n]
                for n, slot in enumerate(slots)]),
            "lemma_newest": newest == (oldest + fifo.frames)[:len(newest)],
            "lemma_place": search("IDLE") | (
                (place == (oldest + seen)[:len(place)]) & (left <= MOST) & (searched <= fifo.frames)),
            "lemma_left": search("IDLE") | search("NEXT") | (left != 0),
            "lemma_searching": search("IDLE") | state("SEARCH"),
            "lemma_searched": search("IDLE") | ~ours | (
                ((alive & ((1 << seen) - 1)) == 0) & ((fifo.ours >> searched) == 0)),
            "lemma_looking": ~(search("READ") | search("MARK")) | (waiting_read == looking),
            "lemma_looks": ~search("MARK") | (waiting.rows.row.raw_bits() == looking),
            "lemma_head": ~fifo.available | ~settled[0] | (waiting_read == slots[0].raw_bits()),
            "lemma_heads": (fifo.age == 0) | ~settled[1] | (
                waiting.rows.row.raw_bits() == slots[0].raw_bits()),
            "lemma_settled": ~settled[1] | settled[0],
            # The moving frame.
            "lemma_rested": forward.moving | (rested >= settled[0] + settled[1]),
            "lemma_waits": ~moves("WAIT") | (fifo.age != 0),
            "lemma_moves": ~forward.moving | ((fifo.age >= 2) & search("IDLE") & (
                ~fifo.ours[0] | ~slots[0].ended)),
            "lemma_change": ~moves("CHANGE") | moved[0],
            "lemma_write": ~moves("WRITE") | (moved == 0b11),
            "lemma_commit": ~moves("COMMIT") | (moved == 0b11),
            "lemma_action_asked": (fifo.age == 0) | (action.asked == fifo.ours[0]),
            "lemma_action_asked_before": (fifo.age <= 1) | (action.asked_before == fifo.ours[0]),
            "lemma_counts_asked": (fifo.age == 0) | ~moved[0] | (counts.asked == fifo.ours[0]),
            "lemma_counts_asked_before": (fifo.age <= 1) | ~moved[1] | (
                counts.asked_before == fifo.ours[0]),
            "lemma_written": ~(action.written | counts.written) | (fifo.age == 0) | (alive == 0),
            "lemma_written_before": ~(action.written_before | counts.written_before) | (
                fifo.age <= 1) | ~alive[0],
        }
        self.reachable = {} if not narrow else {
            "leaves": forward.commit & fifo.ours[0],
            "removed_with_a_frame_in_the_fifo": ended & software.removed & (before != 0),
            "written_over_while_one_moves": open & software.written & was_there & (
                forward.moving & fifo.ours[0]),
            "a_frame_goes_by_another_one": fifo.accepted & open & software.removed & (
                dut.entry != chosen),
            "read": software.over & software.read & since & (its.frames == 1),
            "drops": forward.dropped & fits,
        }
        self.inputs = software.inputs | fifo.inputs | packet.inputs | self.any.inputs | {
            ticker.time, granted, fits, sends}


class Received:
    """The frames of the flow FIFO."""
    def __init__(self):
        self.available = Signal(name_override="fifo_available")
        self.head = Record([("length", 14), ("entry", 3)], name="head")
        self.word = Signal(64, name_override="fifo_word")
        self.next, self.release, self.held = Signal(), Signal(), Signal()


class ForwardProof(Module):
    """Between a FIFO whose oldest frame is stable until its release, and a port that grants its
    turn only when Forward wants it."""

    def __init__(self):
        fifo = Received()
        self.submodules.dut = dut = Forward(fifo)
        state = dut.fsm.ongoing
        read = internal(dut, "number", but=dut.number)
        taken, order = internal(dut, "taken"), internal(dut, "order")
        length, entry, there = Signal(14), Signal(3), Signal()
        written, granted, may_leave = Signal(12), Signal(), Signal()
        moved = Signal(2)  # In the last two clocks.
        clocks, needed = Signal(13), Signal(13)  # In which the frame has moved, and will have at most.
        self.sync += [
            there.eq(fifo.available & ~fifo.release),
            length.eq(fifo.head.length),
            entry.eq(fifo.head.entry),
            If(state("IDLE"), written.eq(0)).Elif(dut.write, written.eq(written + 1)),
            If(dut.granted & state("WAIT"), granted.eq(1)).Elif(dut.commit, granted.eq(0)),
            may_leave.eq(dut.known & ~dut.ended & dut.fits & dut.granted),
            moved.eq(Cat(dut.moving, moved)),
            If(dut.moving, clocks.eq(clocks + 1)).Else(clocks.eq(0)),
        ]
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(
            (~there | (fifo.available & (fifo.head.length == length) & (fifo.head.entry == entry))) &
            (fifo.head.length >= 42) & (fifo.head.length <= 9022) &
            (~dut.granted | dut.wants))
        waits = state("IDLE") | state("WAIT")
        words = dut.words
        self.comb += needed.eq(words + 3)
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
            "begins_what_may_leave": ~dut.moving | moved[0] | may_leave,
            "ends_what_it_began": ~dut.moving | (clocks < needed),
            "moves_until_it_commits": ~moved[0] | dut.moving | ~granted,
            "drops_what_may_not_leave": ~dut.dropped | (dut.known & (dut.ended | ~dut.fits)),
            "what_may_not_leave_goes": ~(there & ~dut.moving & dut.known & (dut.ended | ~dut.fits)) | (
                dut.dropped),
            "drops_nothing_it_began": ~dut.dropped | ((written == 0) & ~granted & ~moved[0]),
            "leaves_with_its_fate": fifo.release == (dut.moved | dut.dropped),
            "moves_while_it_is_granted": dut.moving == granted,
            "lemma_there": state("IDLE") | there,
            "lemma_moved": ~state("WRITE") | moved[0],
            "lemma_began": ~state("WAIT") | ~moved[0],
            "lemma_granted": granted == ~waits,
            "lemma_waits": ~waits | (~taken & ~dut.write & (
                ((read == 0) & (written == 0)) | state("IDLE"))),
            "lemma_words": state("IDLE") | (words == (length + 9)[3:]),
            "lemma_move": ~state("MOVE") | (
                (read < words) & (read == (written + dut.write + taken)[:12]) & (clocks == read)),
            "lemma_change": ~state("CHANGE") | (
                (read == words) & taken & (words == (written + dut.write + 1)[:12]) & (clocks == read)),
            "lemma_write": ~state("WRITE") | (
                ~taken & dut.write & (words == (written + 1)[:12]) & (clocks == words + 1)),
            "lemma_commit": ~state("COMMIT") | (
                ~taken & ~dut.write & (written == words) & (clocks == words + 2)),
            "lemma_taken": ~taken | ((order == (written + dut.write)[:12]) & (order < words)),
            "lemma_last": ~dut.write | (dut.last == state("WRITE")),
            "lemma_reads": ~taken | state("MOVE") | state("CHANGE"),
        }
        self.reachable = {
            "a_frame_moves": dut.commit & (words == 6),
            "the_next_one": dut.commit & there & (written == 6),
            "it_is_dropped": dut.dropped & dut.fits,
        }
        self.inputs = {fifo.available, fifo.head.length, fifo.head.entry, fifo.word, dut.granted,
                       dut.known, dut.ended, dut.fits, dut.action.stations}


class ThreeTurnsProof(Module):
    """Three clients that want a turn at any time."""

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
