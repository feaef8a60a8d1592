# SPDX-License-Identifier: BSD-2-Clause
"""The AXI4 master: bursts of up to one 64-byte line, several clients in each direction.

Responses come in the order of requests (one AXI ID). Writes to several addresses may become visible in any
order: a client that depends on it waits for `done`. No burst crosses a 64-byte line, so none crosses AXI's
4 KiB boundary.

A skid buffer takes a beat for which the bus is not ready. So `ready` of the bus ends in registers here, which
keeps it off the rings' critical paths and saves a simulator work in every clock.
"""

from migen import *
from migen.genlib.roundrobin import RoundRobin, SP_CE

from litex.gen import *

from litex.soc.interconnect import axi, stream

DATA_BYTES  = 8
LINE_BYTES  = 64
BURST_BEATS = LINE_BYTES//DATA_BYTES

# A client's request: `address` in units of 8 bytes, `beats` - 1 in the same line.
request_layout = [("address", 29), ("last_beat", 3)]


def skid(channel):
    """(module, endpoint): a beat at the endpoint reaches the bus channel in the same clock."""
    buffer = stream.PipeReady(channel.description)
    buffer.comb += buffer.source.connect(channel)
    return buffer, buffer.sink

# Reader -------------------------------------------------------------------------------------------

class ReadPort(LiteXModule):
    """A client of the reader. `data` comes with `valid`, without back-pressure; `last` ends a burst."""
    def __init__(self):
        self.request = stream.Endpoint(request_layout)
        self.valid   = Signal()
        self.last    = Signal()
        self.data    = Signal(64)
        self.error   = Signal()


class DMAReader(LiteXModule):
    """Shares the AR and R channels between `ports`, round-robin by burst.

    outstanding  the most bursts in progress.
    """
    def __init__(self, bus, ports, outstanding=4):
        self.ports = ports
        self.error = Signal() # Pulse: the bus answered a beat with an error.
        self.awake = Signal()

        # # #

        # The client of each outstanding burst.
        # -------------------------------------
        self.owners = owners = stream.SyncFIFO([("port", max(1, bits_for(len(ports) - 1)))], outstanding)

        # Requests.
        # ---------
        self.skid, ar = skid(bus.ar)
        self.arbiter = arbiter = RoundRobin(len(ports), SP_CE)
        self.comb += [
            arbiter.request.eq(Cat(*[p.request.valid for p in ports])),
            # Stay with a request until it is taken.
            arbiter.ce.eq(~ar.valid | ar.ready),
            ar.size.eq(axi.AXSIZE[DATA_BYTES]),
            ar.burst.eq(axi.BURST_INCR),
            Case(arbiter.grant, {n: [
                ar.valid.eq(p.request.valid & owners.sink.ready),
                ar.addr.eq(Cat(Constant(0, 3), p.request.address)),
                ar.len.eq(p.request.last_beat),
                p.request.ready.eq(ar.ready & owners.sink.ready),
            ] for n, p in enumerate(ports)}),
            owners.sink.valid.eq(ar.valid & ar.ready),
            owners.sink.port.eq(arbiter.grant),
        ]

        # Responses.
        # ----------
        self.comb += [
            bus.r.ready.eq(1),
            owners.source.ready.eq(bus.r.valid & bus.r.last),
            [[
                p.valid.eq(bus.r.valid & (owners.source.port == n)),
                p.last.eq(bus.r.last),
                p.data.eq(bus.r.data),
                p.error.eq(bus.r.resp != axi.RESP_OKAY),
            ] for n, p in enumerate(ports)],
            self.error.eq(bus.r.valid & (bus.r.resp != axi.RESP_OKAY)),
            self.awake.eq((arbiter.request != 0) | owners.source.valid),
        ]

# Writer -------------------------------------------------------------------------------------------

