# SPDX-License-Identifier: BSD-2-Clause
"""The AXI masters: an offer is stable, bursts are those that clients requested, and responses reach
their client."""

from migen import *

from litex.soc.interconnect import axi

from moderato.gateware.bus.dma import BURST_BEATS, DMAReader, DMAWriter, ReadPort, WritePort

from formal.environment import OUTSTANDING, all_of, asleep_nothing_changes, pointers, slots
from formal.prover      import internal, latch

PORTS = 3


class Queue(Module):
    """Bursts that were taken from clients and not answered, the oldest first."""
    def __init__(self, ports, answered, note_width=0):
        layout = [("port", bits_for(len(ports) - 1)), ("address", 29), ("last_beat", 3),
                  ("note", max(1, note_width))]
        self.entries = entries = [Record(layout, name=f"burst{n}") for n in range(OUTSTANDING)]
        self.level   = Signal(max=OUTSTANDING + 2)
        self.taken   = Signal()
        self.new     = new = Record(layout)
        left         = Signal(max=OUTSTANDING + 2)
        for n, port in enumerate(ports):
            self.comb += If(port.request.valid & port.request.ready,
                self.taken.eq(1),
                new.port.eq(n),
                new.address.eq(port.request.address),
                new.last_beat.eq(port.request.last_beat),
                new.note.eq(port.request.note if note_width else 0),
            )
        self.comb += left.eq(self.level - answered)
        self.sync += [
            self.level.eq(left + self.taken),
            If(answered, [a.raw_bits().eq(b.raw_bits()) for a, b in zip(entries, entries[1:])]),
            If(self.taken, Case(left, {
                n: entry.raw_bits().eq(new.raw_bits()) for n, entry in enumerate(entries)})),
        ]

    def entry(self, n, field):
        return Array(getattr(entry, field) for entry in self.entries)[n]


def _client_rules(proof, ports):
    """A client's request is stable until it is taken, and stays in its line."""
    rules = {}
    for n, port in enumerate(ports):
        fields  = port.request.payload.raw_bits()
        offered = Signal()
        before  = Signal(len(fields))
        proof.sync += offered.eq(port.request.valid & ~port.request.ready), before.eq(fields)
        rules |= {
            f"request{n}_stands": ~offered | (port.request.valid & (before == fields)),
            f"request{n}_stays_in_its_line":
                ~port.request.valid | (port.request.address[:3] + port.request.last_beat < BURST_BEATS),
        }
    return rules


def _stands(proof, channel, payload):
    """AXI: an offer does not change until it is taken."""
    offered, before = Signal(), Signal(len(payload))
    proof.sync += offered.eq(channel.valid & ~channel.ready), before.eq(payload)
    return ~offered | (channel.valid & (before == payload))


def _moves(proof, ports, room, taken):
    """No two clocks pass in which a request could be taken and none is."""
    idled, idles = Signal(), Signal()
    asked = 0
    for port in ports:
        asked = asked | port.request.valid
    proof.comb += idles.eq(asked & room & ~taken)
    proof.sync += idled.eq(idles)
    return ~(idled & idles)


def _ones(bits):
    return sum((Cat(bit, C(0, 2)) for bit in bits), C(0, 3))


