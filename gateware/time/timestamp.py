# SPDX-License-Identifier: BSD-2-Clause
"""Time stamps of the start of a frame on the wire: the start of the octet after the start-of-frame delimiter
(IEEE 1588, 7.3.4.1).

With two clocks, the system clock sees a start after one to two of its periods. One period is subtracted, so a
stamp is late by less than one. Apart from the constant delay of the PHY, this is the accuracy. With one clock,
a stamp is exact.

Besides its own clock domain, each class has "wire", that of the PHY, which may be the same.
"""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect import stream

from liteeth.common import eth_preamble

from moderato.gateware.registers.table   import STAMP_BITS
from moderato.gateware.rings.completions import IN_FLIGHT
from moderato.gateware.time.ptp_clock    import TIME_BITS

# Start of Frame -----------------------------------------------------------------------------------

class StartOfFrame(LiteXModule):
    """Watches a stream between MAC and PHY, in the PHY's clock domain. `delimiter`: the current word ends with the
    delimiter. `first`: the current word is the next one."""
    def __init__(self, watched):
        self.delimiter = Signal()
        self.first     = Signal()

        # # #

        passes  = Signal()
        started = Signal() # The delimiter has passed.
        fresh   = Signal() # It passed with the word before.
        width   = len(watched.data)
        self.comb += [
            passes.eq(watched.valid & watched.ready),
            self.delimiter.eq(passes & ~started & ~watched.last & (watched.data == eth_preamble >> 64 - width)),
            self.first.eq(passes & fresh),
        ]
        self.sync += If(passes,
            started.eq((started | self.delimiter) & ~watched.last),
            fresh.eq(self.delimiter),
        )

# Crossing -----------------------------------------------------------------------------------------

class Crossing(LiteXModule):
    """Carries a `pulse` from the wire's domain to this one: `seen`, with its `time`.

    clock     a PTPClock.
    one_clock the domains are the same.
    """
    def __init__(self, clock, one_clock):
        self.pulse = Signal()
        self.seen  = Signal()
        self.time  = clock.time if one_clock else clock.late

        # # #

        if one_clock:
            self.comb += self.seen.eq(self.pulse)
            return
        # A reset of either side causes no pulse.
        toggle, here, before = Signal(reset_less=True), Signal(), Signal(reset_less=True)
        self.sync.wire += toggle.eq(toggle ^ self.pulse)
        self.specials  += MultiReg(toggle, here)
        self.sync      += before.eq(here)
        self.comb      += self.seen.eq(here != before)

# Rx Stamp -----------------------------------------------------------------------------------------

class RxStamp(LiteXModule):
    """`stamp` is the time at which the latest frame started.

    When the first word of a good frame leaves the MAC core, this is the time of that frame: fewer than 64 octets
    have arrived by then, so the next frame cannot have started.
    """
    def __init__(self, clock, source, one_clock):
        self.stamp = Signal(TIME_BITS)

        # # #

        self.start    = start    = ClockDomainsRenamer("wire")(StartOfFrame(source))
        self.crossing = crossing = Crossing(clock, one_clock)
        self.comb += crossing.pulse.eq(start.delimiter)
        self.sync += If(crossing.seen, self.stamp.eq(crossing.time))

# Tx Stamps ----------------------------------------------------------------------------------------

