# SPDX-License-Identifier: BSD-2-Clause
"""When one queue ends in any way, while it holds any shared resource, the other one continues.

They share the turn of the Tx FIFO, both ports of the DMA and the adder of the statistics. They also
share the lists of checksums and of stamps, and the request for a pause. A queue ends when memory
fails its descriptors, its data or its statuses, when its descriptors are invalid, or when it is
stopped.
"""

import random
from collections import deque

import cocotb
from cocotb.triggers import RisingEdge, with_timeout

from bench.models.frames import inserted
from bench.wires.wire import add_fcs
from cases.two_queues import MIN, Queues, marked
from cases.stamps import start_clock
from cases.pieces import cut
from cases.segments import hand_over, packet

ORDER = 5
WAYS = ["descriptors", "data", "statuses", "stop", "nonsense"]
LOW, HIGH = 3, 8  # free descriptors at which a ring requests a pause, and ends it
PAUSE = {"PAUSE_QUANTUM": 52, "PAUSE_QUANTA": 200, "PAUSE_RING": LOW | HIGH << 16, "PAUSE": 2}
GROUP = bytes.fromhex("0180c2000001")


class Ending:
    """`mac` with traffic of both queues: `bad` ends again and again; all frames of `good` are
    checked."""

    @classmethod
    async def start(cls, dut, holder):
        test = cls()
        test.both = both = await Queues.start(dut, order=ORDER)
        test.mac, test.regs, test.holder = both.mac, both.regs, holder
        test.bad, test.good = both.drivers[holder], both.drivers[1 - holder]
        test.has = {name: await test.regs.read("FEATURES", name)
                    for name in ("GATHER", "SEGMENT", "TX_CHECKSUM", "TIMESTAMP", "PAUSE")}
        test.zero = await start_clock(both.mac, 0) if test.has["TIMESTAMP"] else 0
        for name, value in PAUSE.items() if test.has["PAUSE"] else ():
            await test.regs.write(name, value)
        test.sent = deque()    # good's frames to be sent: (as on the wire, whether stamped)
        test.offered = deque() # bad's, some of which are sent
        test.stamps = []       # of good's
        test.counts = {"wire": 0, "sent": 0, "received": 0}
        test.over = False
        return test

    # All of these run until `over`.
    # ------------------------------
    async def send(self):
        """Sends frames of `good`, one after the other."""
        while not self.over:
            frame = marked(1 - self.holder, random.choice((MIN, 61, 64, 300, 1514)))
            checksum = (14, 40) if self.has["TX_CHECKSUM"] and random.random() < 0.5 else None
            asks = int(self.has["TIMESTAMP"] and random.random() < 0.5)
            pieces = cut(frame, 4 if self.has["GATHER"] else 1)
            while self.good.tx.room < len(pieces):
                self.good.reclaim()
                await RisingEdge(self.mac.dut.sys_clk)
            self.sent.append((inserted(frame, *checksum) if checksum else frame, asks))
            self.good.queue_pieces(pieces, checksum, TIMESTAMP=asks)
            await self.good.tx.doorbell()
            await self.mac.clocks(random.randrange(1000))  # on average slower than the wire

    async def watch(self):
        """Checks sent frames: complete, and in order within each queue."""
        while True:
            frame = await self.both.wire.receive()
            self.counts["wire"] += 1
            if frame[:6] == GROUP:
                continue
            if self.sent and frame == self.sent[0][0]:
                _, asks = self.sent.popleft()
                if asks:
                    self.stamps.append(round(self.both.wire.started + self.zero) % 2**32)
                self.counts["sent"] += 1
                continue
            while self.offered:
                if self.offered.popleft() == frame:
                    break
            else:
                raise AssertionError("an unknown frame, or one out of order")

    async def arrive(self):
        """Receives frames for both queues; those for `bad` may be lost."""
        while not self.over:
            queue = random.getrandbits(1)
            frame = self.both.for_queue(queue, random.choice((MIN, 200)))
            if queue == self.holder:
                self.both.wire.send(add_fcs(frame))
            else:
                self.both.send(frame)
            await self.mac.clocks(random.randrange(100, 500))

    async def take(self):
        """Checks all frames that `good` should receive, in order."""
        due = self.both.due[1 - self.holder]
        while not self.over or due:
            frame, = await self.good.poll(1)
            assert not frame.error and frame.data == due.pop(0)
            self.counts["received"] += 1

    # Work of `bad`.
    # --------------
    async def work(self, wrong):
        """Sends some frames; with `wrong`, also invalid descriptors."""
        view = self.both.side(self.holder)
        for _ in range(random.randrange(1, 6)):
            self.bad.reclaim()
            kind = random.random()
            asks = int(self.has["TIMESTAMP"] and random.random() < 0.5)
            if self.bad.tx.room < 10:
                return
            if wrong and kind < 0.3:
                pieces = [(bytes(random.choice((0, 5000))), random.randrange(64))]
                if self.has["GATHER"] and random.getrandbits(1):
                    pieces = [(bytes(30), 0), *pieces, (bytes(30), 0)]
                self.bad.queue_pieces(pieces, TIMESTAMP=asks)
            elif wrong and kind < 0.5 and self.has["SEGMENT"]:
                hand_over(view, packet(500, 100), segments=(7, 500, 0), stamp=asks)
            elif kind < 0.7 and self.has["SEGMENT"]:
                p = packet(random.randrange(1, 900), random.choice((100, 300)))
                self.offered += p.right
                hand_over(view, p, stamp=asks)
            else:
                frame = marked(self.holder, random.choice((MIN, 300, 1514)))
                self.offered.append(frame)
                self.bad.queue_pieces(cut(frame, 5 if self.has["GATHER"] else 1), TIMESTAMP=asks)
            await self.bad.tx.doorbell()

    async def half(self):
        """The start of a frame that never ends."""
        if self.has["GATHER"] and self.bad.tx.room > 1:
            self.bad.queue(bytes(random.randrange(1, 200)), random.randrange(64), MORE=1)
            await self.bad.tx.doorbell()

    async def end(self, way):
        rings = [(ring.base, ring.base + 16*ring.size) for ring in (self.bad.rx, self.bad.tx)]
        buffers = [(self.bad.buffers, self.bad.end)]

        def within(spans):
            return lambda address: any(low <= address < high for low, high in spans)

        holds = way in ("descriptors", "statuses", "stop")
        if holds and random.random() < 0.7:
            await self.half()
            await self.mac.clocks(random.randrange(200))
        refused = {"descriptors": {"reads": within(rings)}, "statuses": {"writes": within(rings)},
                   "data": {"reads": within(buffers), "writes": within(buffers)}}.get(way)
        if refused:
            self.mac.memory.refuse(**refused)
        if holds:
            await self.half()
        if way == "stop":
            await self.bad.stop()

    async def goes_on(self):
        """Waits until `good` has handled, in both directions, more than is queued now."""
        waiting = {"sent": self.sent, "received": self.both.due[1 - self.holder]}
        enough = {name: self.counts[name] + len(frames) + 2 for name, frames in waiting.items()}

        async def both_ways():
            while any(self.counts[name] < number for name, number in enough.items()):
                await RisingEdge(self.mac.dut.sys_clk)

        await with_timeout(both_ways(), 600, "us")

    async def again(self):
        self.mac.memory.refuse()
        await self.bad.stop()
        for _ in range(100 if self.has["PAUSE"] else 0):
            if not await self.regs.read("STATUS", "RX_PAUSED"):
                break
            await self.mac.clocks(50)
        else:
            assert not self.has["PAUSE"], "a disabled queue requests a pause"
        await self.bad.start()


