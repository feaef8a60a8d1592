# SPDX-License-Identifier: BSD-2-Clause
"""The environment of the devices in several proofs. `rules` are the assumptions about each part.

A part is a submodule of a proof. Some replace gateware. The descriptor fetcher's own proof shows
its output and the order, but not that an offer is stable until it is taken. The frame FIFOs have no
proof, only tests.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from moderato.gateware.bus.dma        import BURST_BEATS
from moderato.gateware.registers.table  import INDEX_BITS, MAX_RING_ORDER, MIN_RING_ORDER

from formal.prover import internal

OUTSTANDING = 4 # The most bursts that the DMA has in progress.


def all_of(*rules):
    """Whether all hold: with `&`, a rule of several bits would count by its lowest bit."""
    return Cat(*[rule != 0 for rule in rules]) == 2**len(rules) - 1


def slots(proof, fifo):
    """The entries of a stream.SyncFIFO, the oldest first; the first `fifo.level` of them are valid."""
    inner     = fifo.fifo
    storage,  = [special for special in inner._fragment.specials if isinstance(special, Memory)]
    entries   = []
    for n in range(fifo.depth):
        port  = storage.get_port(async_read=True)
        entry = Record([("payload", fifo.source.description.payload_layout), ("first", 1), ("last", 1)])
        proof.specials += port
        proof.comb += [
            port.adr.eq(internal(inner, "consume") + n),
            entry.raw_bits().eq(port.dat_r),
        ]
        entries.append(entry.payload)
    return entries


def pointers(fifo):
    """The relation between the pointers of a stream.SyncFIFO and its level."""
    produce, consume = internal(fifo.fifo, "produce"), internal(fifo.fifo, "consume")
    return (produce - consume)[:len(produce)] == fifo.level[:len(produce)]


def asleep_nothing_changes(proof, awake, registers, acts=0):
    """An edge that is omitted while not `awake` is not missed (see ModeratoMAC).

    registers  the relevant ones: not those that are written before they are read.
    acts       visible effects of the device at that edge.
    """
    now    = Cat(*registers)
    kept   = Signal(len(now))
    asleep = Signal()
    proof.sync += kept.eq(now), asleep.eq(~awake)
    return (awake | (acts == 0)) & (~asleep | (now == kept))


class Driver(Module):
    """Does not change a ring's settings while it is in use; enables it only when it is idle."""
    def __init__(self, ring):
        enable_before, idle_before = Signal(), Signal(reset=1)
        base_before, order_before  = Signal(32), Signal(4)
        self.sync += [
            enable_before.eq(ring.enable),
            idle_before.eq(ring.idle),
            base_before.eq(ring.base),
            order_before.eq(ring.order),
        ]
        self.enable_before = enable_before
        self.rules = [
            (ring.order >= MIN_RING_ORDER) & (ring.order <= MAX_RING_ORDER) & (ring.base[:6] == 0),
            (~enable_before & idle_before) |
                ((ring.order == order_before) & (ring.base == base_before)),
            ~ring.enable | enable_before | idle_before,
        ]
        self.inputs = {ring.enable, ring.base, ring.order}


class Descriptors(LiteXModule):
    """Replaces the fetcher: delivers any descriptors, or fails, at any time."""
    def __init__(self, layout):
        self.enable  = Signal()
        self.base    = Signal(32)
        self.order   = Signal(4)
        self.source  = source = stream.Endpoint(layout)
        self.starved = Signal()
        self.failed  = Signal()
        self.idle    = Signal()
        self.awake   = Signal()

        enable_before, failed_before, idle_before = Signal(), Signal(), Signal()
        stands, payload = Signal(), Signal(len(source.payload.raw_bits()))
        self.sync += [
            enable_before.eq(self.enable),
            failed_before.eq(self.failed),
            idle_before.eq(self.idle),
            stands.eq(source.valid & ~source.ready & self.enable),
            payload.eq(source.payload.raw_bits()),
        ]
        self.rules = [
            ~stands | (source.valid & (payload == source.payload.raw_bits())),
            ~source.valid | (enable_before & ~self.starved),
            ~(failed_before & enable_before) | self.failed,
            ~(idle_before & ~enable_before) | self.idle,
        ]
        self.inputs = {source.valid, self.starved, self.failed, self.idle, self.awake,
                       *source.payload.flatten()}


