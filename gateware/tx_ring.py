# SPDX-License-Identifier: BSD-2-Clause
"""Tx ring: frames from memory into the FIFO, then their status into the ring."""

from migen import *

from litex.gen import *

from moderato.gateware.completions import IN_FLIGHT, Completions
from moderato.gateware.descriptor  import DescriptorFetcher
from moderato.gateware.dma         import BURST_BEATS, DATA_BYTES, ReadPort

# Parameters of a frame in the Tx FIFO: its octets without FCS, the byte of the first word that it
# starts at, and whether the bus failed while it was read.
tx_frame_param = [("length", 14), ("offset", 3), ("error", 1)]
# And with checksums, whether one is to be inserted, and at which pair of octets.
tx_place_param = [("place", 13), ("insert", 1)]
# With VLANs, whether one with this tag is to be inserted.
tx_tag_param = [("tag", 16), ("tagged", 1)]
# And with time stamps, whether its completion waits for one, a bit for each ring whose it may be.
def tx_stamp_param(rings): return [("stamp", rings)]

# Tx Ring ------------------------------------------------------------------------------------------

class TxRing(LiteXModule):
    """Reads the frames that descriptors name into `fifo` (tx_frame_param) as soon as they fit.

    fifo_order  size of the FIFO, 2**order bytes.
    max_frames  how many frames the FIFO can hold.
    checksum    a TxChecksum that is to sum each frame on its way, for a FIFO with tx_place_param, too; or None.
    tag         frames get VLAN tags if `insert`; the FIFO has tx_tag_param, too.
    stamps      the RingStamps of frames that ask for one, for a FIFO with tx_stamp_param, too; or None.

    A descriptor completes when its frame is whole in the FIFO, for then its memory may be reused; the
    frame will be sent, whatever becomes of the ring; one with a stamp, when that is known. A length of
    0, or beyond the FIFO (`drop_length`), and one that memory refuses to give all of complete with
    ERROR and send nothing. Memory that refuses descriptors or their status leaves the ring `halted` until it is disabled.
    """
    def __init__(self, fifo, fifo_order, max_frames, checksum=None, tag=False, stamps=None):
        if max_frames <= IN_FLIGHT:
            raise ValueError(f"max_frames must be more than the {IN_FLIGHT} frames that may be under "
                f"way, not {max_frames}: nothing would ever be sent.")
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
        self.fetcher     = fetcher     = DescriptorFetcher(checksum is not None, tag, stamps is not None)
        self.data        = data        = ReadPort()
        wanted = [("start", 15)] + tx_place_param if checksum else [] # `start` in memory, as `offset`.
        wanted = wanted + (tx_tag_param if tag else []) + (tx_stamp_param(1) if stamps else [])
        self.completions = completions = Completions([("words", 12), ("length", 14), ("offset", 3),
            ("error", 1), ("request", 1), ("silent", 1)] + wanted, stamped=stamps is not None)

        # # #

        self.comb += [
            fetcher.enable.eq(self.enable),
            fetcher.base.eq(self.base),
            fetcher.order.eq(self.order),
            completions.base.eq(self.base),
            completions.order.eq(self.order),
            self.halted.eq(fetcher.failed | completions.failed),
        ]

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
        self.reserved = reserved
        in_line   = Signal(max=BURST_BEATS + 1)
        beats     = Signal(max=BURST_BEATS + 1)
        job       = completions.job
        invalid   = Signal()
        room      = Signal()
        self.comb += [
            words.eq((length + offset + DATA_BYTES - 1) >> 3),
            invalid.eq((length == 0) | (length > 2**fifo_order - DATA_BYTES)),
            room.eq((reserved + words <= fifo.space) & (fifo.frames < max_frames - IN_FLIGHT)),
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
        self.fsm = fsm = FSM(reset_state="STOPPED")
        fsm.act("STOPPED",
            self.idle.eq(~self.enable),
            completions.restart.eq(1),
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
            ).Elif(fetcher.source.valid & completions.room & ~self.halted,
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
            data.request.address.eq(address),
            data.request.last_beat.eq(beats - 1),
            If(data.request.ready,
                NextValue(address, address + beats),
                NextValue(remaining, remaining - beats),
                If(remaining == beats, NextState("WAIT")),
            )
        )
        fsm.act("DRAIN",
            If(completions.idle & fetcher.idle, NextState("STOPPED"))
        )
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

        awake = fetcher.awake | fetcher.source.valid | ~completions.idle | \
            ~Mux(self.enable, fsm.ongoing("WAIT"), fsm.ongoing("STOPPED"))

        # Checksums.
        # ----------
        if checksum:
            start = Signal(13)
            fsm.act("WAIT",
                NextValue(start, fetcher.source.start),
                NextValue(job.place, fetcher.source.place),
                NextValue(job.insert, fetcher.source.insert),
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
        if tag:
            self.insert = Signal()
            fsm.act("WAIT",
                NextValue(job.tag, fetcher.source.tag),
                NextValue(job.tagged, fetcher.source.tagged & self.insert),
            )
            self.sync += If(completions.finish,
                fifo.param.tag.eq(oldest.tag),
                fifo.param.tagged.eq(oldest.tagged),
            )
        # Time stamps. A ring that stops does not wait for them: the link may be down.
        # ----------------------------------------------------------------------------
        if stamps:
            fsm.act("WAIT", NextValue(job.stamp, fetcher.source.stamp))
            self.comb += [
                stamps.source.connect(completions.stamps),
                stamps.give_up.eq(~self.enable),
            ]
            self.sync += If(completions.finish, fifo.param.stamp.eq(oldest.stamp))
            awake = awake | stamps.awake

        self.comb += self.awake.eq(awake)

    def wants(self):
        """From when a frame is there until all of it is asked for."""
        return self.fsm.ongoing("RESERVE") | self.fsm.ongoing("REQUEST")
