# SPDX-License-Identifier: BSD-2-Clause
"""Two queues in each direction, for a MAC with clock gates and one without.

A scoreboard uses a model (bench/models/rss_model.py) to decide at which queue each frame must
arrive. Frames of a queue arrive in order, each once, and no others.
"""

import ipaddress
import random

import cocotb
from cocotb.triggers import RisingEdge
from cocotb.utils import get_sim_time
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from bench.models import rss_model
from bench.models.driver import RX_OFFSET, Driver
from bench.models.frames import inserted, plain
from bench.mac import Mac
from bench.wires.wire import SYS_PERIOD_NS, add_fcs
from cases.basics import Handler
from cases.stamps import start_clock

MIN = 60


def flow(length=None):
    """A packet of some flow: the shortest possible, or of at least `length` octets."""
    ports = {"sport": random.getrandbits(16), "dport": random.getrandbits(16)}
    transport = random.choice((TCP, UDP))(**ports)
    kind, size = random.choice(((IP, 4), (IPv6, 16)))
    address = ipaddress.IPv4Address if kind is IP else ipaddress.IPv6Address
    source, destination = (str(address(random.randbytes(size))) for _ in range(2))
    head = bytes(Ether(dst="02:4d:6f:64:00:00", src="02:54:73:74:00:00") /
                 kind(src=source, dst=destination) / transport / Raw(b"\0"))
    return head + random.randbytes(max(0, (length or MIN) - len(head)))