@cocotb.test()
@cocotb.parametrize(holder=[0, 1])
async def other_queue_continues(dut, holder):
    test = await Ending.start(dut, holder)
    cocotb.start_soon(test.watch())
    tasks = [cocotb.start_soon(task()) for task in (test.send, test.arrive, test.take)]
    for way in random.sample(WAYS*2, len(WAYS)*2):
        await test.work(wrong=way == "nonsense")
        await test.mac.clocks(random.randrange(1500))
        await test.end(way)
        await test.goes_on()
        await test.again()
    test.over = True
    test.both.send(test.both.for_queue(1 - holder))  # `take` waits for one
    for task in tasks:
        await task
    # `bad` works again.
    for _ in range(3):
        frame = marked(holder, 200)
        test.offered.append(frame)
        await test.bad.send(frame)
        test.both.wire.send(add_fcs(test.both.for_queue(holder)))
    assert not any(await test.bad.reclaim_all()) and not any(await test.good.reclaim_all())
    await test.bad.poll(3)
    await test.mac.settle(2000)
    await test.mac.clocks(20_000)
    assert not test.sent and test.good.stamps == test.stamps
    assert test.offered == deque()
    good = test.good.number
    assert await test.regs.read("TX_GOOD_FRAMES") == test.counts["wire"]
    assert await test.regs.read(f"TX{good}_DROP_LENGTH") == 0
    assert await test.regs.read(f"RX{good}_DROP_RING") == await test.regs.read("RX_DROP_FIFO") == 0
    assert await test.regs.read("DMA_ERRORS") > 0
