# SPDX-License-Identifier: BSD-2-Clause
"""Chooses the next frame to be sent among Tx FIFOs, one for each queue."""

from functools import reduce
from operator  import and_

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from moderato.gateware.frame.checksum import SUM_BITS

# Scheduler ----------------------------------------------------------------------------------------

class Scheduler(LiteXModule):
    """Between the `fifos` (tx_frame) and Transmit, or PauseSource: each sees it as the FIFO. `head` has a stamp bit
    for each queue.

    A frame with a launch time waits for it, and leaves in the clock in which `due` comes, if the wire is free. Frames
    that follow it in its FIFO wait, too. A frame of another FIFO starts meanwhile only if it will have left in time. If
    several FIFOs have a frame that may start, the last of these FIFOs sends.

    A frame that could not start in time is dropped, if it has `drop`; otherwise it starts as if it had no launch
    time. A disabled ring's frame whose time has not come is dropped, too. A dropped frame that requested a stamp
    waits until the wire is free: then, all stamps of frames before it have come back.

    With gates, a frame starts only if it leaves while its gate is open. A disabled ring's frame is dropped otherwise.

    With shapers, a frame starts only if its queue's credit is not negative.

    launches   the Launches of the FIFOs, or None: frames have no launch times, and none is dropped.
    checksums  a stream for each FIFO's frames, or None; `self.checksums` has those of the sent frames.
    enables    the FIFO's ring is enabled.
    gates      the Gates of the queues, or None; they need `launches`.
    shapers    the Shapers of the queues, or None.
    may        a frame that is offered now starts.
    free       the wire is idle.

    selected   the FIFO whose frame is in progress, or starts now.
    late       a frame starts after its time.
    drops      for each FIFO: a frame is dropped.
    lost       for each FIFO: it is one that requested a stamp.
    """
    def __init__(self, fifos, launches=None, checksums=None, gates=None, shapers=None):
        count = len(fifos)
        layout = [(name, count if name == "stamp" else width) for name, width in fifos[0].head.layout]
        self.enables = Signal(count)
        self.may     = Signal(reset=1)
        self.free    = Signal()
        self.selected = Signal(max=max(count, 2))
        self.late    = Signal()
        self.drops   = Signal(count)
        self.lost    = Signal(count)
        self.awake   = Signal()

        # The read side of a frame FIFO.
        self.available = Signal()
        self.head      = Record(layout)
        self.word      = Signal(64)
        self.next      = Signal()
        self.release   = Signal()
        self.checksums = None if checksums is None else stream.Endpoint([("checksum", SUM_BITS)])

        # # #

        busy   = Signal()                       # A frame is in progress,
        chosen = Signal(max=max(count, 2))      # of this FIFO.
        go     = Signal(count)
        waits  = Signal(count)                  # A frame's time, unless it can't be met.
        doomed = Signal(count)                  # A frame that is to be dropped.

        for n, fifo in enumerate(fifos):
            # A frame with an error is not sent.
            ready    = Signal()
            credited = [shapers.each[n].may | fifo.head.error] if shapers else []
            self.comb += ready.eq(fifo.available & (1 if checksums is None else checksums[n].valid))
            if not launches:
                self.comb += go[n].eq(reduce(and_, [ready, *credited]))
                continue
            launch = launches.each[n]
            timed  = Signal()
            missed = Signal()
            alone  = Signal() # Harms no other FIFO's frame.
            guarded = [~waits[other] | (launch.known & launches.each[other].known & fits)
                for other, fits in launches.fits[n].items()]
            fitting = [gates.fits[n]] if gates else []
            # With shapers, the frame after one of a higher queue does not lose its turn while it is not known yet.
            higher  = range(n + 1, count if gates and shapers else 0)
            known   = [~fifos[other].available | launches.each[other].known for other in higher]
            quiet   = [~(doomed[other] & fifos[other].head.stamp) for other in range(count) if other != n]
            self.comb += [
                timed.eq(fifo.head.launch & ~fifo.head.error),
                missed.eq(timed & launch.known & launch.late),
                waits[n].eq(fifo.available & timed & ~missed),
                doomed[n].eq(ready & timed & launch.known & Mux(launch.due, launch.late & fifo.head.drop,
                    ~self.enables[n])),
                [If(ready & launch.known & ~fits & ~fifo.head.error & ~self.enables[n], doomed[n].eq(1))
                    for fits in fitting],
                alone.eq(reduce(and_, guarded + quiet)),
                go[n].eq(reduce(and_, [ready & ~doomed[n] & Mux(waits[n], launch.known & launch.due & self.free, alone),
                    *[launch.known & fits | fifo.head.error for fits in fitting], *known, *credited])),
                self.drops[n].eq(doomed[n] & ~(busy & (chosen == n)) & (~fifo.head.stamp | (self.free & ~busy))),
                self.lost[n].eq(self.drops[n] & fifo.head.stamp),
            ]

        start    = Signal()
        selected = self.selected
        self.comb += [
            start.eq(~busy & self.may & (go != 0)),
            selected.eq(chosen),
            If(~busy, [If(go[n], selected.eq(n)) for n in range(count)]),
            self.available.eq(busy | start),
            self.awake.eq(start | (self.drops != 0)),
        ]
        self.sync += [
            busy.eq(self.available & ~self.release),
            chosen.eq(selected),
        ]

        def of(signal):
            """The selected FIFO's."""
            return Array([signal(n) for n in range(count)])[selected]

        self.comb += [
            [getattr(self.head, name).eq(of(lambda n, name=name: getattr(fifos[n].head, name)))
                for name, _ in layout if name != "stamp"],
            self.head.stamp.eq(Cat(*[fifo.head.stamp & (selected == n) for n, fifo in enumerate(fifos)]))
                if "stamp" in dict(layout) else [],
            self.word.eq(of(lambda n: fifos[n].word)),
            self.late.eq(start & self.head.launch & ~self.head.error & of(lambda n: launches.each[n].late))
                if launches else [],
        ]
        if shapers:
            for n, shaper in enumerate(shapers.each):
                self.comb += shaper.start.eq(start & (selected == n))
        for n, fifo in enumerate(fifos):
            ours = selected == n
            self.comb += [
                fifo.next.eq(self.next & ours),
                fifo.release.eq((self.release & ours & self.available) | self.drops[n]),
            ]
        if checksums is not None:
            self.comb += [
                self.checksums.valid.eq(self.available),
                self.checksums.checksum.eq(of(lambda n: checksums[n].checksum)),
                [checksum.ready.eq((self.checksums.ready & (selected == n) & self.available) | self.drops[n])
                    for n, checksum in enumerate(checksums)],
            ]
