# SPDX-License-Identifier: BSD-2-Clause
"""Launch times of sent frames, against the wire's own times.

A frame is on time if its octet after the start-of-frame delimiter leaves at its launch time or less than
`Timed.window` ns later. Otherwise it must be counted as late.
"""

import random

import cocotb
from cocotb.triggers import ClockCycles
from cocotb.utils import get_sim_time

from bench.models.driver import Driver
from bench.mac import Mac
from bench.wires.wire import GAP, add_fcs
from cases import pausing
from cases.basics import MAX, MIN
from cases.stamps import command, start_clock, sys_period
from cases.two_queues import marked

FAR = 10**9  # ns: no simulation takes as long
# By device and Mb/s: LAUNCH_AHEAD, and the longest delay by PHY and clock phases, in ns.
PHY = {("mac_launch_gated", 1000): (0, 0), ("mac_launch_gated", 100): (576, 5),
       ("mac_launch_gated", 10): (6336, 5), ("mac_launch_rates", 1000): (0, 16),
       ("mac_launch_rates", 100): (768, 90), ("mac_launch_rates", 10): (8688, 850)}
PHY |= {(device, link): PHY["mac_launch_gated", link] for link in (10, 100, 1000)
        for device in ("mac_gates_gated", "mac_shaper_gated")}


class Timed:
    """The MAC with both queues' drivers. `zero` is the clock's time at the simulation's start."""

    @classmethod
    async def start(cls, dut, link=1000, order=5):
        timed = cls()
        timed.mac = mac = await Mac.start(dut, link, driver={"tx_order": order})
        other = Driver(dut, mac.memory, tx_order=order, first=mac.driver)
        await other.start()
        timed.drivers = mac.driver, other
        timed.zero = await start_clock(mac, 0xFFFF_0000)  # the lower word wraps soon
        timed.octet = 8000 // link
        ahead, jitter = PHY[dut._name, link]
        await mac.regs.write("LINK_OCTET", timed.octet)
        await mac.regs.write("LAUNCH_AHEAD", ahead)
        timed.period = sys_period(mac)
        timed.window = timed.period + jitter
        return timed

    @property
    def now(self):
        return int(get_sim_time("ns") + self.zero)

    async def until(self, time):
        await ClockCycles(self.mac.dut.sys_clk, max(1, int((time - self.now) / self.period)))

    async def receive(self, us=2000):
        """The next frame, and when it started."""
        frame = await self.mac.wire.receive(us)
        return frame, self.mac.wire.started + self.zero

    def on_time(self, late):
        return -0.5 <= late < self.window + 0.5

    async def counters(self):
        await self.mac.clocks(200)
        counters = await self.mac.regs.counters()
        return counters["TX_LAUNCH_LATE"], counters["TX_LAUNCH_DROPS"]


def takes(length):
    """Octet times between the starts of two consecutive frames."""
    return 8 + max(length, MIN) + 4 + GAP


# On time ------------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(link=[10, 100, 1000])
async def leaves_at_its_time(dut, link):
    """Frames of any length from any address, with tags or without, of both queues, far apart and
    close together; their stamps confirm it."""
    timed = await Timed.start(dut, link)
    sent = [[], []]
    at = timed.now + 8000 + 20*timed.octet
    for _ in range(30):
        queue, length = random.randrange(2), random.choice((MIN, 61, 99, 301))
        frame = marked(queue, length)
        sent[queue].append((frame, at, length))
        at += random.randrange(3000) + (takes(length) + 24) * timed.octet

    async def feed(driver, frames):
        for frame, at, _ in frames:
            await driver.send(frame, random.randrange(64), launch=at, TIMESTAMP=1)

    for driver, frames in zip(timed.drivers, sent):
        cocotb.start_soon(feed(driver, frames))
    left = [list(frames) for frames in sent]
    for _ in range(30):
        frame, start = await timed.receive(20_000)
        expected, at, _ = left[frame[0] >> 2].pop(0)
        assert frame == expected
        assert timed.on_time(start - at), f"{start - at} ns late"
    for driver, frames in zip(timed.drivers, sent):
        assert not any(await driver.reclaim_all())
        for stamp, (_, at, _) in zip(driver.stamps, frames, strict=True):
            assert abs(stamp - at % 2**32) < 2*timed.window + 1
    assert await timed.counters() == (0, 0)