class Queues:
    """A MAC with two queues, their `drivers`, and the frames `due` at each."""

    @classmethod
    async def start(cls, dut, slow=0.0, enable=(True, True), order=5, post=True, link=None,
                    **settings):
        """`settings`: for both queues, named as for queue 0: RX_FRAMES."""
        both = cls()
        both.mac = mac = await Mac.start(dut, link, slow, enable=False,
                                         driver={"rx_order": order, "tx_order": order})
        both.drivers = [mac.driver, Driver(dut, mac.memory, order, order, first=mac.driver)]
        both.regs, both.wire = mac.regs, mac.wire
        both.due = [[], []]
        await both.set_key(rss_model.KEY)
        await both.set_table([n % 2 for n in range(128)])
        await mac.regs.write("RSS_TYPES", rss_model.ALL)
        for driver, wanted in zip(both.drivers, enable):
            if wanted:
                await driver.start(post=post, **{name.replace("X_", f"X{driver.number}_", 1): value
                                                for name, value in settings.items()})
        return both

    async def set_key(self, key):
        self.key = key
        for word in range(len(key) // 4):
            await self.regs.write(f"RSS_KEY_{word}", int.from_bytes(key[4*word:][:4], "little"))

    async def set_table(self, table):
        self.table = table
        for word in range(len(table) // 32):
            await self.regs.write(f"RSS_TABLE_{word}",
                                  sum(queue << n for n, queue in enumerate(table[32*word:][:32])))

    def side(self, queue):
        """The view of one queue that pieces.post(), segments.hand_over() and segments.room() use as
        the MAC."""
        view = Mac()
        view.dut, view.driver = self.mac.dut, self.drivers[queue]
        return view

    def queue_of(self, frame):
        return rss_model.queue(frame, self.key, self.table)

    def for_queue(self, queue, length=None):
        """A packet for this queue."""
        while self.queue_of(frame := flow(length)) != queue:
            pass
        return frame

    def send(self, frame):
        """Sends a frame, and notes it on the scoreboard."""
        self.due[self.queue_of(frame)].append(frame)
        self.wire.send(add_fcs(frame))

    async def expect(self, queue):
        """Checks all frames due at a queue, in order."""
        due, self.due[queue] = self.due[queue], []
        for frame in due:
            got, = await self.drivers[queue].poll(1)
            assert not got.error and got.data == frame, f"not the frame due at queue {queue}"

    async def expect_all(self):
        tasks = [cocotb.start_soon(self.expect(queue)) for queue in range(2)]
        for task in tasks:
            await task
        await self.mac.settle()
        for driver in self.drivers:
            assert driver.receive() is None, "a surplus frame"


# Receive ------------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.5])
async def each_frame_arrives_at_its_queue(dut, slow):
    """Shortest frames back to back with others: flows of all kinds, and frames without a flow."""
    both = await Queues.start(dut, slow)
    for _ in range(200):
        both.send(random.choice((flow(), flow(), flow(random.randrange(MIN, 400)), plain(MIN))))
    assert all(len(due) > 50 for due in both.due)
    await both.expect_all()
    assert await both.regs.read("RX_GOOD_FRAMES") == both.mac.events["rx_completed"] == 200


@cocotb.test()
async def at_the_line_rate(dut):
    """As many shortest frames as possible at 1000 Mb/s, with any pattern of queues: none is lost."""
    both = await Queues.start(dut, order=6)
    for pattern in ((0, 1), (0, 0, 1, 1), (1,), (0, 0, 0, 1)):
        frames = [both.for_queue(pattern[n % len(pattern)]) for n in range(60)]
        for frame in frames:
            both.send(frame)
        await both.expect_all()
    assert await both.regs.read("RX_DROP_FIFO") == 0


@cocotb.test()
async def the_table_changes_under_traffic(dut):
    """Each frame goes to the queue that the table had at its end: a write during a frame breaks
    nothing."""
    both = await Queues.start(dut, order=6)
    for _ in range(30):
        for _ in range(random.randrange(1, 6)):
            both.send(flow())
        await both.wire.sent()
        await both.mac.clocks(40)
        await both.set_table([random.getrandbits(1) for _ in range(128)])
    await both.expect_all()
    got = {0: 0, 1: 0}
    frames = [flow(200) for _ in range(100)]  # without waiting: to either queue, but once, in order
    for frame in frames:
        both.wire.send(add_fcs(frame))

    async def disturb():
        while True:
            await both.set_table([random.getrandbits(1) for _ in range(128)])

    disturbing = cocotb.start_soon(disturb())
    places = {frame: n for n, frame in enumerate(frames)}
    last = [-1, -1]
    while sum(got.values()) < len(frames):
        for queue, driver in enumerate(both.drivers):
            if (frame := driver.receive()) is not None:
                place = places.pop(frame.data)
                assert place > last[queue]
                last[queue] = place
                got[queue] += 1
                await driver.post_buffers()
        await RisingEdge(dut.sys_clk)
    disturbing.cancel()
    assert min(got.values()) > 10


@cocotb.test()
@cocotb.parametrize(starved=[0, 1])
async def queue_without_descriptors_does_not_block_other(dut, starved):
    both = await Queues.start(dut, order=4)
    drops = [f"RX{driver.number}_DROP_RING" for driver in both.drivers]
    room = both.drivers[starved].rx.size
    for rounds in range(1, 4):
        for queue in [starved]*room + [0, 1]*40:
            both.send(both.for_queue(queue))
        await both.expect(1 - starved)
        await both.mac.settle()
        assert await both.regs.read(drops[starved]) == 40*rounds == both.mac.events["rx_drop_ring"]
        assert await both.regs.read(drops[1 - starved]) == 0
        both.due[starved] = both.due[starved][:room]
        await both.expect_all()


@cocotb.test()
@cocotb.parametrize(small=[0, 1])
async def one_queue_with_small_buffers(dut, small):
    """One queue drops and counts frames that do not fit; the other one is not affected."""
    both = await Queues.start(dut, post=False)
    for queue, driver in enumerate(both.drivers):
        await driver.post_buffers(size=128 if queue == small else 2048)
    for n in range(24):
        both.send(both.for_queue(n % 2, random.choice((MIN, 300))))
    for queue, driver in enumerate(both.drivers):
        for frame in both.due[queue]:
            got, = await driver.poll(1, repost=False)
            fits = queue != small or len(frame) + RX_OFFSET <= 128
            assert (got.error, got.data) == (not fits, frame if fits else b"")
    lost = sum(len(frame) > 126 for frame in both.due[small])
    assert await both.regs.read(f"RX{both.drivers[small].number}_DROP_BUFFER") == lost > 0
    assert await both.regs.read(f"RX{both.drivers[1 - small].number}_DROP_BUFFER") == 0
    assert both.mac.events["rx_drop_ring"] == lost


@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.3])
async def stopped_and_started_in_turn(dut, slow):
    """Under traffic, one queue is disabled: it drops its frames, and those that it had not taken.
    The other one loses none. The next start has a clean state."""
    both = await Queues.start(dut, slow, order=6)
    for n in range(16):
        queue = n % 2
        driver, other = both.drivers[queue], both.drivers[1 - queue]
        for _ in range(random.randrange(12)):
            both.send(flow())
        await both.mac.clocks(random.randrange(1500))
        await driver.stop()
        both.mac.memory.bursts.clear()
        both.due[queue] = []
        for _ in range(6):
            both.send(both.for_queue(queue))
        await both.expect(1 - queue)
        await both.mac.settle()
        start, end = driver.rx.base, driver.end
        assert not any(start <= address < end
                       for _, address, _ in both.mac.memory.bursts), "the disabled queue used the bus"
        both.due[queue] = []
        await driver.start()
        for _ in range(4):
            both.send(both.for_queue(queue))
        await both.expect_all()
        assert other.receive() is None


