# SPDX-License-Identifier: BSD-2-Clause
"""Pause in the transmitter: it holds back frames of the FIFO, and sends pause frames."""

from functools import reduce
from operator  import and_, or_

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from moderato.gateware.frame.checksum import SUM_BITS
from moderato.gateware.frame.pause    import CONTROL, GROUP, PAUSE, PauseTimer, little

OCTETS   = 18  # Of a pause frame, without padding and FCS.
PATIENCE = 255 # The most pause frames in a row with the same request.

# Pause Source -------------------------------------------------------------------------------------

class PauseSource(LiteXModule):
    """Between the Tx frame FIFO and Transmit, which sees it as the FIFO.

    Obeys: during `hold`, no frame of the FIFO starts; a frame that has started continues.

    Requests: with `enable`, `full` requests a pause of `quanta` from the other end, and repeats the request when
    half of them are over. When it is `roomy`, it ends the pause. A pause frame precedes frames of the FIFO and
    waits only for the frame in progress, so neither of two ends can keep the other paused forever. After PATIENCE
    equal requests in a row it stops, because software no longer makes room.

    checksums  Transmit's checksums for the FIFO's frames; `self.checksums` has those of all sent frames.

    own      the frame in progress is a pause frame.
    stopped  the last pause frame requested a pause.
    """
    def __init__(self, fifo, checksums=None):
        param = fifo.head.layout

        # Settings.
        self.hold    = Signal()
        self.enable  = Signal()
        self.full    = Signal()
        self.roomy   = Signal()
        self.quanta  = Signal(16)
        self.quantum = Signal(16) # Clocks.
        self.station = Signal(48)

        # State.
        self.own     = Signal()
        self.stopped = Signal()
        self.awake   = Signal()

        # The read side of a frame FIFO.
        self.available = Signal()
        self.head      = Record(param)
        self.word      = Signal(64)
        self.next      = Signal()
        self.release   = Signal()
        self.checksums = None if checksums is None else stream.Endpoint([("checksum", SUM_BITS)])

        # # #

        # The request.
        # ----------------
        self.timer = timer = PauseTimer()
        stop    = Signal() # The other end should pause.
        asked   = Signal(max=PATIENCE + 1)
        wanted  = Signal()
        begin   = Signal() # Start a pause frame.
        self.comb += [
            wanted.eq((stop != self.stopped) | (stop & ~timer.running & (asked != PATIENCE))),
            timer.enable.eq(stop),
            timer.start.eq(begin),
            timer.quanta.eq(self.quanta[1:]),
            timer.quantum.eq(self.quantum),
        ]
        self.sync += [
            If(~self.enable,
                stop.eq(0)
            ).Elif(self.full,
                stop.eq(1)
            ).Elif(self.roomy,
                stop.eq(0)
            ),
            If(~stop,
                asked.eq(0)
            ).Elif(begin,
                asked.eq(asked + 1)
            ),
        ]

        # The turn is decided when Transmit takes a frame.
        # --------------------------------------------------------------------------------------
        busy   = Signal() # A frame is in progress.
        ours   = Signal() # It is a pause frame.
        quanta = Signal(16)
        self.comb += [
            self.own.eq(Mux(busy, ours, wanted)),
            self.available.eq(self.own | (fifo.available & (busy | ~self.hold))),
            begin.eq(~busy & wanted),
        ]
        self.sync += [
            busy.eq(self.available & ~self.release),
            ours.eq(self.own),
            If(begin,
                self.stopped.eq(stop),
                quanta.eq(Mux(stop, self.quanta, 0)),
            ),
        ]

        # The frame.
        # ----------
        content = Cat(C(little(GROUP), 48), self.station, C(little(CONTROL + PAUSE), 32),
            quanta[8:], quanta[:8], C(0, 48))
        number  = Signal(2)
        self.sync += If(self.release, number.eq(0)).Elif(self.next, number.eq(number + 1))
        self.comb += [
            If(self.own,
                self.head.length.eq(OCTETS),
                Case(number, {n: self.word.eq(content[64*n:64*n + 64]) for n in range(3)}),
            ).Else(
                [getattr(self.head, name).eq(getattr(fifo.head, name)) for name, _ in param],
                self.word.eq(fifo.word),
            ),
            fifo.next.eq(self.next & ~self.own),
            fifo.release.eq(self.release & ~self.own),
            self.awake.eq(begin | (self.available & ~busy) | (ours != self.own) | self.next | self.release |
                timer.running | self.hold | stop | (self.enable & self.full)),
        ]
        if checksums is not None:
            # A pause frame has no checksum, and waits for none.
            self.comb += [
                self.checksums.valid.eq(self.own | checksums.valid),
                self.checksums.checksum.eq(checksums.checksum),
                checksums.ready.eq(self.checksums.ready & ~self.own),
            ]

    def connect_registers(self, regs, receive, fifo, rings, flows=None):
        """receive: the Receive, which gets pause frames. fifo: its FIFO. rings: the RxRings of all queues, by the
        prefix of their registers. flows: the Flows, or None."""
        self.other = other = PauseTimer()
        low  = [regs.field("PAUSE_FIFO", edge)[3:] for edge in ("STOP", "GO")]
        left = [regs.field("PAUSE_RING", edge)     for edge in ("STOP", "GO")]
        # A stopped or halted ring drops all frames, so a pause would not help.
        takes = {prefix: regs.field("PAUSE", "TX") & regs.field("CTRL", f"{prefix}_ENABLE") & ~ring.halted
            for prefix, ring in rings.items()}
        short = [ring.fetcher.available < left[0]  for ring in rings.values()]
        ample = [ring.fetcher.available >= left[1] for ring in rings.values()]
        if len(rings) > 1: # A ring that takes no frames does not count.
            short = [take & few     for take, few in zip(takes.values(), short)]
            ample = [~take | enough for take, enough in zip(takes.values(), ample)]
        enable = reduce(or_, takes.values())
        full   = (fifo.space < low[0]) | (fifo.frames >= fifo.max_frames//3) | reduce(or_, short)
        roomy  = (fifo.space >= low[1]) & (fifo.frames <= fifo.max_frames//6) & reduce(and_, ample)
        if flows: # Flows continue while rings are halted.
            full   = (enable & full) | flows.full
            roomy  = (~enable | roomy) & flows.roomy
            enable = regs.field("PAUSE", "TX") & receive.enable
        self.comb += [
            # Those of the other end.
            other.enable.eq(regs.field("PAUSE", "RX")),
            other.quantum.eq(regs.value["PAUSE_QUANTUM"]),
            other.start.eq(receive.control.pauses),
            other.quanta.eq(receive.control.quanta),
            self.hold.eq(other.running),

            # Ours.
            self.enable.eq(enable),
            self.full.eq(full),
            self.roomy.eq(roomy),
            self.quanta.eq(regs.value["PAUSE_QUANTA"]),
            self.quantum.eq(regs.value["PAUSE_QUANTUM"]),
            self.station.eq(Cat(regs.value["MAC_LOW"], regs.value["MAC_HIGH"])),

            regs.field("STATUS", "TX_PAUSED").eq(other.running),
            regs.field("STATUS", "RX_PAUSED").eq(self.stopped),
        ]

    def counters(self, transmit):
        """The counters of the sent frames, for which Transmit follows."""
        return {"TX_PAUSE_FRAMES": transmit.sent & self.own}
