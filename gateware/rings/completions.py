# SPDX-License-Identifier: BSD-2-Clause
"""From the last word of a descriptor's data to its completion: how every descriptor of a ring ends."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from moderato.gateware.bus.dma          import WritePort
from moderato.gateware.registers.table  import INDEX_BITS, STAMP_BITS
from moderato.gateware.rings            import IN_FLIGHT
from moderato.gateware.rings.descriptor import status_address, status_beat

# Completions --------------------------------------------------------------------------------------

class Completions(LiteXModule):
    """The descriptors that a ring has taken, in order, until memory holds their status.

    A status is written when all data of its descriptor were read, or when memory acknowledged all writes.
    So even a memory without ordering shows data before their status, and the status reports errors. If the
    write of a status fails, the descriptor does not complete, and neither does any after it, because the driver
    waits for this one: `failed`, until `restart`.

    layout  of a job, the record of a descriptor in progress: "error", "request", "silent" and others.
    fields  fields of a job that go into STATUS besides "error"; "continues" only if the job before had no error.
    stamped jobs have another field, "stamp": such a job waits for its time stamp (timestamp.py) after its data,
            and completes with it.
    lossy   a frame may be dropped instead of stamped: stamps have `lost`, and then the job completes with an error.

    job     a descriptor that was taken; only while `room`. One without data comes with `error`, and only while
            no job is `waiting` for data, because the data of that job would be mistaken for its own.
    oldest  the job that waits for data, if `waiting`.
    finish  the last data of `oldest` were transferred; with `refused`, some of them failed.
    stamps  the stamps of jobs with "stamp".
    """
    def __init__(self, layout, fields=(), stamped=False, lossy=False):
        # Settings.
        self.base    = Signal(32)
        self.order   = Signal(4)
        self.restart = Signal() # Start with index 0; only while `idle`.

        # Jobs.
        self.room    = Signal()
        self.idle    = Signal() # None is in progress.
        self.waiting = Signal()
        self.finish  = Signal()
        self.refused = Signal()

        # Results.
        self.completion = Signal()
        self.request    = Signal()
        self.silent     = Signal()
        self.failed     = Signal()

        # DMA.
        self.port = port = WritePort(note_width=2)

        # # #

        self.jobs     = jobs     = stream.SyncFIFO(layout, IN_FLIGHT)
        known = {"error", "request", "silent", *fields} | ({"stamp"} if stamped else set())
        self.statuses = statuses = stream.SyncFIFO([field for field in layout if field[0] in known], IN_FLIGHT)
        self.job    = jobs.sink
        self.oldest = jobs.source

        in_flight = Signal(max=IN_FLIGHT + 1)
        self.sync += in_flight.eq(in_flight + self.job.valid - port.done)
        self.comb += [
            self.room.eq(in_flight != IN_FLIGHT),
            self.idle.eq(in_flight == 0),
            self.waiting.eq(jobs.source.valid),
        ]

        # Data.
        # -----
        self.comb += [
            jobs.source.ready.eq(self.finish | jobs.source.error),
            statuses.sink.valid.eq(jobs.source.valid & jobs.source.ready),
            [getattr(statuses.sink, name).eq(getattr(jobs.source, name))
                for name in ("request", "silent", *fields)],
            statuses.sink.error.eq(jobs.source.error | self.refused),
        ]
        if "continues" in fields:
            # An error of the frame before is known no earlier than here.
            lost = Signal()
            self.sync += [
                If(statuses.sink.valid, lost.eq(statuses.sink.error)),
                If(self.restart, lost.eq(0)),
            ]
            self.comb += If(lost, statuses.sink.continues.eq(0))

        # Status.
        # -------
        index = Signal(INDEX_BITS)
        ready, values = statuses.source.valid, {}
        self.fsm = fsm = FSM(reset_state="REQUEST")
        if stamped:
            self.stamps = stamps = stream.Endpoint([("stamp", STAMP_BITS), ("found", 1)] + [("lost", 1)]*lossy)
            stamp, found = Signal(STAMP_BITS), Signal()
            # A frame with an error is not sent.
            self.comb += statuses.sink.stamp.eq(jobs.source.stamp & ~statuses.sink.error)
            ready, values = ready & (~statuses.source.stamp | stamps.valid), {"sum": stamp, "stamped": found}
        fsm.act("REQUEST",
            port.request.valid.eq(ready),
            If(port.request.valid & port.request.ready, NextState("DATA")),
        )
        if stamped:
            fsm.act("REQUEST",
                NextValue(found, statuses.source.stamp & stamps.found),
                NextValue(stamp, Mux(statuses.source.stamp & stamps.found, stamps.stamp, 0)),
                If(port.request.valid & port.request.ready, stamps.ready.eq(statuses.source.stamp)),
            )
        error = statuses.source.error
        if lossy:
            lost = Signal()
            fsm.act("REQUEST", NextValue(lost, statuses.source.stamp & stamps.lost))
            error = error | lost
        fsm.act("DATA",
            port.data.valid.eq(1),
            If(port.data.ready,
                statuses.source.ready.eq(1),
                NextState("REQUEST"),
            )
        )
        self.sync += If(statuses.source.ready, index.eq(index + 1))
        # Without a gate of the state, which takes a LUT for each bit.
        self.comb += [
            port.request.address.eq(status_address(self.base, self.order, index)),
            port.request.last_beat.eq(0),
            port.request.note.eq(Cat(statuses.source.request, statuses.source.silent)),
            port.data.data.eq(status_beat(index, self.order, error=error, **{
                name: Mux(statuses.source.error, 0, getattr(statuses.source, name))
                for name in fields}, **values)),
        ]

        # Completion.
        # -----------
        self.comb += [
            self.completion.eq(port.done & ~port.refused & ~self.failed),
            Cat(self.request, self.silent).eq(port.done_note),
        ]
        self.sync += [
            If(port.done & port.refused, self.failed.eq(1)),
            If(self.restart,
                index.eq(0),
                self.failed.eq(0),
            ),
        ]
