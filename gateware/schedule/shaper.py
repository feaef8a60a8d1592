# SPDX-License-Identifier: BSD-2-Clause
"""A credit-based shaper for each Tx queue (IEEE 802.1Q, 8.6.8.2 and Annex L).

A queue's credit, in octets of the wire, rises with the idle slope while a frame waits, and falls with the send
slope while a frame is on the wire. A frame starts only if the credit is not negative. All of this runs in a domain
that never stops, like launch.py.
"""

from migen import *

from litex.gen import *

from liteeth.common import eth_fcs_length, eth_interpacket_gap, eth_min_frame_length, eth_preamble

from moderato.gateware.frame.vlan      import TAG_OCTETS
from moderato.gateware.registers.table import CREDIT_BITS, SLOPE_BITS, SLOPE_FRACTION_BITS

OVERHEAD = bits_for(eth_preamble)//8 + eth_fcs_length + eth_interpacket_gap # Octets besides a frame's own.

# Shaper -------------------------------------------------------------------------------------------

class Shaper(LiteXModule):
    """The credit of the queue whose Tx FIFO is `fifo` (tx_frame).

    The send slope is the idle slope minus the rate of the link. So the credit of a frame that is on the wire rises
    with the idle slope, and loses the frame's octets. The Shaper subtracts them all when the frame starts: until it
    has left, `credit` is lower than the standard's, and then it is the same. The sum of the slopes without their signs
    is the rate of the link. With it, the Shaper counts a frame's octets down to know how long it is on the wire.

    on         otherwise, the queue is not limited.
    idle, send the slopes, without signs, in units of 2**-24 octets for each clock.
    high, low  limits of the credit in octets, the lower one without its sign. The lower one counts while no frame is
               on the wire.
    open       the queue's gate is open: otherwise, the credit does not rise.
    start      the oldest frame in the FIFO starts.

    credit     changes three clocks after `start`.
    may        the next frame may start.
    """
    def __init__(self, fifo):
        self.on    = Signal()
        self.idle  = Signal(SLOPE_BITS)
        self.send  = Signal(SLOPE_BITS)
        self.high  = Signal(CREDIT_BITS)
        self.low   = Signal(CREDIT_BITS)
        self.open  = Signal(reset=1)
        self.start = Signal()

        fraction    = SLOPE_FRACTION_BITS
        self.credit = credit = Signal((1 + CREDIT_BITS + fraction, True))
        self.may    = Signal()

        # # #

        # The frame that starts.
        # ----------------------
        least  = eth_min_frame_length - eth_fcs_length
        length = Signal(15)
        octets = Signal(15)
        taken  = Signal()
        self.comb += length.eq(fifo.head.length +
            (Mux(fifo.head.tagged, TAG_OCTETS, 0) if hasattr(fifo.head, "tagged") else 0))
        self.sync += [
            taken.eq(self.start & ~fifo.head.error), # A frame with an error is not sent.
            octets.eq(Mux(length < least, least, length) + OVERHEAD),
        ]
        cost = Cat(C(0, fraction), octets)

        # Frames on the wire: at most as many octets as the credit had, and one frame more.
        # ---------------------------------------------------------------------------------
        left    = Signal(1 + CREDIT_BITS + fraction) # Octets of them that have not left.
        flow    = Signal((2 + CREDIT_BITS + fraction, True))
        rest    = Signal((2 + CREDIT_BITS + fraction, True))
        follows = Signal()
        sending = Signal()
        self.comb += rest.eq(left + flow)
        self.sync += [
            flow.eq(Mux(taken, cost, 0) - (self.idle + self.send)),
            follows.eq(taken),
            left.eq(Mux(rest[-1] | ~self.on, 0, rest)),
            sending.eq(self.on & (follows | (sending & ~rest[-1]))),
        ]

        # Credit. What it gains or loses is calculated a clock ahead.
        # -----------------------------------------------------------
        active = Signal() # A frame waits, or is on the wire.
        rests  = Signal() # There was none a clock ago.
        gain   = Signal((1 + CREDIT_BITS + fraction, True))
        total  = Signal((2 + CREDIT_BITS + fraction, True))
        whole  = Signal((2 + CREDIT_BITS, True))
        lowest = Signal((1 + CREDIT_BITS, True))
        self.comb += [
            active.eq(fifo.available | sending),
            total.eq(credit + gain),
            whole.eq(total[fraction:]),
            self.may.eq(~credit[-1]),
        ]
        self.sync += [
            gain.eq(Mux(self.open & (active | credit[-1]), self.idle, 0) - Mux(taken, cost, 0)),
            rests.eq(~active),
            lowest.eq(-self.low),
            If(~self.on | (rests & ~total[-1]),
                credit.eq(0),
            ).Elif(~total[-1] & (whole[:-1] >= self.high),
                credit.eq(Cat(C(0, fraction), self.high)),
            ).Elif(~follows & ~sending & (whole < lowest),
                credit.eq(Cat(C(0, fraction), lowest)),
            ).Else(
                credit.eq(total),
            ),
        ]

# Shapers ------------------------------------------------------------------------------------------

class Shapers(LiteXModule):
    """The Shaper of each of `fifos`.

    gates  the Gates of the queues, or None.
    """
    def __init__(self, fifos, gates=None):
        self.each = [Shaper(fifo) for fifo in fifos]
        self.submodules += self.each

        # # #

        if gates:
            self.comb += [shaper.open.eq(~gates.running | (window.open & ~window.left[-1]))
                for shaper, window in zip(self.each, gates.windows)]

    def connect_registers(self, regs):
        for n, shaper in enumerate(self.each):
            prefix = f"TX{n or ''}"
            self.comb += [
                shaper.on.eq(regs.field(f"{prefix}_SHAPER", "ON")),
                shaper.idle.eq(regs.value[f"{prefix}_IDLE_SLOPE"]),
                shaper.send.eq(regs.value[f"{prefix}_SEND_SLOPE"]),
                shaper.high.eq(regs.value[f"{prefix}_HIGH_CREDIT"]),
                shaper.low.eq(regs.value[f"{prefix}_LOW_CREDIT"]),
            ]
