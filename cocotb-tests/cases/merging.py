# SPDX-License-Identifier: BSD-2-Clause
"""Marks of TCP segments in the descriptors of a MAC with two queues.

A model decides which frame on the wire continues which (bench/models/merge_model.py). A ring passes
the mark on only if it has delivered the frame before.
"""

import random

import cocotb
from cocotb.triggers import RisingEdge

from bench.models.driver import get
from bench.models.frames import plain
from bench.models.merge_model import Merging, Stream
from bench.wires.wire import add_fcs
from cases.two_queues import Queues, flow


class Marked(Queues):
    """`due` has (frame, whether it continues the frame before it on the wire, number of that
    frame)."""

    @classmethod
    async def start(cls, dut, slow=0.0, **settings):
        both = await super().start(dut, slow, **settings)
        both.merging, both.last, both.marks, both.delivered = Merging(), None, [0, 0], [None, None]
        return both

    def stream(self, queue, **options):
        """A connection whose segments go to this queue."""
        while self.queue_of((stream := Stream(sport=random.getrandbits(16), **options)).peek()) != queue:
            pass
        return stream

    def send(self, frame, damaged=False):
        queue = self.queue_of(frame)
        continues = self.merging.decide(frame, not damaged, queue)
        if not damaged:
            self.due[queue].append((frame, continues, self.last))
        self.last = None if damaged else frame
        wire = add_fcs(frame)
        self.wire.send(wire[:-1] + bytes([wire[-1] ^ damaged]))

    async def collect(self, queue, lose=0.0, lost=False):
        """Receives until no more frames come.

        lose: the share of short buffers; descriptors are then few, too. lost: earlier frames were
        dropped.
        """
        driver, due = self.drivers[queue], self.due[queue]
        quiet = 0
        while due or quiet < 3000:
            quiet += 1
            if random.random() < (0.02 if lose else 1) and driver.rx.room:
                small = random.random() < lose
                await driver.post_buffers(1 if lose else None, size=128 if small else 2048)
            if (got := driver.receive()) is not None:
                quiet = 0
                if got.error:  # of an unknown frame: the next frame is another one
                    self.delivered[queue] = None
                    continue
                while due[0][0] != got.data:
                    due.pop(0)  # dropped
                    self.delivered[queue] = None
                frame, continues, before = due.pop(0)
                follows = before is not None and before == self.delivered[queue]
                assert got.continues == (continues and follows)
                self.marks[queue] += got.continues
                self.delivered[queue] = frame
            elif (lose or lost) and quiet > 20000:
                break
            else:
                await RisingEdge(self.mac.dut.sys_clk)
        due.clear()

    async def collect_all(self, lose=0.0, lost=False):
        tasks = [cocotb.start_soon(self.collect(queue, lose, lost)) for queue in range(2)]
        for task in tasks:
            await task


def mix(both, count, damaged=0.0):
    """Runs of segments of several connections, and other frames between them."""
    streams = [both.stream(queue, v6=v6, size=size) for queue in range(2) for v6 in (False, True)
               for size in (40, 300)]
    for _ in range(count):
        stream = random.choice(streams)
        for _ in range(random.choice((1, 4, 8))):
            both.send(stream.segment(), random.random() < damaged)
        if random.random() < 0.3:
            both.send(random.choice((flow(), plain(60), stream.peek(7))))


@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.5])
async def marks_match_frames(dut, slow):
    """Each mark is where it should be, with damaged frames between."""
    both = await Marked.start(dut, slow, order=6)
    assert await both.regs.read("FEATURES", "MERGE") == 1
    for _ in range(4):
        mix(both, 12, damaged=0.03)
        await both.collect_all()
    assert min(both.marks) > 40


@cocotb.test()
async def no_merge_after_drop(dut):
    """Rings with too few descriptors, and with short buffers."""
    both = await Marked.start(dut, order=4, post=False)
    for _ in range(4):
        mix(both, 20)
        await both.collect_all(lose=0.2)
    assert min(both.marks) > 10


@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.4])
async def no_merge_after_write_error(dut, slow):
    """The error is known late, when the next frame already has its descriptor. The frame after that
    one continues."""
    both = await Marked.start(dut, slow, order=6)
    for queue in (0, 1)*2:
        driver, stream = both.drivers[queue], both.stream(queue, size=random.choice((100, 1000)))
        bad = random.randrange(1, 4)
        address, _ = driver.rx.posted[bad]
        beat = (address + random.randrange(100)) & ~7
        both.mac.memory.refuse(writes=lambda at, beat=beat: at == beat)
        for _ in range(6):
            both.send(stream.segment())
        await both.mac.settle(1000)
        got = [driver.rx.done()[0] for _ in range(6)]
        assert [get("STATUS", "ERROR", status) for status in got] == [n == bad for n in range(6)]
        assert [get("STATUS", "CONTINUES", status) for status in got] == \
            [n not in (0, bad, bad + 1) for n in range(6)]
        both.mac.memory.refuse()
        await driver.post_buffers()


@cocotb.test()
async def no_merge_after_fifo_drop(dut):
    """A bus that stalls for longer than the FIFO has room."""
    both = await Marked.start(dut, order=6)
    for _ in range(6):
        both.mac.memory.starve(True)
        stream = both.stream(random.randrange(2), size=random.choice((300, 1000)))
        for _ in range(random.randrange(30, 40)):
            both.send(stream.segment())
        await both.mac.clocks(random.randrange(8000, 12000))
        both.mac.memory.starve(False)
        await both.collect_all(lost=True)
    assert await both.regs.read("RX_DROP_FIFO") > 10 and sum(both.marks) > 40


@cocotb.test()
async def no_merge_after_bad_fcs(dut):
    """A repetition of a damaged frame does not continue it, although it looks like a continuation
    of the frame before."""
    both = await Marked.start(dut)
    for _ in range(4):
        stream = both.stream(random.randrange(2), v6=True, size=100)
        for damaged in (False, False, True, False, False):
            both.send(stream.segment(), damaged)
            if damaged:
                stream.skip(-stream.size)
        await both.collect_all()
    assert sum(both.marks) == 4 * 2


@cocotb.test()
async def no_merge_across_ring_restart(dut):
    """After a stop in the middle of a stream, a ring does not know its last segment."""
    both = await Marked.start(dut, order=6)
    for queue in (0, 1, 0, 1):
        stream, driver = both.stream(queue), both.drivers[queue]
        for _ in range(4):
            both.send(stream.segment())
        await both.collect(queue)
        before = both.marks[queue]
        both.send(stream.segment())
        await both.mac.settle()  # its frame is in the ring, or in the FIFO
        await driver.stop()
        both.due[queue].clear()
        await driver.start()
        both.wire.send(add_fcs(stream.segment()))
        first, = await driver.poll(1)
        both.wire.send(add_fcs(stream.segment()))
        second, = await driver.poll(1)
        assert before >= 3 and (first.continues, second.continues) == (False, True)
        both.last, both.merging, both.delivered = None, Merging(), [None, None]
        both.send(plain(60))
        await both.collect_all()


@cocotb.test()
async def no_merge_across_table_write(dut):
    """A segment whose queue has changed does not continue the last frame of the new queue."""
    both = await Marked.start(dut, order=6)
    stream = both.stream(0)
    for queue in (0, 1, 1, 0, 0, 0):
        await both.set_table([queue] * 128)
        both.send(stream.segment())
        await both.collect_all()
    assert both.marks == [2, 1]
