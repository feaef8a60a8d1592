# SPDX-License-Identifier: BSD-2-Clause
"""Queues in each direction, each with its own rings, share one Rx FIFO and one Tx FIFO.

No ring blocks another one. The oldest received frame either gets a descriptor or is dropped, as with one
ring. The Tx rings take turns frame by frame. The ring whose turn it is either finds room as soon as the wire
has taken enough of the FIFO, or ends its turn.

With one queue, all of this generates no logic.
"""

from functools import reduce
from operator  import and_, or_, sub

from migen import *

from litex.gen import *

from moderato.gateware.rings.completions import IN_FLIGHT

# Receive ------------------------------------------------------------------------------------------

class RxQueue:
    """A ring's view of the FIFO's read side: only the ring's own frames, and `head` without the queue."""
    def __init__(self, fifo, param):
        self.available = Signal()
        self.head      = Record(param)
        self.word      = fifo.word
        self.next      = Signal()
        self.release   = Signal()
        self.frames    = Signal.like(fifo.frames) # The ring's frames in the FIFO, not only the oldest one.
        self.held      = Signal()


class RxQueues(LiteXModule):
    """Between `fifo` (rx_frame) and rings, one for each of `queues`."""
    def __init__(self, fifo, count):
        self.queues = [fifo]
        if count == 1:
            return
        param = [field for field in fifo.head.layout if field[0] != "queue"]
        self.queues = [RxQueue(fifo, param) for _ in range(count)]
        ours = [lambda frame, n=n: frame.queue == n for n in range(count)]

        # # #

        for queue, own in zip(self.queues, ours):
            comes, leaves = Signal(), Signal()
            self.comb += [
                queue.available.eq(fifo.available & own(fifo.head)),
                [getattr(queue.head, name).eq(getattr(fifo.head, name)) for name, _ in queue.head.layout],
                If(queue.next, fifo.next.eq(1)),
                If(queue.release, fifo.release.eq(1)),
                comes.eq(fifo.accepted & own(fifo.param)),
                leaves.eq(queue.release & queue.available),
                queue.held.eq(queue.frames != 0),
            ]
            self.sync += queue.frames.eq(queue.frames + comes - leaves)

# Transmit -----------------------------------------------------------------------------------------

class Turns(LiteXModule):
    """A round-robin arbiter: the client whose `turn` it is keeps it while it `wants` it; then the next client that
    wants it gets it.

    A client keeps its turn while it waits for room. So each client waits for at most one frame of each other
    one, at any rate of the wire. If clients passed the turn on for lack of room, short frames would take all
    room, and long ones would starve."""
    def __init__(self, count=2):
        self.wants = Signal(count)
        self.turn  = Signal(max=count)

        # # #

        if count == 2:
            self.sync += Case(self.wants, {0b01: self.turn.eq(0), 0b10: self.turn.eq(1)})
            return
        for n in range(count):
            after = [(n + step) % count for step in range(1, count)]
            following = If(self.wants[after[0]], self.turn.eq(after[0]))
            for other in after[1:]:
                following = following.Elif(self.wants[other], self.turn.eq(other))
            self.sync += If((self.turn == n) & ~self.wants[n], following)


class TxQueue:
    """A ring's view of the FIFO's write side, and of the TxChecksum's, if there is one."""
    def __init__(self, fifo, checksum, count=2):
        self.write    = Signal()
        self.data     = Signal(64)
        self.commit   = Signal()
        self.abort    = Signal()
        self.param    = Record(fifo.param.layout)
        self.space    = Signal.like(fifo.space)
        self.frames   = Signal.like(fifo.frames)
        self.longest  = fifo.longest
        # The frames that one ring has in progress must not use the records of the other one.
        self.max_frames = fifo.max_frames - IN_FLIGHT*(count - 1)
        self.checksum = checksum and TxQueueChecksum(checksum)


class ForwardPort:
    """The FIFO's write side for a client that has a whole frame. When it `wants` to write, and there is room for a
    frame of `words`, it is `granted` its turn until the clock in which it commits the frame. `fits`: the FIFO is
    large enough for that frame."""
    def __init__(self, fifo, checksum):
        self.wants    = Signal()
        self.words    = Signal(12)
        self.granted  = Signal()
        self.fits     = Signal()
        self.write    = Signal()
        self.data     = Signal(64)
        self.commit   = Signal()
        self.param    = Record(fifo.param.layout)
        self.checksum = checksum and TxQueueChecksum(checksum)


