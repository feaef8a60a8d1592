# SPDX-License-Identifier: BSD-2-Clause
"""What the transmitter sends while there is pause: frames of the FIFO unless they have to wait, and pause frames."""

from functools import reduce
from operator  import and_, or_

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from moderato.gateware.frame.checksum import SUM_BITS
from moderato.gateware.frame.pause    import CONTROL, GROUP, PAUSE, PauseTimer, little

OCTETS   = 18  # Of a pause frame, without padding and FCS.
PATIENCE = 255 # Pause frames in a row that ask for the same.

# Pause Source -------------------------------------------------------------------------------------

class PauseSource(LiteXModule):
    """Between the Tx frame FIFO and Transmit, for which it is the FIFO.

    Obeys: while `hold`, no frame of the FIFO begins; one that has begun goes on.

    Asks: with `enable`, `full` makes the other end pause for `quanta`, again whenever half of them are
    over, until it is `roomy`; then the pause ends. A pause frame goes before frames of the FIFO, and
    waits for none but the one under way: two ends that hold each other can always let go. What asks
    for the same PATIENCE times in a row gives up, for then nobody makes room any more.

    checksums  as Transmit has it, of the FIFO's frames; `self.checksums` is its, of all that it sends.

    own      the frame under way is a pause frame;
    stopped  the other end was told to pause, the last time that it was told something.
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

        # What to ask for.
        # ----------------
        self.timer = timer = PauseTimer()
        stop    = Signal() # The other end should pause.
        asked   = Signal(max=PATIENCE + 1)
        wanted  = Signal()
        begin   = Signal() # A pause frame.
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

        # Whose turn it is: decided when Transmit, which takes what is available, takes a frame.
        # --------------------------------------------------------------------------------------
        busy   = Signal() # A frame is under way,
        ours   = Signal() # that is a pause frame.
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
            # A pause frame has none, and waits for none.
            self.comb += [
                self.checksums.valid.eq(self.own | checksums.valid),
                self.checksums.checksum.eq(checksums.checksum),
                checksums.ready.eq(self.checksums.ready & ~self.own),
            ]

    def connect_registers(self, regs, receive, fifo, rings, flows=None):
        """With what takes pauses, the Receive, and what runs full: its `fifo` and the RxRings of all queues, by
        the prefix of their registers; and the Flows, if there are any."""
        self.other = other = PauseTimer()
        low  = [regs.field("PAUSE_FIFO", edge)[3:] for edge in ("STOP", "GO")]
        left = [regs.field("PAUSE_RING", edge)     for edge in ("STOP", "GO")]
        # A ring that is stopped or halted drops what comes: no pause would help.
        takes = {prefix: regs.field("PAUSE", "TX") & regs.field("CTRL", f"{prefix}_ENABLE") & ~ring.halted
            for prefix, ring in rings.items()}
        short = [ring.fetcher.available < left[0]  for ring in rings.values()]
        ample = [ring.fetcher.available >= left[1] for ring in rings.values()]
        if len(rings) > 1: # One that takes nothing says nothing.
            short = [take & few     for take, few in zip(takes.values(), short)]
            ample = [~take | enough for take, enough in zip(takes.values(), ample)]
        enable = reduce(or_, takes.values())
        full   = (fifo.space < low[0]) | (fifo.frames >= fifo.max_frames//3) | reduce(or_, short)
        roomy  = (fifo.space >= low[1]) & (fifo.frames <= fifo.max_frames//6) & reduce(and_, ample)
        if flows: # They take what comes, whatever halts the rings.
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
        """What the Transmit behind it counts as."""
        return {"TX_PAUSE_FRAMES": transmit.sent & self.own}
