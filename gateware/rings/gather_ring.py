# SPDX-License-Identifier: BSD-2-Clause
"""Tx ring of frames in pieces: each descriptor has a piece, and CONTROL.MORE announces another one.

    descriptors ─ requests ─ memory ─ buffer ─ Assembly ─ FIFO
                     └── Completions' jobs ───────┘
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from moderato.gateware.bus.dma            import BURST_BEATS, DATA_BYTES, ReadPort
from moderato.gateware.frame.records      import tx_descriptor
from moderato.gateware.registers.table    import HEADER_BYTES
from moderato.gateware.rings.ring         import Ring
from moderato.gateware.transmit.assembly  import Assembly
from moderato.gateware.transmit.segmenter import IP_PAIRS, TCP_PAIRS, Segmenter

# Words that were requested, or wait to be packed: enough to hide the memory's latency.
BUFFER_WORDS = 4*BURST_BEATS

# Gather Ring --------------------------------------------------------------------------------------

class GatherRing(Ring):
    """Replaces TxRing: packs the pieces of each frame into `fifo`, starting with the first octet of a word.

    The descriptor of a piece completes when its octets were taken, that of a frame's last piece when the whole
    frame is in the FIFO. These abort a frame: a piece of length 0, or one that makes the frame longer than
    the FIFO (`drop_length`); a read error; or the end of `enable` while the FIFO is full. The ring then sends
    nothing of the frame, and the descriptors of that piece and of all later ones complete with ERROR. A frame
    whose last piece was not handed over waits for it; a halted ring discards it.

    Checksums and VLAN tags work as in TxRing: the first piece of a frame requests them. The last piece
    requests a stamp.

    With segments, the first piece of a frame may request segmentation (CONTROL.SEGMENT). It has the headers,
    and the ring cuts the payload of any length that follows. Each segment is a frame in the FIFO and leaves
    when it is whole there, even if the rest is aborted. Invalid headers count as an invalid length. The last
    segment is stamped.

    The ring reserves no room in the FIFO (`reserved` is 0): a frame takes the room of what is written.

    Words wait in a buffer. So the ring requests no more than the FIFO can take, and needs to know nothing about
    a frame before it reads the first piece.
    """
    def __init__(self, fifo, options, checksum=None, stamps=None):
        descriptor = tx_descriptor(options)
        asked = [(name, width) for name, width in descriptor if name not in ("address", "length")]
        super().__init__(descriptor, [("length", 16), ("offset", 3), ("error", 1), *asked], stamps=stamps)
        self.drop_length = Signal()
        self.reserved    = 0
        self.between     = options.flows and options.segment

        # DMA.
        self.data = data = ReadPort()

        # # #

        fetcher, completions, fsm = self.fetcher, self.completions, self.fsm

        # Requests: one piece after the other, burst by burst, while the buffer has room for them.
        # -------------------------------------------------------------------------------------
        address   = Signal(29)
        length    = Signal(16)
        total       = Signal(17) # Octets of the frame, up to this piece.
        before    = Signal(14) # Octets without this piece.
        spoils    = Signal()   # An earlier piece aborted the frame.
        end       = Signal(17) # Octets from the start of the piece's first word to the end of its last one.
        remaining = Signal(14) # Words still to be requested.
        in_line   = Signal(max=BURST_BEATS + 1)
        beats     = Signal(max=BURST_BEATS + 1)
        owed      = Signal(max=BUFFER_WORDS + 1)
        job       = completions.job
        invalid   = Signal()
        too_long  = Signal()
        self.buffer = buffer = stream.SyncFIFO([("data", 8*DATA_BYTES), ("error", 1)], BUFFER_WORDS)
        self.comb += [
            end.eq(length + job.offset + DATA_BYTES - 1),
            invalid.eq((length == 0) | too_long),
            too_long.eq(total > fifo.longest),
            in_line.eq(BURST_BEATS - address[:log2_int(BURST_BEATS)]),
            beats.eq(Mux(remaining < in_line, remaining, in_line)),
            job.length.eq(length),
            job.error.eq(invalid | spoils),
            buffer.sink.valid.eq(data.valid),
            buffer.sink.data.eq(data.data),
            buffer.sink.error.eq(data.error),
        ]
        fsm.act("STOPPED",
            self.idle.eq(~self.enable),
            NextValue(before, 0),
            NextValue(spoils, 0),
            If(self.enable, NextState("WAIT")),
        )
        fsm.act("WAIT",
            NextValue(address, fetcher.source.address[3:]),
            NextValue(job.offset, fetcher.source.address[:3]),
            NextValue(length, fetcher.source.length),
            [NextValue(getattr(job, name), getattr(fetcher.source, name)) for name, _ in asked],
            If(~self.enable,
                NextState("DRAIN")
            ).Elif(fetcher.source.valid & completions.room & ~self.halted,
                fetcher.source.ready.eq(1),
                NextState("MEASURE"),
            )
        )
        fsm.act("MEASURE",
            NextValue(remaining, end[log2_int(DATA_BYTES):]),
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
        fsm.act("DRAIN", fifo.abort.eq(completions.idle & fetcher.idle))
        self.sync += owed.eq(owed + Mux(data.request.valid & data.request.ready, beats, 0)
            - (buffer.source.valid & buffer.source.ready))

        # Segments: valid headers, and payload of any length after them.
        # -------------------------------------------------------------------------
        segmenter = None
        if options.segment:
            self.segmenter = segmenter = Segmenter()
            inside  = Signal() # A frame has begun,
            carries = Signal() # and it is to be cut.
            senses  = Signal(6)
            nonsense, heads = Signal(), Signal()
            self.comb += [
                heads.eq(job.segment & ~inside),
                nonsense.eq(heads & (senses != 0)),
                If(heads, too_long.eq(nonsense)).Elif(carries, too_long.eq(0)),
            ]
            fsm.act("MEASURE", NextValue(senses, Cat(
                length[0] | (length > HEADER_BYTES),
                job.start < job.network + IP_PAIRS,
                length[1:] < job.start + TCP_PAIRS,
                length + job.mss > fifo.longest,
                (job.mss == 0) | (job.octets == 0),
                ~job.more,
            )))
            fsm.act("JOB", If(job.valid,
                NextValue(inside, job.more),
                NextValue(carries, job.more & ~job.error & (heads | carries)),
            ))
            fsm.act("STOPPED",
                NextValue(inside, 0),
                NextValue(carries, 0),
            )

        # What comes of them.
        # -------------------
        self.assembly = assembly = Assembly(completions, buffer, fifo, checksum, segmenter)
        self.comb += [
            assembly.enable.eq(self.enable),
            assembly.over.eq(self.halted & fsm.ongoing("WAIT")),
        ]

        awake = self.busy() | fetcher.source.valid | assembly.awake
        if options.tx_checksum:
            awake = awake | checksum.awake
        if options.vlan:
            self.insert = Signal()
            fsm.act("WAIT", NextValue(job.tagged, fetcher.source.tagged & self.insert))
        if options.timestamp:
            fsm.act("WAIT", NextValue(job.stamp, fetcher.source.stamp & ~fetcher.source.more))
            awake = awake | stamps.awake
        self.comb += self.awake.eq(awake)

    def wants(self):
        """From the first piece of a frame to the end of the frame: meanwhile, no words of other frames may enter
        the FIFO. With flows, whose frames cannot wait for 64 KiB, only to the end of a segment."""
        return self.assembly.wants & ~self.assembly.closed if self.between else self.assembly.wants