class DMAReaderProof(Module):
    """Between clients and a bus that answers each burst with its beats, in order.

    device: as for ModerationProof, and its `bus`.
    """

    def __init__(self, device=None, bus=None):
        dut = device
        if not device:
            bus   = axi.AXIInterface(data_width=64, address_width=32, id_width=1)
            ports = [ReadPort() for _ in range(PORTS)]
            self.submodules += ports
            self.submodules.dut = dut = DMAReader(bus, ports)
        ports    = dut.ports
        answered = bus.r.valid & bus.r.last
        self.submodules.queue = queue = Queue(ports, answered)
        ar, request = bus.ar, Cat(bus.ar.addr, bus.ar.len, bus.ar.size, bus.ar.burst)

        on_bus = Signal(max=OUTSTANDING + 2) # of the queue's bursts, taken by the bus
        beats  = Signal(max=BURST_BEATS)     # of the oldest one, answered
        self.sync += [
            on_bus.eq(on_bus + (ar.valid & ar.ready) - answered),
            If(bus.r.valid, beats.eq(Mux(bus.r.last, 0, beats + 1))),
        ]
        self.rules = _client_rules(self, ports) | {
            "bus_answers_requests": ~bus.r.valid | (on_bus != 0),
            "bus_ends_bursts": ~bus.r.valid | (bus.r.last == (beats == queue.entries[0].last_beat)),
        }
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(all_of(*self.rules.values()))

        held = Signal() # A request waits for the bus, and not for a client.
        self.comb += held.eq(~dut.skid.sink.ready)
        def is_burst(entry):
            return (ar.addr == Cat(C(0, 3), entry("address"))) & (ar.len == entry("last_beat"))
        self.promises = {
            "request_stands": _stands(self, ar, request),
            "requests_words_in_sequence": ~ar.valid |
                ((ar.size == axi.AXSIZE[8]) & (ar.burst == axi.BURST_INCR)),
            "burst_stays_in_its_line": ~ar.valid | (ar.addr[3:6] + ar.len[:4] < BURST_BEATS),
            "requests_what_was_asked": ~ar.valid | Mux(held,
                is_burst(lambda field: queue.entry(on_bus, field)),
                queue.taken & is_burst(lambda field: getattr(queue.new, field))),
            "takes_one_at_a_time":
                _ones([p.request.valid & p.request.ready for p in ports]) <= 1,
            "outstanding_are_bounded": queue.level <= OUTSTANDING,
            "answers_go_to_their_owner": all_of(*[
                port.valid == (bus.r.valid & (queue.entries[0].port == n))
                for n, port in enumerate(ports)]),
            "answers_are_passed_on": all_of(bus.r.ready, *[
                ~port.valid | ((port.data == bus.r.data) & (port.last == bus.r.last) &
                    (port.error == (bus.r.resp != axi.RESP_OKAY))) for port in ports]),
            "someone_is_served": _moves(self, ports, dut.owners.sink.ready & ~held, queue.taken),
            "asleep_nothing_changes": asleep_nothing_changes(self, dut.awake,
                [dut.owners.level, held, dut.arbiter.grant],
                acts=queue.taken | ar.valid | bus.r.valid),
        }
        if device:
            return
        # Lemmas for the induction.
        # -------------------------
        owners = slots(self, dut.owners)
        self.promises |= {
            "lemma_level": (queue.level == dut.owners.level) & (queue.level == C(0, 8) + on_bus + held),
            "lemma_owners": pointers(dut.owners) & all_of(*[
                (n >= queue.level) | (owners[n].port == entry.port)
                for n, entry in enumerate(queue.entries)]),
            "lemma_held": ~held | ar.valid,
            "lemma_lines": all_of(*[
                (n >= queue.level) | (entry.address[:3] + entry.last_beat < BURST_BEATS)
                for n, entry in enumerate(queue.entries)]),
            "lemma_beats": Mux(on_bus == 0, beats == 0, beats <= queue.entries[0].last_beat),
            "lemma_grant": dut.arbiter.grant < PORTS,
        }
        self.reachable = {
            "all_outstanding": (on_bus == OUTSTANDING) &
                (queue.entries[0].port != queue.entries[1].port),
            "held_back": held & (queue.level == 3),
            "error": ports[2].valid & ports[2].error & ~ports[2].last & (beats == 2),
        }
        self.inputs = {ar.ready, bus.r.valid, bus.r.last, bus.r.data, bus.r.resp}
        for port in ports:
            self.inputs |= {port.request.valid, *port.request.payload.flatten()}