@cocotb.test()
async def saturated_queue_leaves_room(dut):
    """While queue 0 always has frames, those of queue 1 leave on time. Queue 0 pauses only for a
    frame that would not have left in time."""
    timed = await Timed.start(dut, order=6)
    count, at = 24, timed.now + 30_000
    launched, starts = [], []
    for _ in range(count):
        launched.append((marked(1, random.choice((MIN, 200, MAX))), at))
        at += 26_000 + random.randrange(8000)
    stop = False

    async def flood():
        driver = timed.drivers[0]
        while not stop:
            driver.reclaim()
            while driver.tx.room:
                driver.queue(marked(0, random.choice((MIN, MIN, 300, MAX))), random.randrange(8))
            await driver.tx.doorbell()

    async def feed():
        for frame, at in launched:
            await timed.drivers[1].send(frame, random.randrange(8), launch=at)

    flooding = cocotb.start_soon(flood())
    cocotb.start_soon(feed())
    while launched:
        frame, start = await timed.receive()
        starts.append((start, frame[0] >> 2, len(frame)))
        if frame[0] >> 2:
            expected, at = launched.pop(0)
            assert frame == expected
            assert timed.on_time(start - at), f"{start - at} ns late"
    stop = True
    await flooding
    await timed.drivers[0].reclaim_all()
    await timed.mac.clocks(8000)  # the frames in the FIFO leave
    slack = 40 * timed.octet  # the octets that the guard adds, and the time to decide
    for (one, _, length), (other, queue, _) in zip(starts[20:], starts[21:]):
        idle = other - one - takes(length) * timed.octet
        assert idle < slack or (queue and idle < takes(MAX) * timed.octet + slack), f"{idle} ns idle"
    assert await timed.counters() == (0, 0)


# Late ---------------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(drop=[0, 1])
async def late_frames_are_counted(dut, drop):
    """Frames with launch times in random order, some already past. The MAC counts each late frame:
    it drops those with DROP_LATE, and sends the others. Completions and stamps agree."""
    timed = await Timed.start(dut, order=6)
    driver, mac = timed.drivers[1], timed.mac
    posted, when, late, starts, dropped, free = [], [], [], [], [], 0
    base = timed.now
    for _ in range(60):
        base += random.choice((0, 0, 1000, 3000))
        posted.append((marked(1, random.choice((MIN, 61, 300))),
                       base + random.choice((-2000, 3000, 3000, 3000, 6000, 1500)),
                       random.randrange(2)))
    for frame, at, stamp in posted:
        while at - timed.now > 12_000:
            await mac.clocks(100)
        when.append(timed.now)
        await driver.send(frame, random.randrange(8), launch=at, DROP_LATE=drop, TIMESTAMP=stamp)
    await mac.clocks(4000)
    came = None
    for n, (frame, at, stamp) in enumerate(posted):
        if came is None and mac.wire.waiting():
            came, start = await timed.receive()
        if came == frame:
            came = None
            assert start > at - 1
            late.append(start - at)
            starts += [start] * stamp
            free = start + takes(len(frame)) * timed.octet
        else:
            # It came too late to the MAC, or after a frame that was in the way.
            assert drop and at < max(when[n] + 3000, free + 300), "a frame is missing"
            dropped.append(n)
    assert came is None and not mac.wire.waiting()
    counted, drops = await timed.counters()
    assert drops == len(dropped) and bool(drops > 5) == drop
    # The MAC decides by its own start, in steps of its clock.
    least = sum(value > timed.window + timed.period + 16 for value in late)
    most = sum(not timed.on_time(value) for value in late)
    assert least <= counted <= most and (least > 5) != drop and (not drop or most == 0)
    errors = await driver.reclaim_all()
    assert errors == [n in dropped and bool(stamp) for n, (_, _, stamp) in enumerate(posted)]
    for stamp, start in zip(driver.stamps, starts, strict=True):
        assert abs(stamp - start % 2**32) < 2*timed.window + 1


@cocotb.test()
async def dropped_frames_leave_room(dut):
    """A flood of late frames in one queue, each with a request for a stamp: the other queue's frames
    leave on time or at once, and every frame completes."""
    timed = await Timed.start(dut)
    driver, other = timed.drivers
    stop, count = False, 0

    async def flood():
        nonlocal count
        while not stop:
            await other.send(marked(1, MIN), launch=timed.now - 50, DROP_LATE=1, TIMESTAMP=1)
            count += 1

    flooding = cocotb.start_soon(flood())
    for n in range(12):
        frame, at = marked(0, random.choice((MIN, 300))), timed.now + 8000
        await driver.send(frame, **({"launch": at} if n % 2 else {}))
        got, start = await timed.receive()
        assert got == frame
        assert timed.on_time(start - at) if n % 2 else start < at
    stop = True
    await flooding
    await other.reclaim_all()
    assert await timed.counters() == (0, count) and count > 20


