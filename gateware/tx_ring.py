# SPDX-License-Identifier: BSD-2-Clause
"""Tx ring: frames from memory into the FIFO, then their status into the ring."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from moderato.gateware           import descriptor
from moderato.gateware.dma       import BURST_BEATS, DATA_BYTES, ReadPort, WritePort
from moderato.gateware.registers import INDEX_BITS

# Parameters of a frame in the Tx FIFO: its octets without FCS, the byte of the first word that it
# starts at, and whether the bus failed while it was read.
tx_frame_param = [("length", 14), ("offset", 3), ("error", 1)]

# Frames whose DMA may be under way at once: enough to hide the memory's latency.
IN_FLIGHT = 4

# Tx Ring ------------------------------------------------------------------------------------------

class TxRing(LiteXModule):
    """Reads the frames that descriptors name into `fifo` (tx_frame_param) as soon as they fit.

    fifo_order  size of the FIFO, 2**order bytes.
    max_frames  how many frames the FIFO can hold.

    A descriptor completes when its frame is whole in the FIFO, for then its memory may be reused. A
    length of 0, or beyond the FIFO, completes with ERROR (`drop_length`) and sends nothing.
    """
    def __init__(self, fifo, fifo_order, max_frames):
        # Settings.
        self.enable = Signal()
        self.base   = Signal(32)
        self.order  = Signal(4)

        # Results.
        self.idle        = Signal()
        self.completion  = Signal()
        self.request     = Signal()
        self.silent      = Signal()
        self.drop_length = Signal()
        self.awake       = Signal()

        # DMA.
        self.fetcher = fetcher = descriptor.DescriptorFetcher()
        self.data    = data    = ReadPort()
        self.port    = port    = WritePort(note_width=3)

        # # #

        self.comb += [
            fetcher.enable.eq(self.enable),
            fetcher.base.eq(self.base),
            fetcher.order.eq(self.order),
        ]

        # Jobs: descriptors whose data are on their way, then those whose status is to be written.
        # -----------------------------------------------------------------------------------------
        job_layout = [("words", 12), ("length", 14), ("offset", 3), ("error", 1), ("request", 1), ("silent", 1)]
        self.jobs     = jobs     = stream.SyncFIFO(job_layout, IN_FLIGHT)
        self.statuses = statuses = stream.SyncFIFO([("error", 1), ("request", 1), ("silent", 1)], IN_FLIGHT)
        in_flight = Signal(max=IN_FLIGHT + 1) # Descriptors taken whose completion memory has not taken.
        self.sync += in_flight.eq(in_flight + (jobs.sink.valid & jobs.sink.ready) - self.completion)

        # Requests: one frame after the other, burst by burst, once the FIFO has room for all of it.
        # ------------------------------------------------------------------------------------------
        address   = Signal(29)
        offset    = Signal(3)
        length    = Signal(16)
        words     = Signal(14)
        request   = Signal()
        silent    = Signal()
        remaining = Signal(12)
        reserved  = Signal(12) # Words promised to frames whose data have not arrived.
        in_line   = Signal(max=BURST_BEATS + 1)
        beats     = Signal(max=BURST_BEATS + 1)
        invalid   = Signal()
        room      = Signal()
        self.comb += [
            words.eq((length + offset + DATA_BYTES - 1) >> 3),
            invalid.eq((length == 0) | (length > 2**fifo_order - DATA_BYTES)),
            room.eq((reserved + words <= fifo.space) & (fifo.frames < max_frames - IN_FLIGHT)),
            in_line.eq(BURST_BEATS - address[:log2_int(BURST_BEATS)]),
            beats.eq(Mux(remaining < in_line, remaining, in_line)),
            jobs.sink.words.eq(Mux(invalid, 0, words)),
            jobs.sink.length.eq(length),
            jobs.sink.offset.eq(offset),
            jobs.sink.error.eq(invalid),
            jobs.sink.request.eq(request),
            jobs.sink.silent.eq(silent),
        ]
        reserve = Signal()
        self.fsm = fsm = FSM(reset_state="STOPPED")
        fsm.act("STOPPED",
            self.idle.eq(~self.enable),
            If(self.enable, NextState("WAIT")),
        )
        fsm.act("WAIT",
            NextValue(address, fetcher.source.address[3:]),
            NextValue(offset, fetcher.source.address[:3]),
            NextValue(length, fetcher.source.length),
            NextValue(request, fetcher.source.request),
            NextValue(silent, fetcher.source.silent),
            If(~self.enable,
                NextState("DRAIN")
            ).Elif(fetcher.source.valid & (in_flight != IN_FLIGHT),
                fetcher.source.ready.eq(1),
                NextState("RESERVE"),
            )
        )
        fsm.act("RESERVE",
            NextValue(remaining, words),
            If(~self.enable,
                # Room may never come: the link may be down.
                NextState("DRAIN")
            ).Elif(invalid,
                self.drop_length.eq(1),
                jobs.sink.valid.eq(1),
                NextState("WAIT"),
            ).Elif(room,
                reserve.eq(1),
                jobs.sink.valid.eq(1),
                NextState("REQUEST"),
            )
        )
        fsm.act("REQUEST",
            data.request.valid.eq(1),
            data.request.address.eq(address),
            data.request.last_beat.eq(beats - 1),
            If(data.request.ready,
                NextValue(address, address + beats),
                NextValue(remaining, remaining - beats),
                If(remaining == beats, NextState("WAIT")),
            )
        )
        fsm.act("DRAIN",
            If((in_flight == 0) & fetcher.idle, NextState("STOPPED"))
        )
        self.sync += reserved.eq(reserved + Mux(reserve, words, 0) - data.valid)

        # Answers: count a frame's words, then commit it to the FIFO one clock later.
        # ---------------------------------------------------------------------------
        arrived = Signal(12)
        failed  = Signal()
        last    = Signal()
        self.comb += [
            fifo.write.eq(data.valid),
            fifo.data.eq(data.data),
            last.eq(data.valid & (arrived + 1 == jobs.source.words)),
            jobs.source.ready.eq(last | (jobs.source.words == 0)),
            statuses.sink.valid.eq(jobs.source.valid & jobs.source.ready),
            statuses.sink.error.eq(jobs.source.error),
            statuses.sink.request.eq(jobs.source.request),
            statuses.sink.silent.eq(jobs.source.silent),
        ]
        self.sync += [
            If(data.valid,
                arrived.eq(arrived + 1),
                failed.eq(failed | data.error),
            ),
            fifo.commit.eq(last),
            If(last,
                arrived.eq(0),
                failed.eq(0),
                fifo.param.length.eq(jobs.source.length),
                fifo.param.offset.eq(jobs.source.offset),
                fifo.param.error.eq(failed | data.error),
            ),
        ]

        # Status.
        # -------
        index = Signal(INDEX_BITS)
        self.status_fsm = status_fsm = FSM(reset_state="REQUEST")
        status_fsm.act("REQUEST",
            port.request.valid.eq(statuses.source.valid),
            port.request.address.eq(descriptor.status_address(self.base, self.order, index)),
            port.request.last_beat.eq(0),
            port.request.note.eq(Cat(Constant(1, 1), statuses.source.request, statuses.source.silent)),
            If(port.request.valid & port.request.ready, NextState("DATA")),
        )
        status_fsm.act("DATA",
            port.data.valid.eq(1),
            port.data.data.eq(descriptor.status_beat(index, self.order, error=statuses.source.error)),
            If(port.data.ready,
                statuses.source.ready.eq(1),
                NextValue(index, index + 1),
                NextState("REQUEST"),
            )
        )
        self.comb += [
            self.completion.eq(port.done),
            self.request.eq(port.done_note[1]),
            self.silent.eq(port.done_note[2]),
        ]
        self.sync += If(fsm.ongoing("STOPPED"), index.eq(0))
        self.comb += self.awake.eq(fetcher.awake | fetcher.source.valid | (in_flight != 0) |
            ~Mux(self.enable, fsm.ongoing("WAIT"), fsm.ongoing("STOPPED")))