class AnyIndex(Module):
    """An index of a descriptor or an entry: any, but constant. What holds for it holds for all."""
    def __init__(self, bits=INDEX_BITS):
        chosen = Signal(bits, name_override="chosen") # A free input: its first value counts.
        kept   = Signal(bits)
        self.first = first = Signal(reset=1) # The first clock, in which the index has no history.
        self.index = Signal(bits)
        self.comb += self.index.eq(Mux(first, chosen, kept))
        self.sync += first.eq(0), If(first, kept.eq(chosen))
        self.inputs = {chosen}


class EachIndex(Module):
    """In a simulation, in place of AnyIndex: `next`, until something is `known` of it.

    Until then, the proof's registers for this index have their reset values. So one instance can follow
    one index after another.
    """
    def __init__(self, next, known):
        self.index = Signal(len(next))
        kept = Signal(len(next))
        self.comb += self.index.eq(Mux(known, kept, next))
        self.sync += kept.eq(self.index)


class ReadBus(Module):
    """Answers the bursts of a ReadPort beat by beat, in order, with any delays."""
    def __init__(self, port, beats_bits=12):
        self.owed = Signal(beats_bits) # Beats.
        accepted  = port.request.valid & port.request.ready
        self.sync += self.owed.eq(
            self.owed + Mux(accepted, port.request.last_beat + 1, 0) - port.valid)
        self.rules  = [~port.valid | (self.owed != 0)]
        self.inputs = {port.request.ready, port.valid, port.last, port.data, port.error}


class WriteBus(Module):
    """Takes the bursts of a WritePort and acknowledges them in order, with any delays."""
    def __init__(self, port):
        width      = len(port.done_note)
        self.beats = Signal(max=BURST_BEATS + 1)         # missing in the current burst
        self.owed  = Signal(max=OUTSTANDING + 1)         # bursts that lack their acknowledgement,
        self.notes = Signal(OUTSTANDING*width)           # and their notes, the oldest first
        self.note  = lambda n: self.notes[n*width:(n + 1)*width]
        accepted, left = Signal(), Signal(max=OUTSTANDING + 1)
        shifted = Signal(OUTSTANDING*width)
        self.comb += [
            accepted.eq(port.request.valid & port.request.ready),
            left.eq(self.owed - port.done),
            shifted.eq(Mux(port.done, self.notes[width:], self.notes)),
        ]
        self.sync += [
            If(port.data.valid & port.data.ready, self.beats.eq(self.beats - 1)),
            If(accepted, self.beats.eq(port.request.last_beat + 1)),
            self.owed.eq(left + accepted),
            self.notes.eq(shifted),
            If(accepted, Case(left, {
                n: self.note(n).eq(port.request.note) for n in range(OUTSTANDING)})),
        ]
        self.rules = [
            ~port.request.ready | ((self.beats == 0) & (self.owed != OUTSTANDING)),
            ~port.data.ready | (self.beats != 0),
            # The oldest burst's data were all taken,
            ~port.done | (self.owed > (self.beats != 0)),
            # and its note returns.
            ~port.done | (port.done_note == self.note(0)),
        ]
        self.inputs = {port.request.ready, port.data.ready, port.done, port.done_note, port.refused}
        # Rules for the owner of the port.
        offered, payload = Signal(), Signal(29 + 3 + width)
        request = Cat(port.request.address, port.request.last_beat, port.request.note)
        held, data = Signal(), Signal(64)
        self.sync += [
            offered.eq(port.request.valid & ~port.request.ready),
            payload.eq(request),
            held.eq(port.data.valid & ~port.data.ready),
            data.eq(port.data.data),
        ]
        self.promises = {
            "request_stands": ~offered | (port.request.valid & (payload == request)),
            "data_stand": ~held | (port.data.valid & (data == port.data.data)),
            "burst_has_its_beats": port.data.valid == (self.beats != 0),
            "burst_stays_in_its_line":
                ~port.request.valid | (port.request.address[:3] + port.request.last_beat < BURST_BEATS),
            "lemma_notes": (self.owed <= OUTSTANDING) & (self.beats <= BURST_BEATS) &
                ((self.beats == 0) | (self.owed != 0)),
        }