class TxQueueChecksum:
    """What a ring passes to the TxChecksum with each word that it writes."""
    FIELDS = ("data", "number", "last", "start", "end", "odd")

    def __init__(self, checksum):
        self.write = Signal()
        self.awake = checksum.awake
        for name in self.FIELDS:
            setattr(self, name, Signal.like(getattr(checksum, name)))


class TxQueues(LiteXModule):
    """Shares `fifo` (tx_frame) and `checksum` between rings: each gets one of `queues` and of `checksums`. join()
    then takes the rings.

    A ring finds room only while it has the turn. Because the bus responds in order, the words of a frame stay
    together, even if both TxRings have requested frames. A GatherRing's frame whose last piece was not handed
    over keeps the turn until the ring halts or stops.

    With `flows` there is also a ForwardPort, `forwarded`.
    """
    def __init__(self, fifo, checksum, count, flows=False):
        self.fifo, self.checksum = fifo, checksum
        shared = count > 1 or flows
        self.queues    = [TxQueue(fifo, checksum, count) for _ in range(count)] if shared else [fifo]
        self.checksums = [queue.checksum for queue in self.queues] if shared else [checksum]
        self.forwarded = ForwardPort(fifo, checksum) if flows else None

    def join(self, rings):
        """rings: a TxRing or GatherRing for each queue."""
        fifo, queues = self.fifo, self.queues
        if queues[0] is fifo:
            return
        sources = [*queues, self.forwarded] if self.forwarded else queues
        self.turns = turns = Turns(len(sources))
        for n, ring in enumerate(rings):
            others = [other.reserved for other in rings if other is not ring]
            self.comb += [
                turns.wants[n].eq(ring.wants()),
                queues[n].frames.eq(queues[n].max_frames),
                If(turns.turn == n,
                    queues[n].space.eq(reduce(sub, others, fifo.space)),
                    # A ForwardPort also uses the records that a ring leaves to the other one.
                    queues[n].frames.eq(fifo.frames if not self.forwarded else
                        Mux(fifo.frames < queues[n].max_frames, fifo.frames, queues[n].max_frames)),
                    If(queues[n].abort, fifo.abort.eq(1)),
                ),
            ]
        if self.forwarded:
            # The forwarded frame is complete: a ring that still waits for words of its frame comes first.
            turn  = turns.turn == len(rings)
            alone = reduce(and_, [ring.reserved == 0 for ring in rings])
            self.comb += [
                turns.wants[len(rings)].eq(self.forwarded.wants),
                self.forwarded.fits.eq(self.forwarded.words <= 2**(len(fifo.space) - 1)),
                self.forwarded.granted.eq(turn & alone & (self.forwarded.words <= fifo.space) &
                    (fifo.frames != fifo.max_frames)),
            ]

        # Writes: only one ring writes in a clock, and reports the end of a frame in the next one.
        # -----------------------------------------------------------------------------------------------
        def whose(pulse, parts, value):
            """The value of the last part whose pulse is set, or of the first part."""
            first, *others = parts
            return reduce(lambda before, part: Mux(getattr(part, pulse), value(part), before), others, value(first))

        self.comb += [
            fifo.write.eq(reduce(or_, [source.write for source in sources])),
            fifo.data.eq(whose("write", sources, lambda source: source.data)),
            fifo.commit.eq(reduce(or_, [source.commit for source in sources])),
            [getattr(fifo.param, name).eq(
                    whose("commit", sources, lambda source, name=name: getattr(source.param, name)))
                for name, _ in fifo.param.layout],
        ]
        if "stamp" in dict(fifo.param.layout):
            first, *others = sources
            self.comb += fifo.param.stamp.eq(Cat(
                first.param.stamp[0] & ~reduce(or_, [other.commit for other in others]),
                *[other.param.stamp[0] & other.commit for other in others if other is not self.forwarded]))
        if self.checksum:
            sums = [source.checksum for source in sources]
            self.comb += [
                self.checksum.write.eq(reduce(or_, [part.write for part in sums])),
                [getattr(self.checksum, name).eq(whose("write", sums, lambda part, name=name: getattr(part, name)))
                    for name in TxQueueChecksum.FIELDS],
            ]

# Pulses -------------------------------------------------------------------------------------------

class OneByOne(LiteXModule):
    """Merges one or two pulses into `pulse`, which comes once for each. None of them comes in two clocks in a
    row."""
    def __init__(self, one, other=None):
        self.pulse = Signal()
        self.awake = Signal()

        # # #

        if other is None:
            self.comb += self.pulse.eq(one)
            return
        late = Signal()
        self.comb += [
            self.pulse.eq(one | other | late),
            self.awake.eq(late),
        ]
        self.sync += late.eq((one & other) | (late & (one | other)))
