# SPDX-License-Identifier: BSD-2-Clause
"""Queues in each direction, each with rings of its own, at one Rx FIFO and one Tx FIFO.

No ring waits for the other one. In front of the Rx rings the oldest frame either has a descriptor,
or is dropped, as with one ring. The Tx rings take turns frame by frame, and who has the turn either
finds room as soon as the wire has taken some of what is there, or gives it up.

Of one queue, all of this is nothing.
"""

from migen import *

from litex.gen import *

from moderato.gateware.rings.completions import IN_FLIGHT

# Receive ------------------------------------------------------------------------------------------

class RxQueue:
    """The read side of the FIFO as a ring sees it: its own frames only, `head` without the queue."""
    def __init__(self, fifo, param):
        self.available = Signal()
        self.head      = Record(param)
        self.word      = fifo.word
        self.next      = Signal()
        self.release   = Signal()
        self.frames    = Signal.like(fifo.frames) # Of it in the FIFO, not only the oldest.
        self.held      = Signal()


class RxQueues(LiteXModule):
    """Between `fifo` (rx_frame) and rings, one for each of `queues`."""
    def __init__(self, fifo, count):
        self.queues = [fifo]
        if count == 1:
            return
        param = [field for field in fifo.head.layout if field[0] != "queue"]
        self.queues = [RxQueue(fifo, param) for _ in range(count)]

        # # #

        for n, queue in enumerate(self.queues):
            comes, leaves = Signal(), Signal()
            self.comb += [
                queue.available.eq(fifo.available & (fifo.head.queue == n)),
                [getattr(queue.head, name).eq(getattr(fifo.head, name)) for name, _ in param],
                If(queue.next, fifo.next.eq(1)),
                If(queue.release, fifo.release.eq(1)),
                comes.eq(fifo.accepted & (fifo.param.queue == n)),
                leaves.eq(queue.release & queue.available),
                queue.held.eq(queue.frames != 0),
            ]
            self.sync += queue.frames.eq(queue.frames + comes - leaves)

# Transmit -----------------------------------------------------------------------------------------

class Turns(LiteXModule):
    """Whose `turn` it is of two. Who has it keeps it while it `wants` it; then the other one gets it, if that
    wants it."""
    def __init__(self):
        self.wants = Signal(2)
        self.turn  = Signal()

        # # #

        self.sync += Case(self.wants, {0b01: self.turn.eq(0), 0b10: self.turn.eq(1)})


class TxQueue:
    """The write side of the FIFO as a ring sees it, and the TxChecksum's, if there is one."""
    def __init__(self, fifo, checksum):
        self.write    = Signal()
        self.data     = Signal(64)
        self.commit   = Signal()
        self.abort    = Signal()
        self.param    = Record(fifo.param.layout)
        self.space    = Signal.like(fifo.space)
        self.frames   = Signal.like(fifo.frames)
        self.longest  = fifo.longest
        # One's frames under way leave the other one's records to it.
        self.max_frames = fifo.max_frames - IN_FLIGHT
        self.checksum = checksum and TxQueueChecksum(checksum)


class TxQueueChecksum:
    """What a ring tells the TxChecksum of the word that it writes."""
    FIELDS = ("data", "number", "last", "start", "end", "odd")

    def __init__(self, checksum):
        self.write = Signal()
        self.awake = checksum.awake
        for name in self.FIELDS:
            setattr(self, name, Signal.like(getattr(checksum, name)))


class TxQueues(LiteXModule):
    """What the rings see of `fifo` (tx_frame) and of `checksum`, which they share: for each, one of `queues`
    and of `checksums`. Then join() tells which rings they are.

    A ring finds room only while it has the turn: then no words of other frames come between those of one,
    for the bus answers in order. Frames that the TxRings have asked for may be of both of them. A frame of
    a GatherRing whose last piece was not handed over keeps the turn, until the ring halts or stops.
    """
    def __init__(self, fifo, checksum, count):
        self.fifo, self.checksum = fifo, checksum
        self.queues    = [fifo] if count == 1 else [TxQueue(fifo, checksum) for _ in range(count)]
        self.checksums = [checksum] if count == 1 else [queue.checksum for queue in self.queues]

    def join(self, rings):
        """One for each of the queues, TxRings or GatherRings."""
        if len(rings) == 1:
            return
        fifo, checksum, queues = self.fifo, self.checksum, self.queues
        self.turns = turns = Turns()
        for n, ring in enumerate(rings):
            self.comb += [
                turns.wants[n].eq(ring.wants()),
                queues[n].frames.eq(queues[n].max_frames),
                If(turns.turn == n,
                    queues[n].space.eq(fifo.space - rings[1 - n].reserved),
                    queues[n].frames.eq(fifo.frames),
                    If(queues[n].abort, fifo.abort.eq(1)),
                ),
            ]

        # What they write: in a clock only one of them does, and in the clock behind it tells of a frame.
        # -----------------------------------------------------------------------------------------------
        one, other = queues
        self.comb += [
            fifo.write.eq(one.write | other.write),
            fifo.data.eq(Mux(other.write, other.data, one.data)),
            fifo.commit.eq(one.commit | other.commit),
            [getattr(fifo.param, name).eq(Mux(other.commit, getattr(other.param, name), getattr(one.param, name)))
                for name, _ in fifo.param.layout],
        ]
        if "stamp" in dict(fifo.param.layout):
            self.comb += fifo.param.stamp.eq(Cat(one.param.stamp[0] & ~other.commit,
                other.param.stamp[0] & other.commit))
        if checksum:
            one, other = one.checksum, other.checksum
            self.comb += checksum.write.eq(one.write | other.write)
            self.comb += [getattr(checksum, name).eq(Mux(other.write, getattr(other, name), getattr(one, name)))
                for name in TxQueueChecksum.FIELDS]

# Pulses -------------------------------------------------------------------------------------------

class OneByOne(LiteXModule):
    """`pulse` for each of one or two pulses, one of which never comes again within a clock."""
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