class WritePort(LiteXModule):
    """A client of the writer.

    request  the burst. Its `note` returns in `done_note` with `done`, when memory has acknowledged the
             burst; with `refused`, it returned an error.
    data     its beats, with valid and ready, once the request is taken.
    """
    def __init__(self, note_width=1):
        self.request   = stream.Endpoint(request_layout + [("note", note_width)])
        self.data      = stream.Endpoint([("data", 64)])
        self.done      = Signal()
        self.refused   = Signal()
        self.done_note = Signal(note_width)


class DMAWriter(LiteXModule):
    """Shares the AW, W and B channels between `ports`, round-robin by burst."""
    def __init__(self, bus, ports, outstanding=4):
        self.ports = ports
        self.error = Signal() # Pulse: the bus answered a burst with an error.
        self.awake = Signal()

        # # #

        note_width = max(len(p.request.note) for p in ports)
        self.owners = owners = stream.SyncFIFO(
            [("port", max(1, bits_for(len(ports) - 1))), ("note", note_width)], outstanding)

        self.aw_skid, aw = skid(bus.aw)
        self.w_skid,  w  = skid(bus.w)

        # Requests: the address is latched, since AXI forbids holding back data until it is taken.
        # ----------------------------------------------------------------------------------------
        self.arbiter = arbiter = RoundRobin(len(ports), SP_CE)
        current   = Signal(max=max(2, len(ports)))
        beat      = Signal(max=BURST_BEATS)
        last_beat = Signal(max=BURST_BEATS)
        take      = Signal()
        free      = Signal()
        self.comb += [
            arbiter.request.eq(Cat(*[p.request.valid for p in ports])),
            aw.size.eq(axi.AXSIZE[DATA_BYTES]),
            aw.burst.eq(axi.BURST_INCR),
            free.eq((~aw.valid | aw.ready) & owners.sink.ready),
            owners.sink.port.eq(arbiter.grant),
            owners.sink.valid.eq(take),
        ]
        self.sync += If(aw.ready, aw.valid.eq(0))

        # Data.
        # -----
        self.fsm = fsm = FSM(reset_state="REQUEST")
        fsm.act("REQUEST",
            arbiter.ce.eq(~take),
            Case(arbiter.grant, {n: [
                take.eq(p.request.valid & free),
                p.request.ready.eq(free),
                owners.sink.note.eq(p.request.note),
                If(take,
                    NextValue(aw.addr, Cat(Constant(0, 3), p.request.address)),
                    NextValue(aw.len, p.request.last_beat),
                    NextValue(last_beat, p.request.last_beat),
                ),
            ] for n, p in enumerate(ports)}),
            If(take,
                NextValue(aw.valid, 1),
                NextValue(current, arbiter.grant),
                NextValue(beat, 0),
                NextState("DATA"),
            ),
        )
        # Outside of the FSM, whose statements become one process: there, a simulator would see valid depend
        # on ready, and evaluate all of this twice.
        self.comb += [
            w.strb.eq(2**DATA_BYTES - 1),
            w.last.eq(beat == last_beat),
            Case(current, {n: [
                w.valid.eq(p.data.valid & fsm.ongoing("DATA")),
                w.data.eq(p.data.data),
            ] for n, p in enumerate(ports)}),
        ]
        self.comb += [p.data.ready.eq(w.ready & fsm.ongoing("DATA") & (current == n))
            for n, p in enumerate(ports)]
        fsm.act("DATA",
            If(w.valid & w.ready,
                NextValue(beat, beat + 1),
                If(w.last,
                    arbiter.ce.eq(1),
                    NextState("REQUEST"),
                ),
            ),
        )

        # Acknowledgements.
        # -----------------
        self.comb += [
            bus.b.ready.eq(1),
            owners.source.ready.eq(bus.b.valid),
            self.error.eq(bus.b.valid & (bus.b.resp != axi.RESP_OKAY)),
            # A burst's owner waits for its acknowledgement from the clock in which it was taken.
            self.awake.eq((arbiter.request != 0) | owners.source.valid),
            [[
                p.done.eq(bus.b.valid & (owners.source.port == n)),
                p.done_note.eq(owners.source.note),
                p.refused.eq(self.error),
            ] for n, p in enumerate(ports)],
        ]
