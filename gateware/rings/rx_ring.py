# SPDX-License-Identifier: BSD-2-Clause
"""Rx ring: whole frames from the FIFO into buffers in memory, then their status into the ring."""

from migen import *

from litex.gen import *

from moderato.gateware.bus.dma         import BURST_BEATS, DATA_BYTES, WritePort
from moderato.gateware.frame.records   import rx_descriptor
from moderato.gateware.registers.table import RX_OFFSET, STAMP_OCTETS
from moderato.gateware.rings.ring      import Ring

# Rx Ring ------------------------------------------------------------------------------------------

class RxRing(Ring):
    """Moves the oldest frame of `fifo` (rx_frame) to the next descriptor's buffer.

    The ring drops a frame for which there is no descriptor (`drop_ring`) or which does not fit its buffer
    (`drop_buffer`; its descriptor completes with ERROR). An urgent frame requests an interrupt at once, as a
    descriptor can, and its status has URGENT. The ring uses only whole words of a buffer. A failed data write
    costs that frame (ERROR). A failed read of a descriptor or write of a status leaves the ring `halted`: it
    drops all frames until it is disabled. A segment does not count as the continuation of a frame that the
    ring did not deliver.
    """
    def __init__(self, fifo):
        known = [name for name, _ in fifo.head.layout] # Fields of the status.
        super().__init__(rx_descriptor(), fifo.head.layout + [("error", 1), ("request", 1), ("silent", 1)], known)
        self.drop_ring   = Signal()
        self.drop_buffer = Signal()

        # DMA.
        self.data = data = WritePort(note_width=1) # The note marks a frame's last burst.

        # # #

        fetcher, completions, fsm = self.fetcher, self.completions, self.fsm

        # Frames.
        # -------
        address   = Signal(29)
        octets    = Signal(15) # Up to the end of the last word: one bit more than a length has.
        words     = Signal(12)
        remaining = Signal(12) # Words of the frame still to be written.
        in_line   = Signal(max=BURST_BEATS + 1)
        beats     = Signal(max=BURST_BEATS + 1)
        job       = completions.job
        fits      = Signal()
        written   = fifo.head.length + RX_OFFSET
        if "stamped" in known:
            written = written + Mux(fifo.head.stamped, STAMP_OCTETS, 0)
        self.comb += [
            octets.eq(written + DATA_BYTES - 1),
            words.eq(octets[log2_int(DATA_BYTES):]),
            fits.eq(words <= fetcher.source.length[log2_int(DATA_BYTES):]),
            in_line.eq(BURST_BEATS - address[:log2_int(BURST_BEATS)]),
        ]

        fsm.act("STOPPED",
            # Frames received before do not belong to the next ring.
            fifo.release.eq(fifo.available),
            self.idle.eq(~self.enable & ~fifo.available),
            If(self.enable & ~fifo.available, NextState("WAIT")),
        )
        fsm.act("WAIT",
            If(~self.enable,
                NextState("DRAIN")
            ).Elif(fifo.available,
                If(self.halted | fetcher.starved,
                    self.drop_ring.eq(1),
                    fifo.release.eq(1),
                ).Elif(fetcher.source.valid & completions.room,
                    fetcher.source.ready.eq(1),
                    NextState("REQUEST")
                )
            )
        )
        fsm.act("REQUEST",
            data.request.valid.eq(~job.error),
            # A clock after the comparison, because a release moves the FIFO's read address.
            If(job.error,
                If(~completions.waiting,
                    self.drop_buffer.eq(1),
                    fifo.release.eq(1),
                    job.valid.eq(1),
                    NextState("WAIT")
                )
            ).Elif(data.request.ready,
                NextState("DATA")
            ),
        )
        fsm.act("DATA",
            data.data.valid.eq(1),
            If(data.data.ready,
                fifo.next.eq(1),
                If(remaining == 1,
                    fifo.release.eq(1),
                    job.valid.eq(1),
                    NextState("WAIT")
                ).Elif(beats == 1,
                    NextState("REQUEST")
                )
            )
        )

        # Payload of these requests. A gate by the state would take a LUT for each bit.
        # -----------------------------------------------------------------------------
        burst = Signal(max=BURST_BEATS + 1)
        self.comb += [
            burst.eq(Mux(remaining < in_line, remaining, in_line)),
            data.request.address.eq(address),
            data.request.last_beat.eq(burst - 1),
            data.request.note.eq(remaining <= in_line),
            data.data.data.eq(fifo.word),
        ]
        self.sync += [
            If(fsm.ongoing("WAIT"),
                address.eq(fetcher.source.address[log2_int(DATA_BYTES):]),
                remaining.eq(words),
                [getattr(job, name).eq(getattr(fifo.head, name)) for name in known],
                job.error.eq(~fits),
                job.request.eq(fetcher.source.request | fifo.head.urgent),
                job.silent.eq(fetcher.source.silent),
            ).Elif(fifo.next,
                address.eq(address + 1),
                remaining.eq(remaining - 1),
            ),
            If(fsm.ongoing("DATA"),
                If(fifo.next, beats.eq(beats - 1))
            ).Else(
                beats.eq(burst)
            ),
        ]

        if "continues" in known:
            lost = Signal() # The frame before had no descriptor. Completions knows those that ended with ERROR.
            fsm.act("STOPPED", NextValue(lost, 1))
            self.sync += If(fsm.ongoing("WAIT"), job.continues.eq(fifo.head.continues & ~lost))
            fsm.act("WAIT",
                If(self.drop_ring,
                    NextValue(lost, 1)
                ).Elif(fetcher.source.ready,
                    NextValue(lost, 0)
                )
            )

        # Acknowledgements: they come burst by burst, frame by frame.
        # -----------------------------------------------------------------------
        refused = Signal()
        self.comb += [
            completions.finish.eq(data.done & data.done_note),
            completions.refused.eq(refused | data.refused),
        ]
        self.sync += If(data.done, refused.eq(~data.done_note & (refused | data.refused)))

        self.comb += self.awake.eq(self.busy() | fifo.available)