@cocotb.test()
async def works_with_driver_of_one_queue(dut):
    """A driver that does not use queue 1: after reset, all frames are for queue 0."""
    both = await Queues.start(dut, enable=(True, False), order=6)
    await both.regs.write("RSS_TYPES", 0)
    for word in range(4):
        await both.regs.write(f"RSS_TABLE_{word}", 0)
    both.table = [0]*128
    for _ in range(40):
        both.send(flow())
    assert not both.due[1]
    await both.expect(0)
    await both.drivers[0].stop()


@cocotb.test()
@cocotb.parametrize(off=[0, 1])
async def disabled_queue_gets_no_frames(dut, off):
    """A disabled queue stays idle and counts nothing, whatever frames arrive: they are dropped."""
    both = await Queues.start(dut, enable=(off != 0, off != 1))
    for _ in range(40):
        both.wire.send(add_fcs(both.for_queue(off)))
    passing = cocotb.start_soon(both.wire.sent())
    while not passing.done():
        assert await both.regs.read("STATUS", f"RX{both.drivers[off].number}_IDLE")
    await both.mac.settle()
    assert await both.regs.read("RX_GOOD_FRAMES") == 0


# Transmit -----------------------------------------------------------------------------------------

def marked(queue, length):
    """A frame that contains the number of its queue."""
    return bytes([2 + 4*queue]) + plain(length)[1:]


async def feed(driver, frames, **flags):
    for frame in list(frames):
        checksum = (14, 40) if len(frame) % 2 else None
        await driver.send(frame, random.randrange(64), checksum, **flags)


def as_sent(frame):
    return (inserted(frame, 14, 40) if len(frame) % 2 else frame).ljust(MIN, b"\0")


@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.5])
async def both_send(dut, slow):
    """Frames of any length from any address, with and without checksums: in order within each
    queue."""
    both = await Queues.start(dut, slow)
    frames = [[marked(queue, random.choice((MIN, 61, 64, 300, 1514))) for _ in range(60)]
              for queue in range(2)]
    for queue in range(2):
        cocotb.start_soon(feed(both.drivers[queue], frames[queue]))
    for _ in range(120):
        got = await both.wire.receive()
        assert got == as_sent(frames[got[0] >> 2].pop(0))
    for driver in both.drivers:
        assert not any(await driver.reclaim_all())
    assert both.mac.events["tx_completed"] == 120


