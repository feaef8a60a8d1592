# SPDX-License-Identifier: BSD-2-Clause
"""From the Tx frame FIFO to the MAC core: align, pad with zeros, append the FCS."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from liteeth.common import eth_phy_description, eth_min_frame_length, eth_fcs_length

from moderato.gateware.frame.crc  import INIT, crc32_step, fcs_octet
from moderato.gateware.frame.vlan import PLACE, TAG_OCTETS, tag

# Transmit -----------------------------------------------------------------------------------------

class Transmit(LiteXModule):
    """Sends the frames of `fifo` (tx_frame) as 32-bit words, first octet in bits 7:0.

    Frames shorter than IEEE 802.3's minimum are padded with zeros. The CRC takes a word a clock and
    the octets of an incomplete last word one a clock: up to three clocks without a word, which the
    MAC core's FIFO hides, since frames reach it faster than they leave for the wire.

    checksums  a stream of a `checksum` for each frame, to be put at the frame's `place` if its record has
               `insert`; or None. Frames whose record has `tagged` get their VLAN tag, which counts in the
               minimum.

    `sent` pulses when a frame's last word was taken, with its `octets` on the wire, FCS included.
    """
    def __init__(self, fifo, checksums=None):
        vlan = "tagged" in dict(fifo.head.layout)
        self.source = source = stream.Endpoint(eth_phy_description(32))
        self.sent   = Signal()
        self.octets = Signal(15 if vlan else 14)
        self.awake  = Signal()

        # # #

        min_length = eth_min_frame_length - eth_fcs_length

        upper     = Signal()    # Which half of the FIFO's word is next.
        shift     = Signal(2)   # Octets by which the frame starts late in its half word.
        half      = Signal(32)
        previous  = Signal(32)
        remaining = Signal(14)  # Octets of the frame still to be sent.
        padding   = Signal(6)   # Octets to be sent after them.
        length    = Signal(15 if vlan else 14)
        self.comb += half.eq(Mux(upper, fifo.word[32:], fifo.word[:32]))

        whole     = fifo.head.length # Of the frame, before padding and FCS.
        if vlan:
            whole = Signal(15)
            self.comb += whole.eq(fifo.head.length + Mux(fifo.head.tagged, TAG_OCTETS, 0))

        # One half word on.
        step = [
            NextValue(previous, half),
            NextValue(upper, ~upper),
            fifo.next.eq(upper),
        ]

        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE",
            NextValue(upper, fifo.head.offset[2]),
            NextValue(shift, fifo.head.offset[:2]),
            NextValue(remaining, fifo.head.length),
            NextValue(length, Mux(whole < min_length, min_length, whole)),
            NextValue(padding, Mux(whole < min_length, min_length - whole, 0)),
            If(fifo.available if checksums is None else fifo.available & checksums.valid,
                If(fifo.head.error,
                    fifo.release.eq(1)
                ).Elif(fifo.head.offset[:2] != 0,
                    NextState("ALIGN")
                ).Else(
                    NextState("SEND")
                )
            ),
        )
        fsm.act("ALIGN",
            *step,
            NextState("SEND"),
        )

        # The word: aligned, with a checksum in its place, cut at the frame's end, zeros beyond; or a tag.
        # -------------------------------------------------------------------------------------------------
        aligned = Signal(32)
        mask    = Signal(4)
        word    = Signal(32)
        total   = Signal(15) # Octets to be sent before the FCS.
        filled  = aligned if checksums is None else Signal(32)
        own     = Signal(32) if vlan else word # Of the frame in memory.
        self.comb += [
            Case(shift, {0: aligned.eq(half)} |
                {n: aligned.eq(Cat(previous, half)[8*n:8*n + 32]) for n in range(1, 4)}),
            mask.eq(0b1111),
            Case(remaining, {n: mask.eq(2**n - 1) for n in range(4)}),
            [own[8*n:8*n + 8].eq(Mux(mask[n], filled[8*n:8*n + 8], 0)) for n in range(4)],
            total.eq(remaining + padding),
        ]
        place_next = []
        if checksums is not None:
            # Pairs of octets from this word to the place. Behind it the count goes on, and would be back
            # after 2**14 octets: no frame is that long.
            pairs = Signal(13)
            here  = Signal()
            fsm.act("IDLE", NextValue(pairs, fifo.head.place))
            place_next = [NextValue(pairs, pairs - 2)]
            self.comb += [
                here.eq(fifo.head.insert & (pairs[1:] == 0)),
                filled[:16].eq(Mux(here & ~pairs[0], checksums.checksum, aligned[:16])),
                filled[16:].eq(Mux(here & pairs[0], checksums.checksum, aligned[16:])),
                checksums.ready.eq(fifo.release),
            ]
        if vlan:
            # Words up to the tag, which goes before the frame's next one. Whatever is left is longer than
            # that: the frame, or its padding.
            ahead = Signal(max=PLACE + 2)
            turn  = Signal()
            fsm.act("IDLE", NextValue(ahead, Mux(fifo.head.tagged, PLACE + 1, 0)))
            self.comb += [
                turn.eq(ahead == 1),
                word.eq(Mux(turn, tag(fifo.head.tag), own)),
            ]

        crc         = Signal(32, reset=INIT)
        tail        = Signal(32) # The incomplete last word,
        tail_octets = Signal(2)  # its octets,
        tail_done   = Signal(2)  # and how many of them the CRC has seen.
        tail_octet  = Signal(8)
        self.comb += Case(tail_done, {n: tail_octet.eq(tail[8*n:8*n + 8]) for n in range(3)})
        fcs         = [fcs_octet(crc, n) for n in range(4)]
        taken = [
            # Never beyond the frame: what is read of it counts as room for the next.
            If(remaining > 4, *step),
            *place_next,
            NextValue(crc, crc32_step(crc, word)),
            If(remaining >= 4,
                NextValue(remaining, remaining - 4)
            ).Else(
                # The padding's first octets ride in the frame's last word.
                NextValue(remaining, 0),
                NextValue(padding, total - 4),
            ),
            If(total == 4, NextState("FCS")),
        ]
        if vlan:
            taken = [
                If(ahead != 0, NextValue(ahead, ahead - 1)),
                If(turn, NextValue(crc, crc32_step(crc, word))).Else(*taken),
            ]
        fsm.act("SEND",
            source.data.eq(word),
            If(total < 4,
                NextValue(tail, word),
                NextValue(tail_octets, total[:2]),
                NextState("TAIL"),
            ).Else(
                source.valid.eq(1),
                If(source.ready, *taken),
            ),
        )
        fsm.act("TAIL",
            NextValue(crc, crc32_step(crc, tail_octet)),
            NextValue(tail_done, tail_done + 1),
            If(tail_done + 1 == tail_octets, NextState("JOIN")),
        )
        fsm.act("JOIN",
            source.valid.eq(1),
            Case(tail_octets, {n: source.data.eq(Cat(tail[:8*n], *fcs[:4 - n])) for n in range(1, 4)}),
            If(source.ready, NextState("FCS")),
        )
        fsm.act("FCS",
            source.valid.eq(1),
            source.last.eq(1),
            Case(tail_octets, {n: [
                source.data.eq(Cat(*fcs[(4 - n) % 4:])),
                source.last_be.eq(1 << (n - 1) % 4),
            ] for n in range(4)}),
            If(source.ready,
                self.sent.eq(1),
                fifo.release.eq(1),
                NextValue(crc, INIT),
                NextValue(tail_octets, 0),
                NextValue(tail_done, 0),
                NextState("IDLE"),
            ),
        )
        self.comb += [
            self.octets.eq(length + eth_fcs_length),
            # The frame that is being sent is available until its end.
            self.awake.eq(fifo.available & (~source.valid | source.ready)),
        ]
        self.counters = {
            "TX_GOOD_FRAMES": self.sent,
            "TX_GOOD_OCTETS": (self.sent, self.octets),
        }