class DMAWriterProof(Module):
    """Between clients and a bus that acknowledges each burst after all of its data, in order.

    device, bus: as for DMAReaderProof.
    """

    def __init__(self, device=None, bus=None):
        dut = device
        if not device:
            bus   = axi.AXIInterface(data_width=64, address_width=32, id_width=1)
            ports = [WritePort(note_width=1), WritePort(note_width=2), WritePort(note_width=2)]
            self.submodules += ports
            self.submodules.dut = dut = DMAWriter(bus, ports)
        ports    = dut.ports
        answered = bus.b.valid
        self.submodules.queue = queue = Queue(ports, answered,
            note_width=max(len(port.done_note) for port in ports))
        aw, w   = bus.aw, bus.w
        request = Cat(aw.addr, aw.len, aw.size, aw.burst)

        addressed = Signal(max=OUTSTANDING + 2) # of the queue's bursts, whose address the bus took,
        sent      = Signal(max=OUTSTANDING + 2) # whose data it took,
        beats     = Signal(max=BURST_BEATS)     # and beats of the next one that it took.
        self.sync += [
            addressed.eq(addressed + (aw.valid & aw.ready) - answered),
            sent.eq(sent + (w.valid & w.ready & w.last) - answered),
            If(w.valid & w.ready, beats.eq(Mux(w.last, 0, beats + 1))),
        ]
        self.rules = _client_rules(self, ports) | {
            "bus_answers_requests": ~bus.b.valid | ((addressed != 0) & (sent != 0)),
        }
        self.assume = Signal(name_override="assume_all")
        self.comb += self.assume.eq(all_of(*self.rules.values()))

        held, w_held = Signal(), Signal() # An address or a beat waits for the bus, and not for a client.
        self.comb += held.eq(~dut.aw_skid.sink.ready), w_held.eq(~dut.w_skid.sink.ready)
        left    = Signal(max=BURST_BEATS + 1) # Beats of the newest burst that its client has not given.
        at_data = Signal()
        newest  = Signal(max=OUTSTANDING)
        self.sync += If(queue.taken, left.eq(queue.new.last_beat + 1)).Elif(
            _ones([port.data.valid & port.data.ready for port in ports]) != 0, left.eq(left - 1))
        self.comb += at_data.eq(left != 0), newest.eq(queue.level - 1)

        def is_burst(channel, n):
            return (channel.addr == Cat(C(0, 3), queue.entry(n, "address"))) & \
                (channel.len == queue.entry(n, "last_beat"))
        self.promises = {
            "request_stands": _stands(self, aw, request),
            "data_stand": _stands(self, w, Cat(w.data, w.strb, w.last)),
            "requests_words_in_sequence": ~aw.valid |
                ((aw.size == axi.AXSIZE[8]) & (aw.burst == axi.BURST_INCR)),
            "writes_whole_words": ~w.valid | (w.strb == 0xff),
            "burst_stays_in_its_line": ~aw.valid | (aw.addr[3:6] + aw.len[:4] < BURST_BEATS),
            "requests_what_was_asked": ~aw.valid |
                ((addressed < queue.level) & is_burst(aw, addressed)),
            "burst_has_its_beats": ~w.valid | ((sent < queue.level) &
                (w.last == (beats == queue.entry(sent, "last_beat")))),
            "takes_one_at_a_time":
                _ones([p.request.valid & p.request.ready for p in ports]) <= 1,
            "data_come_from_their_owner": all_of(*[
                ~port.data.ready | (at_data & (queue.entry(newest, "port") == n))
                for n, port in enumerate(ports)]),
            "data_are_passed_on": all_of(*[
                ~(port.data.valid & port.data.ready) | (w.valid & (w.data == port.data.data))
                for port in ports]),
            "outstanding_are_bounded": queue.level <= OUTSTANDING,
            "answers_go_to_their_owner": all_of(*[
                (port.done == (bus.b.valid & (queue.entries[0].port == n))) &
                (~port.done | ((port.done_note == queue.entries[0].note[:len(port.done_note)]) &
                    (port.refused == (bus.b.resp != axi.RESP_OKAY))))
                for n, port in enumerate(ports)]),
            "someone_is_served": _moves(self, ports, dut.owners.sink.ready & ~at_data & ~held,
                queue.taken),
            "asleep_nothing_changes": asleep_nothing_changes(self, dut.awake,
                [dut.owners.level, held, w_held, at_data, aw.valid, w.valid, dut.arbiter.grant],
                acts=queue.taken | aw.valid | w.valid | bus.b.valid),
        }
        if device:
            return
        # Lemmas for the induction.
        # -------------------------
        owners  = slots(self, dut.owners)
        address = dut.aw_skid.sink
        beat      = internal(dut, "beat")
        last_beat = latch(dut, ports[0].request.last_beat, but=address.len)
        self.promises |= {
            "lemma_level": (queue.level == dut.owners.level) &
                (queue.level == C(0, 8) + addressed + held + address.valid) & (sent <= queue.level),
            "lemma_owners": pointers(dut.owners) & all_of(*[
                (n >= queue.level) | ((owners[n].port == entry.port) & (owners[n].note == entry.note) &
                    (entry.address[:3] + entry.last_beat < BURST_BEATS) & (entry.port < PORTS))
                for n, entry in enumerate(queue.entries)]),
            "lemma_address": (~held | aw.valid) & (~address.valid | is_burst(address, newest)),
            "lemma_at_data": (at_data == dut.fsm.ongoing("DATA")) &
                (~at_data | (left == C(0, 8) + last_beat - beat + 1)),
            "lemma_held": (~at_data | (beat <= last_beat)) &
                (~w_held | (w.valid & (w.last == (~at_data | (sent != newest))))),
            "lemma_data": ~at_data | ((queue.level != 0) &
                (last_beat == queue.entry(newest, "last_beat")) &
                (latch(dut, dut.arbiter.grant) == queue.entry(newest, "port")) &
                Mux(sent == newest, beat == C(0, 8) + beats + w_held,
                    (C(0, 8) + sent + 1 == newest) & w_held & (beat == 0))),
            "lemma_no_data": at_data | (C(0, 8) + sent + w_held == queue.level),
            "lemma_beats": (w_held | at_data) | (beats == 0),
            "lemma_grant": dut.arbiter.grant < PORTS,
        }
        self.reachable = {
            "all_outstanding": (queue.level == OUTSTANDING) & (sent == 2) & (addressed == 3),
            "data_before_the_address": (sent == 1) & (addressed == 0),
            "answered": bus.b.valid & (queue.entries[0].port == 2) & (queue.level == 2),
        }
        self.inputs = {aw.ready, w.ready, bus.b.valid, bus.b.resp}
        for port in ports:
            self.inputs |= {port.request.valid, *port.request.payload.flatten(), port.data.valid,
                            port.data.data}
