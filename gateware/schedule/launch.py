# SPDX-License-Identifier: BSD-2-Clause
"""When the oldest frame of a Tx FIFO may start, and how long it takes.

These modules and the PTP clock run in a clock domain that is never gated.
"""

from math import ceil

from migen import *

from litex.gen import *

from liteeth.common import eth_fcs_length, eth_interpacket_gap, eth_min_frame_length

from moderato.gateware.frame.vlan    import TAG_OCTETS
from moderato.gateware.wire.mac_core import CDC_DEPTH, SYNC_DEPTH

LAUNCH_BITS = 32 # Of a launch time, in ns.
EARLIER     = 2  # Clocks that a gate takes from its time to a frame's start, besides those of a launch time.
LEAD        = 12 # Clocks that Gates needs for the first entry of a new list.

# Limits -------------------------------------------------------------------------------------------

class Limits:
    """What follows from the clocks of a MAC.

    grace     ns, a power of two: a frame that starts this much later than its time is late. More than a clock.
    backlog   octets that the MAC core and the PHY may hold when Transmit ends a frame, with the gap.
    overhead  octets of the wire besides a frame's own, and those that pass until the MAC notices that the wire is
              free.
    lead      ns by which a list of gates is taken over before its base time.
    ahead     ns from the time of LaunchClock to the PHY: with a preamble at 1000 Mb/s, or at the PHY's rate if that
              is higher.
    gated     there are gates.
    """
    def __init__(self, phy, phy_cd, sys_clk_freq, gated=False):
        period, one_clock = 1e9/sys_clk_freq, phy_cd == "sys"
        word   = 1e9/getattr(phy, "rx_clk_freq", 8*125e6/phy.dw) # ns
        octet  = 8*word/phy.dw
        self.grace    = 2**ceil(period).bit_length()
        self.backlog  = 4*(SYNC_DEPTH if one_clock else CDC_DEPTH) + 40
        self.overhead = 8 + eth_fcs_length + eth_interpacket_gap + 3 + ceil(6*period/octet)
        # LaunchClock, Launch and Transmit take five clocks; a crossing takes six words of the PHY. `due` comes
        # 1 ns after the time.
        preamble = 8*min(octet, 8)
        preamble = ceil(preamble/period)*period if one_clock else 6*word + preamble
        self.ahead = int((5 + EARLIER*gated)*period + preamble + 1)
        self.gated = gated
        self.lead  = ceil(LEAD*period)

# Launch Clock -------------------------------------------------------------------------------------

class LaunchClock(LiteXModule):
    """The `time` at which a frame that starts now leaves. `early` is this time in the next clock; with gates, `sooner`
    is that EARLIER clocks later.

    ahead  ns that a frame takes longer than limits.ahead.
    """
    def __init__(self, clock, limits):
        self.ahead = Signal(16)
        bits       = len(clock.time) if limits.gated else LAUNCH_BITS
        self.early = Signal(bits)
        self.time  = Signal(LAUNCH_BITS)
        times      = [Signal(bits) for _ in range(EARLIER*limits.gated)] + [self.early]
        self.sooner = times[0]

        # # #

        total = Signal(17)
        self.sync += [
            total.eq(self.ahead + limits.ahead),
            times[0].eq(clock.time[:bits] + total),
            self.time.eq(self.early),
            [later.eq(sooner) for sooner, later in zip(times, times[1:])],
        ]

# Launch -------------------------------------------------------------------------------------------

class Launch(LiteXModule):
    """Watches the read side of `fifo` (tx_frame with `launch`, `drop` and `time`).

    now     the LaunchClock.
    octet   ns of an octet on the wire.
    free    the wire is idle. Otherwise, frames before this one leave first.
    limits  the Limits of this MAC.

    known   the following ones are those of the oldest frame, which has been `available` for two clocks.
    due     its time has come.
    late    it came so long ago that it can't be met: for more than limits.grace.
    left    ns until then.
    cost    ns from the start of this frame to the start of the next one.
    """
    def __init__(self, fifo, now, limits):
        self.octet = Signal(10)
        self.free  = Signal()
        self.known = Signal()
        self.due   = Signal()
        self.late  = Signal()
        self.left  = left = Signal(LAUNCH_BITS)
        self.cost  = Signal(26)

        # # #

        # Transmit takes a clock more for a frame that starts late in its half word.
        self.sync += left.eq(fifo.head.time - Mux(fifo.head.offset[:2] != 0, now.early, now.time))

        least  = eth_min_frame_length - eth_fcs_length
        length = Signal(15)
        octets = Signal(15)
        self.comb += [
            length.eq(fifo.head.length),
            If(fifo.head.tagged, length.eq(fifo.head.length + TAG_OCTETS)) if hasattr(fifo.head, "tagged") else [],
            octets.eq(Mux(length < least, least, length) + limits.overhead + Mux(self.free, 0, limits.backlog)),
        ]
        self.sync += self.cost.eq(octets*self.octet)

        age   = Signal(2)
        exact = log2_int(limits.grace)
        self.sync += If(~fifo.available | fifo.release, age.eq(0)).Elif(~age[1], age.eq(age + 1))
        self.comb += [
            self.known.eq(age[1]),
            self.due.eq(left[-1]),
            self.late.eq(left[-1] & (left[exact:] != 2**(LAUNCH_BITS - exact) - 1)),
        ]

# Launches -----------------------------------------------------------------------------------------

class Launches(LiteXModule):
    """The Launch of each of `fifos`.

    fits[n][other]  the frame of FIFO n will have left before that of another one starts. Valid with both `known`.
    """
    def __init__(self, fifos, clock, limits):
        self.octet = Signal(10)
        self.free  = Signal()
        self.now   = now = LaunchClock(clock, limits)
        self.each  = [Launch(fifo, now, limits) for fifo in fifos]
        self.submodules += self.each
        self.fits  = [{} for _ in fifos]

        # # #

        for n, launch in enumerate(self.each):
            self.comb += launch.octet.eq(self.octet), launch.free.eq(self.free)
            for number, other in enumerate(self.each):
                if number != n:
                    self.fits[n][number] = fits = Signal()
                    self.sync += fits.eq(~other.due & (other.left >= launch.cost))
