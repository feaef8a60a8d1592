# SPDX-License-Identifier: BSD-2-Clause
"""From the Tx frame FIFO to the MAC core: align, pad with zeros, never a gap inside a frame."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from liteeth.common import eth_phy_description, eth_min_frame_length, eth_fcs_length

# Transmit -----------------------------------------------------------------------------------------

class Transmit(LiteXModule):
    """Sends the frames of `fifo` (tx_frame_param) as 32-bit words, first octet in bits 7:0.

    Frames shorter than IEEE 802.3's minimum are padded with zeros here, not by LiteEthMACCore: its
    32-bit padding inserter sends stale octets of the last word and forgets to restart its count.
    `sent` pulses when a frame's last word was taken, with its `octets` on the wire, FCS included.
    """
    def __init__(self, fifo):
        self.source = source = stream.Endpoint(eth_phy_description(32))
        self.sent   = Signal()
        self.octets = Signal(14)

        # # #

        min_length = eth_min_frame_length - eth_fcs_length

        upper     = Signal()    # Which half of the FIFO's word is next.
        shift     = Signal(2)   # Octets by which the frame starts late in its half word.
        half      = Signal(32)
        previous  = Signal(32)
        remaining = Signal(14)  # Octets of the frame still to be sent.
        padding   = Signal(6)   # Octets to be sent after them.
        length    = Signal(14)
        self.comb += half.eq(Mux(upper, fifo.word[32:], fifo.word[:32]))

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
            NextValue(length, Mux(fifo.head.length < min_length, min_length, fifo.head.length)),
            NextValue(padding, Mux(fifo.head.length < min_length, min_length - fifo.head.length, 0)),
            If(fifo.available,
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

        # The word: aligned, cut at the frame's end, zeros beyond.
        aligned = Signal(32)
        mask    = Signal(4)
        total   = Signal(15)
        self.comb += [
            Case(shift, {n: aligned.eq(Cat(previous, half)[8*n:8*n + 32]) for n in range(1, 4)} |
                {0: aligned.eq(half)}),
            mask.eq(Mux(remaining >= 4, 0b1111, (1 << remaining[:2]) - 1)),
            total.eq(remaining + padding),
            [source.data[8*n:8*n + 8].eq(Mux(mask[n], aligned[8*n:8*n + 8], 0)) for n in range(4)],
            source.last.eq(total <= 4),
            If(source.last, Case(total[:2], {n: source.last_be.eq(1 << (n - 1) % 4) for n in range(4)})),
        ]
        fsm.act("SEND",
            source.valid.eq(1),
            If(source.ready,
                *step,
                If(remaining >= 4,
                    NextValue(remaining, remaining - 4)
                ).Else(
                    # The padding's first octets ride in the frame's last word.
                    NextValue(remaining, 0),
                    NextValue(padding, padding - (4 - remaining)),
                ),
                If(source.last,
                    self.sent.eq(1),
                    fifo.release.eq(1),
                    NextState("IDLE"),
                ),
            ),
        )
        self.comb += self.octets.eq(length + eth_fcs_length)
