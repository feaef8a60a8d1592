# SPDX-License-Identifier: BSD-2-Clause
"""Rx ring: whole frames from the FIFO into buffers in memory, then their status into the ring."""

from migen import *

from litex.gen import *

from moderato.gateware            import descriptor
from moderato.gateware.dma        import BURST_BEATS, DATA_BYTES, WritePort
from moderato.gateware.registers  import INDEX_BITS, RX_OFFSET

# Rx Ring ------------------------------------------------------------------------------------------

class RxRing(LiteXModule):
    """Moves the oldest frame of `fifo` (rx_frame_param) to the next descriptor's buffer.

    A frame that finds no descriptor is dropped whole (`drop_ring`), one that does not fit its buffer
    too (`drop_buffer`; its descriptor completes with ERROR). `completion`, with the descriptor's
    `request` and `silent` flags, comes when memory has taken data and status, in that order.
    """
    def __init__(self, fifo):
        # Settings.
        self.enable = Signal()
        self.base   = Signal(32)
        self.order  = Signal(4)

        # Results.
        self.idle        = Signal()
        self.completion  = Signal()
        self.request     = Signal()
        self.silent      = Signal()
        self.drop_ring   = Signal()
        self.drop_buffer = Signal()
        self.awake       = Signal()

        # DMA.
        self.fetcher = fetcher = descriptor.DescriptorFetcher()
        self.port    = port    = WritePort(note_width=3)

        # # #

        self.comb += [
            fetcher.enable.eq(self.enable),
            fetcher.base.eq(self.base),
            fetcher.order.eq(self.order),
        ]

        # Bursts that memory has not acknowledged yet; a status burst's note says what completed.
        # ---------------------------------------------------------------------------------------
        under_way = Signal(4)
        self.sync += under_way.eq(under_way + (port.request.valid & port.request.ready) - port.done)
        self.comb += [
            self.completion.eq(port.done & port.done_note[0]),
            self.request.eq(port.done_note[1]),
            self.silent.eq(port.done_note[2]),
        ]

        # Frames.
        # -------
        index     = Signal(INDEX_BITS)
        address   = Signal(29)
        remaining = Signal(12) # Words of the frame still to be written.
        in_line   = Signal(max=BURST_BEATS + 1)
        beats     = Signal(max=BURST_BEATS + 1)
        length    = Signal(14)
        multicast = Signal()
        broadcast = Signal()
        error     = Signal()
        request   = Signal()
        silent    = Signal()
        fits      = Signal()
        self.comb += [
            fits.eq(fifo.head.length + RX_OFFSET <= fetcher.source.length),
            in_line.eq(BURST_BEATS - address[:log2_int(BURST_BEATS)]),
        ]

        self.fsm = fsm = FSM(reset_state="STOPPED")
        fsm.act("STOPPED",
            self.idle.eq(~self.enable),
            fifo.release.eq(fifo.available),
            NextValue(index, 0),
            If(self.enable, NextState("WAIT")),
        )
        fsm.act("WAIT",
            NextValue(address, fetcher.source.address[3:]),
            NextValue(remaining, (fifo.head.length + RX_OFFSET + DATA_BYTES - 1) >> 3),
            NextValue(length, Mux(fits, fifo.head.length, 0)),
            NextValue(multicast, fifo.head.multicast & fits),
            NextValue(broadcast, fifo.head.broadcast & fits),
            NextValue(error, ~fits),
            NextValue(request, fetcher.source.request),
            NextValue(silent, fetcher.source.silent),
            If(~self.enable,
                NextState("DRAIN")
            ).Elif(fifo.available,
                If(fetcher.source.valid,
                    fetcher.source.ready.eq(1),
                    NextState("DATA-REQUEST")
                ).Elif(fetcher.starved,
                    self.drop_ring.eq(1),
                    fifo.release.eq(1),
                )
            )
        )
        fsm.act("DATA-REQUEST",
            port.request.valid.eq(~error),
            port.request.address.eq(address),
            port.request.last_beat.eq(Mux(remaining < in_line, remaining, in_line) - 1),
            NextValue(beats, Mux(remaining < in_line, remaining, in_line)),
            # A clock after the comparison: what is released here moves the FIFO's read address.
            If(error,
                self.drop_buffer.eq(1),
                fifo.release.eq(1),
                NextState("STATUS-REQUEST")
            ).Elif(port.request.ready,
                NextState("DATA")
            ),
        )
        fsm.act("DATA",
            port.data.valid.eq(1),
            port.data.data.eq(fifo.word),
            If(port.data.ready,
                fifo.next.eq(1),
                NextValue(address, address + 1),
                NextValue(remaining, remaining - 1),
                NextValue(beats, beats - 1),
                If(remaining == 1,
                    fifo.release.eq(1),
                    NextState("STATUS-REQUEST")
                ).Elif(beats == 1,
                    NextState("DATA-REQUEST")
                )
            )
        )
        fsm.act("STATUS-REQUEST",
            port.request.valid.eq(1),
            port.request.address.eq(descriptor.status_address(self.base, self.order, index)),
            port.request.last_beat.eq(0),
            port.request.note.eq(Cat(Constant(1, 1), request, silent)),
            If(port.request.ready, NextState("STATUS")),
        )
        fsm.act("STATUS",
            port.data.valid.eq(1),
            port.data.data.eq(descriptor.status_beat(index, self.order,
                length    = length,
                multicast = multicast,
                broadcast = broadcast,
                error     = error,
            )),
            If(port.data.ready,
                NextValue(index, index + 1),
                NextState("WAIT"),
            )
        )
        fsm.act("DRAIN",
            If((under_way == 0) & fetcher.idle, NextState("STOPPED"))
        )
        self.comb += self.awake.eq(fetcher.awake | fifo.available | (under_way != 0) |
            ~Mux(self.enable, fsm.ongoing("WAIT"), fsm.ongoing("STOPPED")))
