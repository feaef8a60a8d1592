# SPDX-License-Identifier: BSD-2-Clause
"""From the Tx frame FIFO to the MAC core: align, pad with zeros, append the FCS."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from liteeth.common import eth_phy_description, eth_min_frame_length, eth_fcs_length

from moderato.gateware.frame.crc  import INIT, crc32_step, fcs_octet, without_zeros
from moderato.gateware.frame.vlan import PLACE, TAG_OCTETS, tag

# Transmit -----------------------------------------------------------------------------------------

class Transmit(LiteXModule):
    """Sends the frames of `fifo` (tx_frame) as 32-bit words, first octet in bits 7:0.

    It pads frames shorter than IEEE 802.3's minimum with zeros. The CRC takes a word in each clock. After an
    incomplete last word, it steps back by the missing octets, one in each clock. These up to four clocks without
    a word do not reach the wire, because frames enter the MAC core's FIFO faster than they leave it.

    checksums  a stream with a `checksum` for each frame, inserted at the frame's `place` if its record has
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

        whole     = fifo.head.length # The frame's length, before padding and FCS.
        if vlan:
            whole = Signal(15)
            self.comb += whole.eq(fifo.head.length + Mux(fifo.head.tagged, TAG_OCTETS, 0))

        # One half word on.
        stepped = Signal()
        step = [
            stepped.eq(1),
            NextValue(upper, ~upper),
            fifo.next.eq(upper),
        ]
        self.sync += If(stepped, previous.eq(half)) # As NextValue, it would take a LUT for each bit.

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

        # The word: aligned, with a checksum inserted, with zeros after the frame's end; or a tag.
        # -------------------------------------------------------------------------------------------------
        aligned = Signal(32)
        mask    = Signal(4)
        word    = Signal(32)
        total   = Signal(15) # Octets to be sent before the FCS.
        filled  = aligned if checksums is None else Signal(32)
        own     = Signal(32) if vlan else word # A word of the frame in memory.
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
            # Pairs of octets from this word to the place. The count goes on after it and would wrap after 2**14
            # octets, but no frame is that long.
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
            # Words up to the tag. The rest of the frame, or its padding, is longer than that.
            ahead = Signal(max=PLACE + 2)
            turn  = Signal()
            fsm.act("IDLE", NextValue(ahead, Mux(fifo.head.tagged, PLACE + 1, 0)))
            self.comb += [
                turn.eq(ahead == 1),
                word.eq(Mux(turn, tag(fifo.head.tag), own)),
            ]

        # The FCS follows the octets of an incomplete last word. It is rotated by that many octets; one part of it
        # shares the word, and the rest comes in the next one. Octets after the end of the frame are ignored.
        # ---------------------------------------------------------------------------------------------------
        crc    = Signal(32, reset=INIT)
        octets = Signal(2)    # Octets of the incomplete last word.
        lacks  = Signal(2)    # Octets by which the CRC still has to step back.
        fcs    = [fcs_octet(crc, n) for n in range(4)]
        turned = Signal(32)
        behind = Signal(4)    # Lanes with the FCS.
        self.comb += [
            Case(octets, {n: turned.eq(Cat(*[fcs[(lane - n) % 4] for lane in range(4)])) for n in range(4)}),
            [source.data[8*n:8*n + 8].eq(Mux(behind[n], turned[8*n:8*n + 8], word[8*n:8*n + 8]))
                for n in range(4)],
        ]
        taken = [
            # Never after the end of the frame: words that were read count as room for the next one.
            If(remaining > 4, *step),
            *place_next,
            If(remaining >= 4,
                NextValue(remaining, remaining - 4)
            ).Else(
                # The first octets of the padding are in the frame's last word.
                NextValue(remaining, 0),
                NextValue(padding, total - 4),
            ),
            If(total == 4, NextState("FCS")),
        ]
        if vlan:
            taken = [
                If(ahead != 0, NextValue(ahead, ahead - 1)),
                If(~turn, *taken),
            ]
        fsm.act("SEND",
            If(total < 4,
                NextState("TAIL"),
            ).Else(
                source.valid.eq(1),
                If(source.ready, *taken),
            ),
        )
        fsm.act("TAIL", If(lacks == 1, NextState("JOIN")))
        fsm.act("JOIN",
            source.valid.eq(1),
            Case(octets, {n: behind.eq(0b1111 << n) for n in range(1, 4)}),
            If(source.ready, NextState("FCS")),
        )
        fsm.act("FCS",
            source.valid.eq(1),
            source.last.eq(1),
            behind.eq(0b1111),
            Case(octets, {n: source.last_be.eq(1 << (n - 1) % 4) for n in range(4)}),
            If(source.ready,
                self.sent.eq(1),
                fifo.release.eq(1),
                NextState("IDLE"),
            ),
        )
        self.sync += [
            If(fsm.ongoing("TAIL"),
                crc.eq(without_zeros(crc)),
                lacks.eq(lacks - 1),
            ).Elif(fsm.ongoing("SEND") & (source.ready | (total < 4)),
                crc.eq(crc32_step(crc, word)),
                octets.eq(total),
                lacks.eq(4 - total),
            ),
            If(fsm.ongoing("IDLE"),
                crc.eq(INIT),
                octets.eq(0),
            ),
        ]
        self.comb += [
            self.octets.eq(length + eth_fcs_length),
            # A frame is available until it has been sent.
            self.awake.eq(fifo.available & (~source.valid | source.ready)),
        ]
        self.counters = {
            "TX_GOOD_FRAMES": self.sent,
            "TX_GOOD_OCTETS": (self.sent, self.octets),
        }