@cocotb.test()
@cocotb.parametrize(lengths=[(MIN, MIN), (MIN, 1514), (1514, MIN)])
async def turns_are_fair(dut, lengths):
    """While both have frames and the FIFO is full, they take turns, with frames of any length.
    Short frames do not take the room from a long one. While the FIFO fills, neither gets far ahead."""
    both = await Queues.start(dut, order=7)
    frames = [[marked(queue, length) for _ in range(120)] for queue, length in enumerate(lengths)]
    for queue, driver in enumerate(both.drivers):
        for frame in frames[queue]:
            driver.queue(frame)
        await driver.tx.doorbell()
    order = [(await both.wire.receive())[0] >> 2 for _ in range(240)]
    full = order[150:210]  # neither has sent all
    assert all(one != other for one, other in zip(full, full[1:])), order
    assert sum(order) == 120
    for sent in range(240 - 40):
        assert abs(sum(order[:sent]) - sent/2) <= 10, order


@cocotb.test()
async def senders_at_the_line_rate(dut):
    """The wire does not wait while they take turns."""
    both = await Queues.start(dut, order=6)
    for queue, driver in enumerate(both.drivers):
        for _ in range(50):
            driver.queue(marked(queue, MIN), 2, (14, 40))
        await driver.tx.doorbell()
    for _ in range(100):
        await both.wire.receive()
    octets = 100*(8 + MIN + 4 + 12) - 12
    assert both.wire.took <= octets * 1.01


@cocotb.test()
async def fills_all_frame_records(dut):
    """Frames so short, on so slow a wire, that the frame records run out before the words: none is
    lost, from either queue."""
    both = await Queues.start(dut, order=7, link=100)
    frames = [[marked(queue, MIN)[:random.randint(14, 20)] for _ in range(100)] for queue in range(2)]
    for queue, driver in enumerate(both.drivers):
        for frame in frames[queue]:
            driver.queue(frame)
        await driver.tx.doorbell()
    for _ in range(200):
        got = await both.wire.receive()
        assert got == frames[got[0] >> 2].pop(0).ljust(MIN, b"\0")
    for driver in both.drivers:
        assert not any(await driver.reclaim_all())


@cocotb.test()
async def the_last_frames_leave(dut):
    """One queue only, after both were active: it waits for no turn."""
    both = await Queues.start(dut)
    for _ in range(10):
        for queue in random.sample(range(2), 2):
            frame = marked(queue, random.choice((MIN, 1000)))
            await both.drivers[queue].send(frame)
            assert await both.wire.receive() == frame
            await both.drivers[queue].reclaim_all()


@cocotb.test()
async def invalid_lengths_affect_one_queue(dut):
    """Invalid descriptors complete with ERROR at their queue, in order, while the other queue
    sends."""
    both = await Queues.start(dut, order=6)
    bad, good = both.drivers
    sizes = [0, 100, 0, 5000, 100, 5000, 0] * 3
    frames = [marked(1, random.choice((MIN, 700))) for _ in range(40)]
    sending = cocotb.start_soon(feed(good, frames))
    for size in sizes:
        bad.queue(marked(0, size) if size > 12 else b"")
    await bad.tx.doorbell()
    assert await bad.reclaim_all() == [size != 100 for size in sizes]
    await sending
    for _ in range(40 + sizes.count(100)):
        got = await both.wire.receive()
        assert got[0] == 2 or got == as_sent(frames.pop(0))
    assert await both.regs.read("TX_DROP_LENGTH") == len(sizes) - sizes.count(100)
    assert await both.regs.read("TX1_DROP_LENGTH") == 0