# Rings end, clocks change --------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(queue=[0, 1])
async def disabled_ring_drops_held_frames(dut, queue):
    """A ring with frames for a time far ahead is idle at once when it is disabled. The frames are
    dropped and counted, the other queue continues, and later frames have their own stamps."""
    timed = await Timed.start(dut)
    driver, other = timed.drivers[queue], timed.drivers[1 - queue]
    for count in (1, 3, 12):
        before = await timed.counters()
        for n in range(count):
            driver.queue(marked(queue, 100), launch=timed.now + FAR, TIMESTAMP=n % 2)
        await driver.tx.doorbell()
        for _ in range(5):
            frame = marked(1 - queue, 300)
            await other.send(frame)
            assert await timed.mac.wire.receive() == frame
        await driver.stop(clocks=1000)
        driver.asks.clear()
        await driver.start(rx=False)
        frame, at = marked(queue, MIN), timed.now + 5000
        driver.stamps.clear()
        await driver.send(frame, launch=at, TIMESTAMP=1)
        got, start = await timed.receive()
        assert got == frame and timed.on_time(start - at)
        assert await driver.reclaim_all() == [False]
        assert abs(driver.stamps[0] - at % 2**32) < 2*timed.window + 1
        # The ring holds no more than its FIFO's stamped frames let it read.
        counted, drops = await timed.counters()
        assert counted == before[0] and before[1] < drops <= before[1] + count
        await driver.stop()
        await driver.start(rx=False)


@cocotb.test()
@cocotb.parametrize(drop=[0, 1])
async def obeys_clock_that_steps(dut, drop):
    """A held frame leaves at its time by the clock as it is now: on time after steps to just before
    it, late after a step beyond it."""
    timed = await Timed.start(dut)
    mac = timed.mac
    for steps, on_time in (((FAR - 60_000,), True), ((-FAR, 2*FAR - 60_000), True),
                           ((FAR + 5000,), False)):
        frame, at = marked(1, 100), timed.now + FAR + 2000
        await timed.drivers[1].send(frame, launch=at, DROP_LATE=drop)
        for step in steps:
            await mac.clocks(1000)
            assert not mac.wire.waiting()
            await command(mac, "STEP", step)
            timed.zero += step
        if on_time or not drop:
            got, start = await timed.receive()
            assert got == frame and timed.on_time(start - at) == on_time
    assert await timed.counters() == (int(not drop), drop)


@cocotb.test()
@cocotb.parametrize(drop=[0, 1])
async def pause_makes_frame_late(dut, drop):
    """A pause of the other end comes first: a frame whose time is during the pause is dropped at once,
    or leaves after the pause, and is counted."""
    timed = await Timed.start(dut)
    mac = timed.mac
    await mac.regs.write("PAUSE_QUANTUM", round(512 * timed.octet / 8 / timed.period))
    await mac.regs.write("PAUSE", pausing.OBEY)
    mac.wire.send(add_fcs(pausing.pause(80)))
    await mac.wire.sent()
    await mac.clocks(200)
    frame, at = marked(1, 100), timed.now + 8000
    await timed.drivers[1].send(frame, launch=at, DROP_LATE=drop, TIMESTAMP=1)
    await timed.until(at + 2000)
    assert await timed.counters() == (0, drop)
    after = marked(1, MIN)
    await timed.drivers[1].send(after)
    got, start = await timed.receive()
    assert got == (after if drop else frame) and start > at + 10_000
    assert await timed.drivers[1].reclaim_all() == ([True, False] if drop else [False, False])
    assert await timed.counters() == (1 - drop, drop)


# Bad input ----------------------------------------------------------------------------------------

@cocotb.test()
async def bad_frames_do_not_wait(dut):
    """Frames with a failed read or an invalid length complete with ERROR at once, without waiting for
    their time, and count as nothing. DROP_LATE alone means nothing. The word of TX_LAUNCH requests
    no checksum."""
    timed = await Timed.start(dut)
    driver, mac = timed.drivers[1], timed.mac
    for n in range(4):
        driver.queue(marked(1, 100), launch=timed.now + FAR, DROP_LATE=n % 2, TIMESTAMP=n // 2)
    bad = range(driver.tx.posted[0], driver.tx.posted[-1] + 100)
    mac.memory.refuse(reads=lambda address: address in bad)
    driver.tx.post(0x3_0000, 0x3_0000, 0, LENGTH=0, LAUNCH=1, TIMESTAMP=1)
    driver.asks.append(True)
    await driver.tx.doorbell()
    assert await driver.reclaim_all() == [True] * 5
    mac.memory.refuse()
    frame = marked(1, 80)
    await driver.send(frame, DROP_LATE=1)
    assert await mac.wire.receive() == frame
    for _ in range(10):
        frame, at = marked(1, 80), timed.now + 4000
        await driver.send(frame, launch=at)
        got, start = await timed.receive()
        assert got == frame and timed.on_time(start - at)
    assert await timed.counters() == (0, 0)
