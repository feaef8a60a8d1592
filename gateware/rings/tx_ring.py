# SPDX-License-Identifier: BSD-2-Clause
"""Tx ring: frames from memory into the FIFO, then their status into the ring."""

from migen import *

from litex.gen import *

from moderato.gateware.bus.dma           import BURST_BEATS, DATA_BYTES, ReadPort
from moderato.gateware.frame.records     import chosen, tx_descriptor
from moderato.gateware.rings.completions import IN_FLIGHT
from moderato.gateware.rings.ring        import Ring

# Tx Ring ------------------------------------------------------------------------------------------

class TxRing(Ring):
    """Reads the frames of descriptors into `fifo` (tx_frame) as soon as they fit.

    checksum  a TxChecksum that sums each frame on its way, or None.
    stamps    see Ring.

    A descriptor completes when its whole frame is in the FIFO, because its memory may be reused from then on. The
    frame will be sent even if the ring stops. A frame with a stamp completes when the stamp is known, or with ERROR
    when the scheduler dropped it. If the length is 0 or exceeds the FIFO (`drop_length`), or if a read fails, the
    descriptor completes with ERROR, and nothing is sent.

    insert    (with VLANs) frames get the tags that their descriptors request.
    """
    def __init__(self, fifo, options, checksum=None, stamps=None):
        super().__init__(tx_descriptor(options), chosen(
            ("words",   12, True),
            ("length",  14, True),
            ("offset",  3,  True),
            ("error",   1,  True),
            ("request", 1,  True),
            ("silent",  1,  True),
            ("start",   15, options.tx_checksum), # In memory, like `offset`.
            ("place",   13, options.tx_checksum),
            ("insert",  1,  options.tx_checksum),
            ("tag",     16, options.vlan),
            ("tagged",  1,  options.vlan),
            ("stamp",   1,  options.timestamp),
            ("launch",  1,  options.launch),
            ("drop",    1,  options.launch),
            ("time",    32, options.launch),
        ), stamps=stamps)
        self.drop_length = Signal()

        # DMA.
        self.data = data = ReadPort()

        # # #

        fetcher, completions, fsm = self.fetcher, self.completions, self.fsm

        # Requests: one frame after the other, burst by burst, once the FIFO has room for the whole frame.
        # ------------------------------------------------------------------------------------------
        address   = Signal(29)
        offset    = Signal(3)
        length    = Signal(16)
        words     = Signal(14)
        request   = Signal()
        silent    = Signal()
        remaining = Signal(12)
        reserved  = Signal(12) # Room for words that have not arrived yet.
        self.reserved = reserved
        in_line   = Signal(max=BURST_BEATS + 1)
        beats     = Signal(max=BURST_BEATS + 1)
        job       = completions.job
        invalid   = Signal()
        room      = Signal()
        self.comb += [
            words.eq((length + offset + DATA_BYTES - 1) >> 3),
            invalid.eq((length == 0) | (length > fifo.longest)),
            room.eq((reserved + words <= fifo.space) & (fifo.frames < fifo.max_frames - IN_FLIGHT)),
            in_line.eq(BURST_BEATS - address[:log2_int(BURST_BEATS)]),
            beats.eq(Mux(remaining < in_line, remaining, in_line)),
            job.words.eq(words),
            job.length.eq(length),
            job.offset.eq(offset),
            job.error.eq(invalid),
            job.request.eq(request),
            job.silent.eq(silent),
        ]
        reserve = Signal()
        fsm.act("STOPPED",
            self.idle.eq(~self.enable),
            If(self.enable, NextState("WAIT")),
        )
        fsm.act("WAIT",
            If(~self.enable,
                NextState("DRAIN")
            ).Elif(fetcher.source.valid & completions.room & ~self.halted,
                fetcher.source.ready.eq(1),
                NextState("RESERVE"),
            )
        )
        fsm.act("RESERVE",
            If(~self.enable,
                # There may never be room: the link may be down.
                NextState("DRAIN")
            ).Elif(invalid,
                If(~completions.waiting,
                    self.drop_length.eq(1),
                    job.valid.eq(1),
                    NextState("WAIT"),
                )
            ).Elif(room,
                reserve.eq(1),
                job.valid.eq(1),
                NextState("REQUEST"),
            )
        )
        fsm.act("REQUEST",
            data.request.valid.eq(1),
            If(data.request.ready,
                If(remaining == beats, NextState("WAIT")),
            )
        )

        # Payload of these requests. A gate by the state would take a LUT for each bit.
        # -----------------------------------------------------------------------------
        self.comb += [
            data.request.address.eq(address),
            data.request.last_beat.eq(beats - 1),
        ]
        self.sync += [
            If(fsm.ongoing("WAIT"),
                address.eq(fetcher.source.address[3:]),
                offset.eq(fetcher.source.address[:3]),
                length.eq(fetcher.source.length),
                request.eq(fetcher.source.request),
                silent.eq(fetcher.source.silent),
            ).Elif(data.request.valid & data.request.ready,
                address.eq(address + beats),
            ),
            If(fsm.ongoing("RESERVE"),
                remaining.eq(words),
            ).Elif(data.request.valid & data.request.ready,
                remaining.eq(remaining - beats),
            ),
        ]
        self.sync += reserved.eq(reserved + Mux(reserve, words, 0) - data.valid)

        # Answers: count a frame's words, then commit it to the FIFO one clock later.
        # ---------------------------------------------------------------------------
        arrived = Signal(12)
        refused = Signal()
        oldest  = completions.oldest
        self.comb += [
            fifo.write.eq(data.valid),
            fifo.data.eq(data.data),
            completions.finish.eq(data.valid & (arrived + 1 == oldest.words)),
            completions.refused.eq(refused | data.error),
        ]
        self.sync += [
            If(data.valid,
                arrived.eq(arrived + 1),
                refused.eq(completions.refused),
            ),
            fifo.commit.eq(completions.finish),
            If(completions.finish,
                arrived.eq(0),
                refused.eq(0),
                fifo.param.length.eq(oldest.length),
                fifo.param.offset.eq(oldest.offset),
                fifo.param.error.eq(completions.refused),
            ),
        ]

        awake = self.busy() | fetcher.source.valid

        # Checksums.
        # ----------
        if options.tx_checksum:
            start = Signal(13)
            self.sync += If(fsm.ongoing("WAIT"),
                start.eq(fetcher.source.start),
                job.place.eq(fetcher.source.place),
                job.insert.eq(fetcher.source.insert & ~fetcher.source.launch
                    if options.launch else fetcher.source.insert),
            )
            self.comb += [
                job.start.eq(Cat(C(0, 1), start) + offset),
                checksum.write.eq(data.valid),
                checksum.data.eq(data.data),
                checksum.number.eq(arrived),
                checksum.last.eq(completions.finish),
                checksum.start.eq(oldest.start),
                checksum.end.eq(oldest.offset + oldest.length),
                checksum.odd.eq(oldest.offset[0]),
            ]
            self.sync += If(completions.finish,
                fifo.param.place.eq(oldest.place),
                fifo.param.insert.eq(oldest.insert),
            )
            awake = awake | checksum.awake

        # VLAN tags.
        # ----------
        if options.vlan:
            self.insert = Signal()
            self.sync += If(fsm.ongoing("WAIT"),
                job.tag.eq(fetcher.source.tag),
                job.tagged.eq(fetcher.source.tagged & self.insert),
            )
            self.sync += If(completions.finish,
                fifo.param.tag.eq(oldest.tag),
                fifo.param.tagged.eq(oldest.tagged),
            )

        # Launch times.
        # -------------
        if options.launch:
            for name in ("launch", "drop", "time"):
                self.sync += [
                    If(fsm.ongoing("WAIT"), getattr(job, name).eq(getattr(fetcher.source, name))),
                    If(completions.finish, getattr(fifo.param, name).eq(getattr(oldest, name))),
                ]

        # Time stamps.
        # ------------
        if options.timestamp:
            self.sync += If(fsm.ongoing("WAIT"), job.stamp.eq(fetcher.source.stamp))
            self.sync += If(completions.finish, fifo.param.stamp.eq(oldest.stamp))
            awake = awake | stamps.awake

        self.comb += self.awake.eq(awake)

    def wants(self):
        """From the arrival of a descriptor to the last request for its frame."""
        return self.fsm.ongoing("RESERVE") | self.fsm.ongoing("REQUEST")