@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.3])
async def senders_stop_in_turn(dut, slow):
    """Stops at any moment, also while waiting for room: the other queue continues, with whole
    frames only."""
    both = await Queues.start(dut, slow, order=6)
    await both.mac.clocks(200)
    for n in range(8):
        queue = n % 2
        driver, other = both.drivers[queue], both.drivers[1 - queue]
        sent = [[], []]
        for number, each in enumerate(both.drivers):
            for _ in range(6):
                sent[number].append(marked(number, random.choice((MIN, 300, 1514))))
                each.queue(sent[number][-1], random.randrange(8), (14, 40))
            await each.tx.doorbell()
        await both.mac.clocks(random.randrange(4000))
        await driver.stop()
        await other.reclaim_all()
        await both.mac.clocks(8000)  # the frames in the FIFOs leave
        while both.wire.waiting():
            got = await both.wire.receive()
            assert got == inserted(sent[got[0] >> 2].pop(0), 14, 40)
        assert not sent[1 - queue]
        await driver.start()


# Errors -------------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(stopped=[0, 1])
async def disabled_queue_discards_waiting_frames(dut, stopped):
    """A disabled queue is idle when its frames have left the FIFO; its next ring gets none of them."""
    both = await Queues.start(dut)
    await both.mac.settle()
    both.mac.memory.starve(True)
    for _ in range(3):
        both.send(both.for_queue(1 - stopped, 400))
    both.wire.send(add_fcs(both.for_queue(stopped)))
    await both.mac.clocks(3000)
    stopping = cocotb.start_soon(both.drivers[stopped].stop())
    await both.mac.clocks(1000)
    assert not stopping.done()
    both.mac.memory.starve(False)
    await stopping
    await both.drivers[stopped].start()
    both.send(both.for_queue(stopped, 300))
    await both.expect_all()


@cocotb.test()
@cocotb.parametrize(halted=[0, 1], direction=["rx", "tx"])
async def one_queue_halts(dut, halted, direction):
    """Memory fails its statuses: the queue halts, and reports it. The other queue continues in both
    directions, as does this one after it was disabled."""
    both = await Queues.start(dut)
    driver, other = both.drivers[halted], both.drivers[1 - halted]
    ring = getattr(driver, direction)
    both.mac.memory.refuse(writes=lambda address: ring.base <= address < ring.base + 16*ring.size)
    for _ in range(2):
        if direction == "rx":
            both.wire.send(add_fcs(both.for_queue(halted)))
        else:
            await driver.send(marked(halted, MIN))
    await both.mac.settle()
    status = [await both.regs.read("STATUS", f"{d.upper()}{drv.number}_HALTED")
              for d in ("rx", "tx") for drv in both.drivers]
    assert status == [d == direction and n == halted for d in ("rx", "tx") for n in range(2)]
    while both.wire.waiting():
        await both.wire.receive()
    frames = [marked(1 - halted, random.choice((MIN, 900))) for _ in range(40)]
    sending = cocotb.start_soon(feed(other, frames))
    for _ in range(60):
        both.send(both.for_queue(1 - halted))
        if direction == "rx":
            both.wire.send(add_fcs(both.for_queue(halted)))
    await both.expect(1 - halted)
    await sending
    for frame in frames:
        assert await both.wire.receive() == as_sent(frame)
    both.mac.memory.refuse()
    await driver.stop()
    assert not await both.regs.read("STATUS", f"{ring.prefix}_HALTED")
    await driver.start()
    both.send(both.for_queue(halted))
    await both.expect_all()
    frame = marked(halted, 100)
    await driver.send(frame)
    assert await both.wire.receive() == frame


@cocotb.test()
async def survives_stalled_bus(dut):
    """Frames that arrive at the queues are intact and in order; the others were dropped at the
    FIFO."""
    both = await Queues.start(dut, order=6)

    async def starve():
        while True:
            for stopped in (True, False):
                both.mac.memory.starve(stopped)
                await both.mac.clocks(random.randrange(1, 3000))

    starving = cocotb.start_soon(starve())
    for _ in range(150):
        both.send(flow(random.choice((MIN, 300, 1000))))
    await both.wire.sent()
    starving.cancel()
    both.mac.memory.starve(False)
    await both.mac.settle()
    dropped = await both.regs.read("RX_DROP_FIFO") + await both.regs.read("RX_DROP_RING") + \
        await both.regs.read("RX1_DROP_RING")
    count = 0
    for queue, driver in enumerate(both.drivers):
        left = iter(both.due[queue])
        while (frame := driver.receive()) is not None:
            assert any(frame.data == other for other in left), "corrupted, reordered or misdirected"
            count += 1
    assert count == 150 - dropped


