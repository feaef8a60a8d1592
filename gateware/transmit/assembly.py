# SPDX-License-Identifier: BSD-2-Clause
"""Assembles sent frames from their pieces, and segments from headers and payload."""

from migen import *

from litex.gen import *

from moderato.gateware.bus.dma            import DATA_BYTES
from moderato.gateware.transmit.packer    import Packer
from moderato.gateware.transmit.segmenter import TCP_CHECKSUM

# Assembly -----------------------------------------------------------------------------------------

class Assembly(LiteXModule):
    """Takes the octets of the oldest job's piece from each word of `buffer`, and finishes the jobs of `completions`.
    The job of a frame's last piece finishes when the whole frame is in `fifo`.

    checksum   sums frames on their way, or None. A frame's first piece requests a checksum and a VLAN tag, its
               last piece a time stamp.
    segmenter  keeps the headers of a frame whose first piece requests segmentation, or None. Each segment has
               headers from there, then payload.

    enable     without it, frames without room in the FIFO are aborted, because the link may be down.
    over       no further piece comes: a frame without its last piece ends, too.
    wants      a frame is in progress.
    closed     pulses when a whole segment is in the FIFO, and nothing of the next one is.
    awake      a frame is being aborted.

    An aborted frame is consumed to its end, and the FIFO discards what it has of it.
    """
    def __init__(self, completions, buffer, fifo, checksum=None, segmenter=None):
        self.enable = Signal()
        self.over   = Signal()
        self.wants  = Signal()
        self.closed = Signal()
        self.awake  = Signal()

        # # #

        word    = Signal(8*DATA_BYTES)
        first   = Signal(max=DATA_BYTES)     # The word's first octet that was not taken yet.
        count   = Signal(max=DATA_BYTES + 1) # Octets of the piece from there on.
        final   = Signal()   # It is the piece's last word.
        left    = Signal(16) # Octets of the piece that are not in `word` yet.
        in_word = Signal(max=DATA_BYTES + 1)
        some    = Signal(max=DATA_BYTES + 1) # Octets taken in this clock.
        octets  = Signal(14) # Octets of the frame.
        number  = Signal(12) # Words of the frame in the FIFO.
        begun   = Signal()
        closed  = self.closed
        ended   = Signal()   # All pieces of the frame are finished.
        spoilt  = Signal()
        refused = Signal()
        full    = Signal()   # The FIFO has no room for another frame,
        stuck   = Signal()   # or for another word.
        oldest  = completions.oldest
        self.packer = packer = Packer()
        self.fsm    = fsm    = FSM(reset_state="PIECE")
        self.comb += [
            in_word.eq(DATA_BYTES - first),
            packer.word.eq(word),
            packer.first.eq(first),
            packer.count.eq(some),
            packer.clear.eq(spoilt | ended | completions.restart),
            packer.room.eq(fifo.space != 0),
            fifo.write.eq(packer.write & packer.room & ~packer.clear),
            fifo.data.eq(packer.data),
            fifo.param.length.eq(octets),
            If(ended & ~fifo.commit, fifo.abort.eq(1)),
            completions.refused.eq(spoilt & ~fifo.commit),
            full.eq(fifo.frames == fifo.max_frames),
            stuck.eq((packer.write & ~packer.room) | (fsm.ongoing("PIECE") & full)),
            self.awake.eq(self.over & begun & ~completions.waiting),
            self.wants.eq((begun | (completions.waiting & ~oldest.error)) & ~ended),
        ]
        self.sync += [
            fifo.commit.eq(fifo.write & packer.last),
            If(fifo.write, number.eq(number + 1)),
            If(closed | ended | completions.restart,
                octets.eq(0),
                number.eq(0),
            ),
            If(ended | completions.restart,
                begun.eq(0),
                spoilt.eq(0),
            ).Elif(refused | (~self.enable & stuck),
                spoilt.eq(1)
            ),
        ]

        # Pieces, word by word.
        # ---------------------
        piece_ends = If(oldest.more,
            completions.finish.eq(1),
            NextState("PIECE"),
        ).Else(
            NextState("END")
        )
        fsm.act("PIECE",
            NextValue(left, oldest.length),
            NextValue(first, oldest.offset),
            If(completions.waiting,
                If(oldest.error,
                    refused.eq(1),
                    ended.eq(~oldest.more),
                ).Elif(spoilt | ~full,
                    NextValue(begun, 1),
                    NextState("WORD"),
                )
            ).Elif(self.awake,
                ended.eq(1)
            )
        )
        fsm.act("WORD",
            buffer.source.ready.eq(1),
            NextValue(word, buffer.source.data),
            NextValue(count, Mux(left < in_word, left, in_word)),
            NextValue(final, left <= in_word),
            If(buffer.source.valid,
                refused.eq(buffer.source.error),
                NextValue(left, left - in_word),
                NextState("OCTETS"),
            )
        )
        fsm.act("END",
            packer.end.eq(1),
            If(packer.ready | spoilt, NextState("COMMIT")),
        )
        if segmenter is None:
            self.comb += some.eq(count)
            fsm.act("OCTETS",
                packer.put.eq(1),
                If(packer.ready | spoilt,
                    NextValue(octets, octets + some),
                    NextValue(first, 0),
                    If(~final,
                        NextState("WORD")
                    ).Else(
                        piece_ends
                    )
                )
            )
            fsm.act("COMMIT",
                If(fifo.commit | spoilt,
                    completions.finish.eq(1),
                    ended.eq(1),
                    NextState("PIECE"),
                )
            )

        # Segments: headers, then the segment's payload. The next segment may start within a word.
        # -----------------------------------------------------------------------------------------------
        else:
            heads   = Signal()   # This piece has the headers,
            carries = Signal()   # or payload.
            opened  = Signal()   # The segment has its headers.
            lacks   = Signal(14) # Missing octets of the segment's payload.
            stored  = Signal()
            pair    = segmenter.source
            self.comb += [
                some.eq(Mux(carries & (lacks < count), lacks, count)),
                segmenter.data.eq(packer.data),
                segmenter.write.eq(packer.write & heads & ~packer.clear),
                segmenter.clear.eq(packer.clear | (fsm.ongoing("PIECE") & ~begun)),
                If(heads, packer.room.eq(1), fifo.write.eq(0)),
                If(fsm.ongoing("CUT") & full, stuck.eq(1)),
            ]
            self.sync += [
                stored.eq(segmenter.write & packer.last),
                If(closed | ended | completions.restart, opened.eq(0)),
                If(ended | completions.restart, heads.eq(0), carries.eq(0)),
                If(~begun & completions.waiting,
                    segmenter.network.eq(oldest.network),
                    segmenter.start.eq(oldest.start),
                    segmenter.length.eq(oldest.length[1:]),
                    segmenter.mss.eq(oldest.mss),
                    segmenter.payload.eq(oldest.octets),
                ),
            ]
            fsm.act("PIECE",
                If(completions.waiting & ~begun & ~oldest.error, NextValue(heads, oldest.segment)),
            )
            fsm.act("OCTETS",
                If(spoilt,
                    NextValue(first, 0),
                    NextValue(count, 0),
                    If(~final, NextState("WORD")).Else(piece_ends),
                ).Elif(carries & ~opened,
                    # More payload than announced.
                    If(segmenter.left == 0,
                        refused.eq(1)
                    ).Else(
                        NextState("CUT")
                    )
                ).Else(
                    packer.put.eq(1),
                    If(packer.ready,
                        NextValue(octets, octets + some),
                        NextValue(first, first + some),
                        NextValue(count, count - some),
                        NextValue(lacks, lacks - some),
                        If(carries & (lacks == some),
                            NextState("END")
                        ).Elif(~final,
                            NextState("WORD")
                        ).Elif(heads,
                            NextState("END")
                        ).Elif(carries & ~oldest.more,
                            # Less payload than announced.
                            refused.eq(1),
                            NextState("COMMIT"),
                        ).Else(
                            piece_ends
                        )
                    )
                )
            )
            fsm.act("COMMIT",
                If(stored,
                    segmenter.learn.eq(1),
                    NextState("LEARN"),
                ).Elif(fifo.commit | spoilt,
                    # A bad frame keeps the turn until it is aborted, so that nothing else commits it.
                    closed.eq(~spoilt),
                    If(carries & (count != 0),
                        NextState("OCTETS")
                    ).Elif(carries & ~final,
                        NextState("WORD")
                    ).Elif(carries & ~spoilt & ~oldest.more & (segmenter.left != 0),
                        refused.eq(1)
                    ).Else(
                        completions.finish.eq(1),
                        ended.eq(~oldest.more),
                        NextState("PIECE"),
                    )
                )
            )
            fsm.act("LEARN",
                If(~segmenter.busy,
                    closed.eq(1),
                    NextValue(heads, 0),
                    NextValue(carries, 1),
                    completions.finish.eq(1),
                    NextState("PIECE"),
                )
            )
            fsm.act("CUT",
                If(spoilt,
                    NextState("OCTETS")
                ).Elif(~full,
                    segmenter.cut.eq(1),
                    NextState("HEADERS"),
                )
            )
            fsm.act("HEADERS",
                packer.word.eq(pair.pair),
                packer.first.eq(0),
                packer.count.eq(2),
                packer.put.eq(pair.valid),
                pair.ready.eq(packer.ready),
                If(spoilt,
                    NextState("OCTETS")
                ).Elif(pair.valid & packer.ready,
                    NextValue(octets, octets + 2),
                    If(pair.last,
                        NextValue(lacks, segmenter.size),
                        NextValue(opened, 1),
                        NextState("OCTETS"),
                    )
                )
            )

        # Checksums: the frame's first piece requests them; each segment has one.
        # --------------------------------------------------------------------------
        if checksum:
            start = Signal(13)
            self.sync += If(~begun & completions.waiting,
                start.eq(oldest.start),
                fifo.param.place.eq(oldest.place),
                fifo.param.insert.eq(oldest.insert),
                If(oldest.segment,
                    fifo.param.place.eq(oldest.start + TCP_CHECKSUM),
                    fifo.param.insert.eq(1),
                ) if segmenter else [],
            )
            self.comb += [
                checksum.write.eq(fifo.write),
                checksum.data.eq(fifo.data),
                checksum.number.eq(number),
                checksum.last.eq(packer.last),
                checksum.start.eq(Cat(C(0, 1), start)),
                checksum.end.eq(octets[:3]),
            ]

        # VLAN tags, the same one in each segment; and stamps, of the frame in the FIFO when the last piece ends.
        # --------------------------------------------------------------------------------------------------
        record = dict(fifo.param.layout)
        if "tag" in record:
            self.sync += If(~begun & completions.waiting,
                fifo.param.tag.eq(oldest.tag),
                fifo.param.tagged.eq(oldest.tagged),
            )
        if "stamp" in record:
            self.comb += fifo.param.stamp.eq(oldest.stamp & completions.finish)