class TxStamps(LiteXModule):
    """The stamps of frames that request one, in order, for the completions of each of `rings`.

    A completion waits for its stamp. If its ring stops meanwhile, the frame is still sent, perhaps much later, and
    its stamp is useless. So these frames of a ring are numbered, with more numbers than frames that can be in
    progress (`max_frames`, and those after the FIFO). The number accompanies the frame's words to the PHY, and
    returns with the stamp. With two clocks, a frame may leave and its number may return after a reset of this
    side: the numbers continue after it.

    drops     a frame of this ring that requested a stamp is dropped, while all earlier ones have their stamps (None:
              frames are never dropped).
    asks      the frame that Transmit sends requests a stamp: a bit for each ring. `sent` is its end.
    mark      accompanies its words.
    marked    the mark of the latest word that left for the PHY, in the wire's domain.
    sink      the PHY's.
    """
    def __init__(self, clock, sink, one_clock, max_frames, rings=1, lossy=False):
        number_bits = bits_for(max_frames + 2*IN_FLIGHT) + 1
        self.mark_bits = rings + number_bits
        self.asks   = Signal(rings)
        self.sent   = Signal()
        self.mark   = Signal(self.mark_bits)
        self.marked = Signal(self.mark_bits)
        self.awake  = Signal()
        self.drops  = Signal(rings) if lossy else None
        self.rings  = [RingStamps(number_bits, lossy) for _ in range(rings)]
        self.submodules += self.rings

        # # #

        # To the PHY.
        # -----------
        number = Signal(number_bits)
        self.comb += self.mark.eq(Cat(self.asks, number))
        restarted = Signal(reset=1)
        if not one_clock:
            self.sync += restarted.eq(0)
        askeds = []
        for asks, ring in zip(self.asks, self.rings):
            asked = Signal(number_bits, reset_less=not one_clock)
            askeds.append(asked)
            self.comb += If(asks, number.eq(asked))
            self.sync += If(self.sent & asks, asked.eq(number + 1))
            if not one_clock: # The frame that a reset cuts has a number, too.
                self.sync += If(restarted, asked.eq(asked + 1), ring.expected.eq(asked + 1))

        # At the PHY: the number does not change until the next frame starts, so it has settled one clock later.
        # -------------------------------------------------------------------------------------------
        self.start    = start    = ClockDomainsRenamer("wire")(StartOfFrame(sink))
        self.crossing = crossing = Crossing(clock, one_clock)
        left, left_here = Signal(self.mark_bits, reset_less=True), Signal(self.mark_bits)
        self.comb += crossing.pulse.eq(start.first & (self.marked[:rings] != 0))
        self.sync.wire += If(crossing.pulse, left.eq(self.marked))
        if one_clock:
            self.comb += left_here.eq(left)
        else:
            self.specials += MultiReg(left, left_here)

        # Back from the PHY.
        # -----------
        came, stamp = Signal(), Signal(STAMP_BITS)
        self.sync += [
            came.eq(crossing.seen),
            If(crossing.seen, stamp.eq(crossing.time)),
        ]
        for n, ring in enumerate(self.rings):
            self.comb += [
                ring.sink.valid.eq(came & left_here[n]),
                ring.sink.stamp.eq(stamp),
                ring.sink.number.eq(left_here[rings:]),
            ]
        self.comb += self.awake.eq(crossing.seen | came)

        # Dropped.
        # --------
        if lossy:
            for drop, asked, ring in zip(self.drops, askeds, self.rings):
                self.comb += If(drop,
                    ring.sink.valid.eq(1),
                    ring.sink.number.eq(asked),
                    ring.sink.lost.eq(1),
                )
                self.sync += If(drop, asked.eq(asked + 1))

    def connect(self, frames, transmit, core):
        """frames: those that Transmit sends, a FIFO with tx_frame. core: the MACCore, which carries the mark."""
        self.comb += [
            self.asks.eq(frames.head.stamp),
            self.sent.eq(transmit.sent),
            core.mark.eq(self.mark),
            self.marked.eq(core.marked),
        ]


class RingStamps(LiteXModule):
    """The stamps of one ring's frames, whose numbers are in `sink`.

    give_up  the ring no longer waits for stamps.
    source   for each frame that requested one: the `stamp`, if it was `found`; or it was `lost` (with `lossy`).
    """
    def __init__(self, number_bits, lossy=False):
        layout = [("stamp", STAMP_BITS), ("number", number_bits)] + [("lost", 1)]*lossy
        self.sink    = stream.Endpoint(layout)
        self.give_up = Signal()
        self.source  = source = stream.Endpoint([("stamp", STAMP_BITS), ("found", 1)] + [("lost", 1)]*lossy)
        self.awake   = Signal()

        # # #

        self.stamps = stamps = stream.SyncFIFO(layout, IN_FLIGHT)
        self.comb += self.sink.connect(stamps.sink)

        # For the completions: a stamp before the expected one belongs to a frame for which the ring no longer
        # waits. One after it shows that the expected one was lost with the PHY's clock.
        # ---------------------------------------------------------------------------------------------
        self.expected = expected = Signal(number_bits)
        ahead    = Signal(number_bits)
        stale    = Signal()
        self.comb += [
            ahead.eq(stamps.source.number - expected),
            stale.eq(ahead[-1]),
            source.valid.eq(self.give_up | (stamps.source.valid & ~stale)),
            source.found.eq(stamps.source.valid & (ahead == 0)),
            source.stamp.eq(stamps.source.stamp),
            stamps.source.ready.eq(stale | (source.ready & source.found)),
            self.awake.eq(stamps.source.valid & stale),
        ]
        if lossy:
            found = Signal()
            self.comb += [
                found.eq(stamps.source.valid & (ahead == 0)),
                source.lost.eq(found & stamps.source.lost),
                source.found.eq(found & ~stamps.source.lost),
                stamps.source.ready.eq(stale | (source.ready & found)),
            ]
        self.sync += If(source.valid & source.ready, expected.eq(expected + 1))

# Stamps -------------------------------------------------------------------------------------------

class Stamps(LiteXModule):
    """Stamps of both directions at a PHY whose clock domains are `phy_cd`_rx and `phy_cd`_tx, or "sys"."""
    def __init__(self, clock, phy, phy_cd, max_frames, rings, lossy=False):
        one_clock = phy_cd == "sys"
        rx, tx = ("sys", "sys") if one_clock else (f"{phy_cd}_rx", f"{phy_cd}_tx")
        self.rx = ClockDomainsRenamer({"wire": rx})(RxStamp(clock, phy.source, one_clock))
        self.tx = ClockDomainsRenamer({"wire": tx})(TxStamps(clock, phy.sink, one_clock, max_frames, rings, lossy))