# Interrupts ---------------------------------------------------------------------------------------

@cocotb.test()
async def each_has_its_interrupts(dut):
    """Each queue's own settings moderate its interrupts, and frames of the other one raise none."""
    both = await Queues.start(dut, RX_FRAMES=4)
    await both.regs.write("RX1_FRAMES", 7)
    lines = [dut.irq_rx, dut.irq_rx1]
    for queue, frames in ((0, 4), (1, 7)):
        for _ in range(2):
            for _ in range(frames):
                assert [int(line.value) for line in lines] == [0, 0]
                both.send(both.for_queue(queue))
                await both.mac.settle()
            assert [int(line.value) for line in lines] == [queue == 0, queue == 1]
            await both.expect(queue)
            await both.drivers[queue].rx.rearm()
            await both.mac.clocks(20)
    names = [f"{prefix}_INTERRUPTS" for prefix in ("RX", "RX1", "TX", "TX1")]
    assert [await both.regs.read(name) for name in names] == [2, 2, 0, 0]
    assert [await both.regs.read(f"{name}_FRAMES") for name in names] == [2, 2, 0, 0]
    assert both.mac.events["rx_interrupt"] == 4


@cocotb.test()
@cocotb.parametrize(timer=["ABSOLUTE_TIMER", "PACKET_TIMER", "GAP"])
async def each_ring_has_its_timers(dut, timer):
    """Both directions of both queues: an interrupt's delay is that of the ring's own register."""
    both = await Queues.start(dut, **dict.fromkeys(("RX_FRAMES", "TX_FRAMES"), int(timer == "GAP")))
    rings = [ring for driver in both.drivers for ring in (driver.rx, driver.tx)]
    random.shuffle(rings)
    apart = 2000  # clocks; all frames take less
    for place, ring in enumerate(rings, 1):
        await both.regs.write(f"{ring.prefix}_{timer}", place*apart)
    start = get_sim_time("ns")

    async def late(ring):
        """Clocks since the frames were sent. A GAP delays the second interrupt."""
        line = getattr(dut, f"irq_{ring.prefix.lower()}")
        await RisingEdge(line)
        if timer == "GAP":
            await ring.rearm()
            await RisingEdge(line)
        return (get_sim_time("ns") - start) / SYS_PERIOD_NS

    waiting = [cocotb.start_soon(late(ring)) for ring in rings]
    for queue, driver in enumerate(both.drivers):
        both.send(both.for_queue(queue))
        await driver.send(marked(queue, MIN))
    for place, (ring, task) in enumerate(zip(rings, waiting, strict=True), 1):
        assert place*apart < await task < (place + 1)*apart, ring.prefix


MODERATIONS = [{"RX_FRAMES": 1}, {"RX_PACKET_TIMER": 300}, {"RX_ABSOLUTE_TIMER": 1000},
               {"RX_FRAMES": 4, "RX_PACKET_TIMER": 100, "RX_GAP": 700}]


@cocotb.test()
@cocotb.parametrize(number=range(len(MODERATIONS)))
async def no_interrupt_is_lost(dut, number):
    """Both queues at once; only interrupts make the drivers poll."""
    settings = MODERATIONS[number]
    both = await Queues.start(dut, **settings)
    got, handlers = [[], []], []
    for queue, (driver, line) in enumerate(zip(both.drivers, (dut.irq_rx, dut.irq_rx1))):
        async def poll(driver=driver, queue=queue):
            frame = driver.receive()
            if frame is not None:
                got[queue].append(frame.data)
                await driver.post_buffers()
            return frame

        handlers.append(Handler(both.mac, driver.rx, line, poll))
    for _ in range(120):
        both.send(flow(random.randrange(MIN, 200)))
        if random.random() < 0.2:
            await both.mac.settle()
    await both.mac.settle()
    await both.mac.clocks(sum(settings.values()) + 1500)
    assert got == both.due
    raised = [await both.regs.read(f"{prefix}_INTERRUPTS") for prefix in ("RX", "RX1")]
    assert raised == [handler.raises for handler in handlers] and min(raised) > 0
    assert both.mac.events["rx_interrupt"] == sum(raised)


