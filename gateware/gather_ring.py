# SPDX-License-Identifier: BSD-2-Clause
"""Tx ring of frames in pieces: each descriptor names one, and CONTROL.MORE says that another follows.

    descriptors ─ requests ─ memory ─ buffer ─ assembly ─ Packer ─ FIFO
                     └── Completions' jobs ───────┘
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from moderato.gateware.completions import Completions
from moderato.gateware.descriptor  import DescriptorFetcher, checksum_layout
from moderato.gateware.dma         import BURST_BEATS, DATA_BYTES, ReadPort
from moderato.gateware.packer      import Packer

# Words that memory may owe, or that wait for being packed: enough to hide its latency.
BUFFER_WORDS = 4*BURST_BEATS

# Gather Ring --------------------------------------------------------------------------------------

class GatherRing(LiteXModule):
    """In TxRing's place: packs the pieces of each frame into `fifo`, from its first octet on.

    A piece's descriptor completes when its octets were taken, that of a frame's last piece when the frame
    is whole in the FIFO. What spoils a frame: a piece of length 0, or one that makes it longer than the
    FIFO (`drop_length`), or one that memory refuses to give all of, or the end of `enable`. Nothing of it
    is sent; that piece's descriptor and all that follow complete with ERROR. A frame whose last piece was not
    handed over waits for it.

    Words wait in a buffer, so that memory need not be asked for more than the FIFO takes, nor does
    anything have to be known of a frame before its first piece is read.
    """
    def __init__(self, fifo, fifo_order, max_frames, checksum=None):
        # Settings.
        self.enable = Signal()
        self.base   = Signal(32)
        self.order  = Signal(4)

        # Results.
        self.idle        = Signal()
        self.halted      = Signal()
        self.drop_length = Signal()
        self.awake       = Signal()

        # DMA.
        wanted = checksum_layout if checksum else []
        self.fetcher     = fetcher     = DescriptorFetcher(checksum is not None, gather=True)
        self.data        = data        = ReadPort()
        self.completions = completions = Completions([("length", 16), ("offset", 3), ("more", 1),
            ("error", 1), ("request", 1), ("silent", 1)] + wanted)

        # # #

        self.comb += [
            fetcher.enable.eq(self.enable),
            fetcher.base.eq(self.base),
            fetcher.order.eq(self.order),
            completions.base.eq(self.base),
            completions.order.eq(self.order),
            self.halted.eq(fetcher.failed | completions.failed),
        ]

        # Requests: one piece after the other, burst by burst, as the buffer has room for them.
        # -------------------------------------------------------------------------------------
        address   = Signal(29)
        length    = Signal(16)
        total       = Signal(17) # Octets of the frame, up to this piece.
        before    = Signal(14) # And without it.
        spoils    = Signal()   # An earlier piece did.
        remaining = Signal(14)
        in_line   = Signal(max=BURST_BEATS + 1)
        beats     = Signal(max=BURST_BEATS + 1)
        owed      = Signal(max=BUFFER_WORDS + 1)
        job       = completions.job
        invalid   = Signal()
        self.buffer = buffer = stream.SyncFIFO([("data", 8*DATA_BYTES), ("error", 1)], BUFFER_WORDS)
        self.comb += [
            invalid.eq((length == 0) | (total > 2**fifo_order - DATA_BYTES)),
            in_line.eq(BURST_BEATS - address[:log2_int(BURST_BEATS)]),
            beats.eq(Mux(remaining < in_line, remaining, in_line)),
            job.length.eq(length),
            job.error.eq(invalid | spoils),
            buffer.sink.valid.eq(data.valid),
            buffer.sink.data.eq(data.data),
            buffer.sink.error.eq(data.error),
        ]
        self.fsm = fsm = FSM(reset_state="STOPPED")
        fsm.act("STOPPED",
            self.idle.eq(~self.enable),
            completions.restart.eq(1),
            NextValue(before, 0),
            NextValue(spoils, 0),
            If(self.enable, NextState("WAIT")),
        )
        fsm.act("WAIT",
            NextValue(address, fetcher.source.address[3:]),
            NextValue(job.offset, fetcher.source.address[:3]),
            NextValue(length, fetcher.source.length),
            [NextValue(getattr(job, name), getattr(fetcher.source, name))
                for name in ("more", "request", "silent", *[name for name, _ in wanted])],
            If(~self.enable,
                NextState("DRAIN")
            ).Elif(fetcher.source.valid & completions.room & ~self.halted,
                fetcher.source.ready.eq(1),
                NextState("MEASURE"),
            )
        )
        fsm.act("MEASURE",
            NextValue(remaining, (length + job.offset + DATA_BYTES - 1) >> log2_int(DATA_BYTES)),
            NextValue(total, before + length),
            NextState("JOB"),
        )
        fsm.act("JOB",
            If(~self.enable,
                NextState("DRAIN")
            ).Elif(~job.error | ~completions.waiting,
                job.valid.eq(1),
                self.drop_length.eq(invalid & ~spoils),
                NextValue(spoils, job.error & job.more),
                NextValue(before, Mux(job.error | ~job.more, 0, total)),
                If(job.error,
                    NextState("WAIT")
                ).Else(
                    NextState("REQUEST")
                ),
            )
        )
        fsm.act("REQUEST",
            data.request.valid.eq(owed <= BUFFER_WORDS - BURST_BEATS),
            data.request.address.eq(address),
            data.request.last_beat.eq(beats - 1),
            If(data.request.valid & data.request.ready,
                NextValue(address, address + beats),
                NextValue(remaining, remaining - beats),
                If(remaining == beats, NextState("WAIT")),
            )
        )
        fsm.act("DRAIN",
            If(completions.idle & fetcher.idle,
                fifo.abort.eq(1),
                NextState("STOPPED"),
            )
        )
        self.sync += owed.eq(owed + Mux(data.request.valid & data.request.ready, beats, 0)
            - (buffer.source.valid & buffer.source.ready))

        # Assembly: of each word the octets of its piece, then the frame's end.
        # ---------------------------------------------------------------------
        left    = Signal(16) # Octets of the piece that are not in `packer.word` yet.
        in_word = Signal(max=DATA_BYTES + 1)
        octets  = Signal(14) # Of the frame, packed.
        number  = Signal(12) # Words of it in the FIFO.
        begun   = Signal()
        ended   = Signal()
        spoilt  = Signal()
        refused = Signal()
        final   = Signal() # `packer.word` is the piece's last one.
        oldest  = completions.oldest
        self.packer = packer = Packer()
        self.comb += [
            in_word.eq(DATA_BYTES - packer.first),
            packer.clear.eq(spoilt | ended),
            packer.room.eq(fifo.space != 0),
            fifo.write.eq(packer.write & packer.room & ~packer.clear),
            fifo.data.eq(packer.data),
            fifo.param.length.eq(octets),
            completions.refused.eq(spoilt & ~fifo.commit),
        ]
        self.assembly = assembly = FSM(reset_state="PIECE")
        assembly.act("PIECE",
            NextValue(left, oldest.length),
            NextValue(packer.first, oldest.offset),
            If(completions.waiting,
                If(oldest.error,
                    refused.eq(1),
                    ended.eq(~oldest.more),
                ).Elif(spoilt | (fifo.frames != max_frames),
                    NextValue(begun, 1),
                    NextState("WORD"),
                )
            )
        )
        assembly.act("WORD",
            buffer.source.ready.eq(1),
            NextValue(packer.word, buffer.source.data),
            NextValue(packer.count, Mux(left < in_word, left, in_word)),
            NextValue(final, left <= in_word),
            If(buffer.source.valid,
                refused.eq(buffer.source.error),
                NextValue(left, left - in_word),
                NextState("OCTETS"),
            )
        )
        assembly.act("OCTETS",
            packer.put.eq(1),
            If(packer.ready | spoilt,
                NextValue(octets, octets + packer.count),
                NextValue(packer.first, 0),
                If(~final,
                    NextState("WORD")
                ).Elif(oldest.more,
                    completions.finish.eq(1),
                    NextState("PIECE"),
                ).Else(
                    NextState("END")
                )
            )
        )
        assembly.act("END",
            packer.end.eq(1),
            If(packer.ready | spoilt, NextState("COMMIT")),
        )
        assembly.act("COMMIT",
            If(fifo.commit | spoilt,
                completions.finish.eq(1),
                ended.eq(1),
                NextState("PIECE"),
            )
        )
        self.comb += If(ended & ~fifo.commit, fifo.abort.eq(1))
        self.sync += [
            fifo.commit.eq(fifo.write & packer.last),
            If(fifo.write, number.eq(number + 1)),
            If(ended | completions.restart,
                begun.eq(0),
                octets.eq(0),
                number.eq(0),
            ),
            # Whoever disables the ring does not wait for the FIFO: the link may be down.
            If(~self.enable,
                spoilt.eq(1)
            ).Elif(ended | completions.restart,
                spoilt.eq(0)
            ).Elif(refused,
                spoilt.eq(1)
            ),
        ]

        awake = fetcher.awake | fetcher.source.valid | ~completions.idle | \
            ~Mux(self.enable, fsm.ongoing("WAIT"), fsm.ongoing("STOPPED"))

        # Checksums: as the frame's first piece asks for them.
        # ----------------------------------------------------
        if checksum:
            start = Signal(13)
            self.sync += If(~begun & completions.waiting,
                start.eq(oldest.start),
                fifo.param.place.eq(oldest.place),
                fifo.param.insert.eq(oldest.insert),
            )
            self.comb += [
                checksum.write.eq(fifo.write),
                checksum.data.eq(fifo.data),
                checksum.number.eq(number),
                checksum.last.eq(packer.last),
                checksum.start.eq(Cat(C(0, 1), start)),
                checksum.end.eq(octets[:3]),
            ]
            awake = awake | checksum.awake

        self.comb += self.awake.eq(awake)