@cocotb.test()
async def queues_raise_in_same_clock(dut):
    """Both Tx rings are halted, then armed at once: two interrupts are counted, not one."""
    both = await Queues.start(dut)
    rings = [driver.tx for driver in both.drivers]
    both.mac.memory.refuse(writes=lambda address: any(
        ring.base <= address < ring.base + 16*ring.size for ring in rings))
    for queue, driver in enumerate(both.drivers):
        await driver.send(marked(queue, MIN))
    await both.mac.settle()
    for driver in both.drivers:
        await driver.tx.rearm()
    before = both.mac.events["tx_interrupt"]
    together = cocotb.start_soon(rising_together(dut, dut.irq_tx, dut.irq_tx1))
    await both.drivers[0].enable(HALT_INTERRUPT=1)
    await both.mac.clocks(50)
    assert await together
    assert both.mac.events["tx_interrupt"] - before == 2
    assert [await both.regs.read(f"TX{n}_INTERRUPTS_HALTED") for n in ("", "1")] == [1, 1]
    both.mac.memory.refuse()


@cocotb.test()
async def late_interrupts_are_counted(dut):
    """Interrupts long after the last frame: each queue's are counted, and signalled."""
    both = await Queues.start(dut, RX_ABSOLUTE_TIMER=20_000, TX_ABSOLUTE_TIMER=20_000)
    for queue, driver in enumerate(both.drivers):
        both.send(both.for_queue(queue))
        await driver.send(marked(queue, MIN))
        before = dict(both.mac.events)
        await both.mac.clocks(25_000)
        for direction in ("rx", "tx"):
            raised = both.mac.events[f"{direction}_interrupt"] - before[f"{direction}_interrupt"]
            assert raised == 1, direction
            name = f"{direction.upper()}{driver.number}_INTERRUPTS_ABSOLUTE"
            assert await both.regs.read(name) == 1, name


async def rising_together(dut, one, other):
    while not (int(one.value) or int(other.value)):
        await RisingEdge(dut.sys_clk)
    return int(one.value) and int(other.value)


@cocotb.test()
@cocotb.parametrize(urgent=[0, 1])
async def urgent_frames_raise_their_queue(dut, urgent):
    both = await Queues.start(dut, RX_FRAMES=30, RX_ABSOLUTE_TIMER=400_000)
    wanted = both.for_queue(urgent)
    await both.regs.write("URGENT_VALUE_0", int.from_bytes(wanted[24:28], "little"))
    await both.regs.write("URGENT_MASK_0", 0xFFFFFFFF)
    await both.regs.write("URGENT", 0x61)  # octets 24 to 27
    for queue in (0, 1):
        both.send(both.for_queue(queue))
    await both.mac.settle()
    assert not int(dut.irq_rx.value) and not int(dut.irq_rx1.value)
    both.send(wanted)
    await both.mac.settle()
    assert [int(dut.irq_rx.value), int(dut.irq_rx1.value)] == [urgent == 0, urgent == 1]
    await both.expect_all()


@cocotb.test()
@cocotb.parametrize(queue=[0, 1])
async def each_ring_requests_pause(dut, queue):
    """A queue without descriptors requests a pause; a disabled one does not."""
    both = await Queues.start(dut, order=6)
    settings = {"PAUSE_QUANTUM": 52, "PAUSE_QUANTA": 40, "PAUSE_RING": 16 | 32 << 16, "PAUSE": 2}
    for name, value in settings.items():
        await both.regs.write(name, value)
    driver = both.drivers[queue]
    for _ in range(54):
        both.send(both.for_queue(queue))
    await both.wire.sent()
    await both.mac.clocks(300)
    assert await both.regs.read("STATUS", "RX_PAUSED")
    await both.expect(queue)
    await both.mac.clocks(300)
    assert not await both.regs.read("STATUS", "RX_PAUSED")
    for _ in range(54):
        both.send(both.for_queue(queue))
    await both.wire.sent()
    await both.mac.clocks(300)
    assert await both.regs.read("STATUS", "RX_PAUSED")
    await driver.stop()
    await both.mac.clocks(300)
    assert not await both.regs.read("STATUS", "RX_PAUSED")


@cocotb.test()
async def each_adapts_its_moderation(dut):
    """Pacing of queue 1 depends on the load of its own driver."""
    both = await Queues.start(dut, RX_FRAMES=1)
    for prefix in ("RX", "RX1"):
        await both.regs.write(f"{prefix}_ABSOLUTE_TIMER", 100)
        await both.regs.write(f"{prefix}_PACING_LONGEST", 800)
    await both.regs.write("RX_DISARM", 0)
    await both.mac.clocks(2 * 32768 + 100)
    assert await both.regs.read("RX_PACING") > 0 and await both.regs.read("RX1_PACING") == 0
    await both.drivers[0].rx.rearm()
    await both.regs.write("RX1_DISARM", 0)
    await both.mac.clocks(2 * 32768 + 100)
    assert await both.regs.read("RX_PACING") == 0 and await both.regs.read("RX1_PACING") > 0


# Everything at once -------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.4])
async def both_queues_both_ways(dut, slow):
    both = await Queues.start(dut, slow, order=6)
    outward = [[marked(queue, random.choice((MIN, 61, 300, 1514))) for _ in range(50)]
               for queue in range(2)]
    for _ in range(160):
        both.send(flow(random.choice((MIN, MIN, 300))))
    sending = [cocotb.start_soon(feed(both.drivers[queue], outward[queue])) for queue in range(2)]
    receiving = cocotb.start_soon(both.expect_all())
    left = [list(frames) for frames in outward]
    for _ in range(100):
        got = await both.wire.receive()
        assert got == as_sent(left[got[0] >> 2].pop(0))
    for task in sending:
        await task
    await receiving


# Time stamps --------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(stops=[False, True])
async def each_has_its_stamps(dut, stops):
    """Frames of both queues request stamps at random, and get their own. While one queue stops and
    starts, the other one's are unaffected."""
    both = await Queues.start(dut, order=6)
    zero = await start_clock(both.mac, 0)
    started, disturbing = [[], []], None

    async def feed(queue, driver):
        for _ in range(80):
            asks = random.random() < (0.8, 0.4)[queue]
            frame = bytes([2 + 4*queue, asks]) + plain(random.choice((MIN, 61, 300)))[2:]
            await driver.send(frame, random.randrange(8), TIMESTAMP=asks)

    async def disturb(driver):
        while True:
            for _ in range(8):
                driver.queue(bytes([2]) + plain(300)[1:], TIMESTAMP=1)
            await driver.tx.doorbell()
            await both.mac.clocks(random.randrange(3000))
            await driver.stop()
            driver.stamps.clear()
            await driver.start()

    feeding = [cocotb.start_soon(feed(queue, driver)) for queue, driver in enumerate(both.drivers)
               if queue or not stops]
    if stops:
        disturbing = cocotb.start_soon(disturb(both.drivers[0]))
    left = [80 * (not stops), 80]
    while any(left):
        frame = await both.wire.receive()
        queue = frame[0] >> 2
        left[queue] -= 1
        if frame[1]:
            started[queue].append(round(both.wire.started + zero) % 2**32)
        if stops:
            left[0] = 0
    for task in feeding:
        await task
    if stops:
        disturbing.cancel()
    for queue in range(int(stops), 2):
        assert not any(await both.drivers[queue].reclaim_all())
        assert both.drivers[queue].stamps == started[queue]
