# SPDX-License-Identifier: BSD-2-Clause
"""Credit-based shapers, against the wire's own times and the standard's arithmetic.

A model follows the credit of each queue that always has frames, in octets of the wire. No frame may
start earlier than the credit allows. The line must not be idle, or carry a frame of a lower queue,
while a frame may start. The MAC decides up to BACKLOG octet times before a frame is on the wire.
"""

import random
from collections import deque
from math import inf

import cocotb

from bench.mac import Mac
from bench.models.driver import Driver
from bench.wires.wire import add_fcs
from cases import pausing
from cases.basics import MAX, MIN
from cases.gates import BACKLOG, NOTICE, Gated
from cases.launches import takes
from cases.stamps import sys_period
from cases.two_queues import marked

LENGTHS = MIN, 61, 300, MAX
FRACTION = 2**24  # of an octet, in slopes
LEAST = 65535     # LOW_CREDIT that no frame reaches
FILLS = 30_000    # ns that memory takes to fill a FIFO


class Credit:
    """The credit of a queue that has frames from `since` on: it is between `least` and `most` octets.
    Without `since`, it is known when the first frame starts. The queue's FIFO may be empty until it is
    `full`: then, credit is lost.

    idle: octets in a ns.
    """

    def __init__(self, idle, high, since=None):
        self.idle, self.high, self.fresh = idle, high, True
        self.most, self.least, self.at, self.full = 0, 0, since, (since or 0) + FILLS
        if since is None:
            self.most, self.least, self.at = high, -inf, 0

    def starts(self, begin, length):
        gain = self.idle * (begin - self.at)
        self.most = min(self.most + gain, self.high) - takes(length)
        empty = self.fresh or begin < self.full
        self.least = min(0 if empty else self.least + gain, self.high) - takes(length)
        self.at, self.fresh = begin, False

    @property
    def earliest(self):
        """When the next frame may start at the earliest."""
        return self.at + max(0, -self.most) / self.idle

    @property
    def latest(self):
        return self.at + max(0, -self.least) / self.idle


class Shaped(Gated):
    """The MAC with both queues' drivers. `left`: frames of each queue that have not left. `credits`:
    of each queue that always has frames, its Credit, or None without a shaper."""

    @classmethod
    async def start(cls, dut, link=1000, order=5):
        if dut._name == "mac_shaper_gated":
            shaped = await super().start(dut, link, order)
        else:
            shaped = cls()
            rate = link if dut._name == "mac_shaper_sim" else None
            shaped.mac = mac = await Mac.start(dut, rate, driver={"tx_order": order})
            shaped.drivers = mac.driver, Driver(dut, mac.memory, tx_order=order, first=mac.driver)
            await shaped.drivers[1].start()
            shaped.zero, shaped.octet, shaped.period = 0, 8000 // link, sys_period(mac)
        shaped.link, shaped.regs = link, shaped.mac.regs
        shaped.hertz = await shaped.regs.read("CLOCK_HZ")
        shaped.left, shaped.credits, shaped.floods = (deque(), deque()), {}, {}
        shaped.idle_since = 0
        shaped.slack = 15 * shaped.period + NOTICE * shaped.octet
        return shaped

    def slope(self, kbps):
        """The sum that a driver makes."""
        return round(kbps * 125 * FRACTION / self.hertz)

    async def shape(self, queue, share, high, low=LEAST):
        """Gives the queue this share of the link. Returns octets in a ns."""
        kbps = round(share * self.link * 1000)
        prefix = f"TX{queue or ''}"
        for name, value in {"IDLE_SLOPE": self.slope(kbps), "HIGH_CREDIT": high, "LOW_CREDIT": low,
                            "SEND_SLOPE": self.slope(self.link * 1000 - kbps), "SHAPER": 1}.items():
            await self.regs.write(f"{prefix}_{name}", value)
        return kbps / 8 / 10**6

    async def free(self, queue):
        """Ends the shaper."""
        await self.regs.write(f"TX{queue or ''}_SHAPER", 0)

    async def pause(self):
        """No frame leaves until PAUSE is cleared."""
        await self.regs.write("PAUSE", pausing.OBEY)
        self.mac.wire.send(add_fcs(pausing.pause(0xFFFF)))
        await self.mac.wire.sent()
        await self.mac.clocks(200)

    async def send(self, queue, *lengths, **flags):
        """Sends frames, all at once. Returns the time."""
        driver = self.drivers[queue]
        driver.reclaim()
        for length in lengths:
            self.left[queue].append(marked(queue, length))
            driver.queue(self.left[queue][-1], random.randrange(64), **flags)
        await driver.tx.doorbell()
        return self.now

    def flood(self, queue, lengths=LENGTHS, credit=None):
        """The queue always has frames from now on."""
        async def feed():
            driver = self.drivers[queue]
            while queue in self.floods:
                driver.reclaim()
                while driver.tx.room:
                    self.left[queue].append(marked(queue, random.choice(lengths)))
                    driver.queue(self.left[queue][-1], random.randrange(64))
                await driver.tx.doorbell()
                await self.mac.clocks(20)

        self.floods[queue] = None
        self.floods[queue] = cocotb.start_soon(feed())
        self.credits[queue] = credit
        self.full_since = self.now + 8000 + self.slack

    async def drain(self):
        """Without shapers, the frames that are left leave."""
        floods, self.floods = self.floods, {}
        for queue, task in floods.items():
            await self.free(queue)
            await task
        self.credits = {}
        while any(self.left):
            await self.next()

    async def next(self, us=20_000):
        """Receives a frame. Returns its queue, its length, and when its preamble began."""
        frame, start = await self.receive(us)
        queue = frame[0] >> 2
        assert frame == self.left[queue].popleft()
        return queue, len(frame), start - 8 * self.octet

    async def obeys(self, until):
        """Receives frames until that time, and checks each. Returns what next() returned."""
        seen, early = [], BACKLOG * self.octet + 4 * self.period
        while self.now < until:
            queue, length, begin = await self.next()
            seen.append((queue, length, begin))
            for credit in self.credits.values():
                latest = max(credit.latest if credit else 0, self.idle_since, self.full_since)
                assert begin < latest + self.slack, f"the line is idle from {latest} to {begin}"
            if queue == 0 and (first := self.credits.get(1)):
                latest = max(first.latest, self.full_since)
                assert begin < latest + early, \
                    f"queue 1 may send from {latest}, but queue 0 does at {begin}"
            if credit := self.credits.get(queue):
                assert begin > credit.earliest - early, \
                    f"starts at {begin}, its credit allows it at {credit.earliest}"
                credit.starts(begin, length)
            self.idle_since = begin + takes(length) * self.octet
        return seen

    def octets(self, seen, queue):
        """Octets of the wire that the queue's frames took, until its last one began, and the time
        since its first one began."""
        own = [(begin, takes(length)) for number, length, begin in seen if number == queue]
        return sum(octets for _, octets in own[:-1]), own[-1][0] - own[0][0]


# Rates --------------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(link=[10, 100, 1000])
async def keeps_its_rate(dut, link):
    """Queue 1 gets its share of the line, to 0.1 % and a frame, next to a full queue 0, which gets
    the rest."""
    shaped = await Shaped.start(dut, link)
    for share in (0.07, 0.5, 0.85) if link == 1000 else (0.3,):
        if shaped.floods:
            await shaped.drain()
        high = random.choice((round(share * takes(MAX)), 5000))
        idle = await shaped.shape(1, share, high)
        shaped.flood(0)
        shaped.flood(1, credit=Credit(idle, high, shaped.now))
        seen = await shaped.obeys(shaped.now + {10: 6, 100: 3, 1000: 1}[link] * 10**6)
        octets, time = shaped.octets(seen, 1)
        assert abs(octets - idle * time) < 0.001 * idle * time + takes(MAX) + BACKLOG
        rest, _ = shaped.octets(seen, 0)
        assert rest > 0.99 * (time / shaped.octet - octets) - 2 * takes(MAX)


@cocotb.test()
async def both_queues_keep_their_rates(dut):
    """The line is idle while both lack credit."""
    shaped = await Shaped.start(dut)
    for shares in ((0.2, 0.3), (0.6, 0.05), (0.01, 0.9)):
        for queue, share in enumerate(shares):
            idle = await shaped.shape(queue, share, 8000)
            shaped.flood(queue, (MIN, 300) if share < 0.1 else LENGTHS,
                         Credit(idle, 8000, shaped.now))
        seen = await shaped.obeys(shaped.now + 600_000)
        for queue, credit in list(shaped.credits.items()):
            octets, time = shaped.octets(seen, queue)
            assert abs(octets - credit.idle * time) < 0.001 * credit.idle * time + takes(MAX) + 500
        await shaped.drain()


@cocotb.test()
async def tags_and_padding_cost_credit(dut):
    """Each frame costs its octets of the wire: with padding, and with a tag that the MAC inserts."""
    shaped = await Shaped.start(dut)
    idle = await shaped.shape(1, 0.1, 100)
    tags = await shaped.regs.read("FEATURES", "VLAN")
    driver = shaped.drivers[1]
    if tags:
        await shaped.regs.write("VLAN", 4)  # INSERT
        driver.tags = 1
    cases = [(length, tci) for length in (20, 56, 58, 60, 100) for tci in (None, 5) if tags or not tci]
    for length, tci in cases:
        for n in range(2):
            driver.queue(marked(1, length), tci=(None, tci)[n == 0])
        await driver.tx.doorbell()
        (_, first), (_, second) = [await shaped.receive() for _ in range(2)]
        cost = takes(length + 4 * (tci is not None)) / idle
        assert abs(second - first - cost) < 4 * shaped.period, f"{length} octets, tag {tci}"
        await shaped.mac.clocks(round(takes(100) / idle / shaped.period))


# Credit -------------------------------------------------------------------------------------------

@cocotb.test()
async def burst_is_bounded_by_high_credit(dut):
    """During a pause, the credit rises to HIGH_CREDIT. The frames that wait leave after it, until
    the credit is used up. A lower HIGH_CREDIT is effective at once."""
    shaped = await Shaped.start(dut)
    for high, later in ((0, 0), (700, 700), (4000, 4000), (4000, 250)):
        await shaped.pause()
        idle = await shaped.shape(1, 0.2, high)
        shaped.flood(0)
        shaped.flood(1, (MIN,), Credit(idle, later, shaped.now))
        await shaped.until(shaped.now + 1.2 * high / idle + 10_000)
        assert not shaped.mac.wire.waiting()
        await shaped.regs.write("TX1_HIGH_CREDIT", later)
        await shaped.mac.clocks(20)
        await shaped.regs.write("PAUSE", 0)
        shaped.idle_since = shaped.now + 1000
        seen = await shaped.obeys(shaped.now + 120_000)
        burst = [queue for queue, *_ in seen].index(0)
        # While a frame is on the wire, the credit rises.
        assert abs(burst - 1 - later // (takes(MIN) * 0.8)) <= 1
        await shaped.drain()


@cocotb.test()
async def idle_queue_loses_its_credit(dut):
    """Credit that is left when the last frame has left the wire is lost, and not before."""
    shaped = await Shaped.start(dut, 100)
    octet = shaped.octet
    idle = await shaped.shape(1, 0.25, 5000)
    for late in (False, True):
        await shaped.pause()
        await shaped.send(1, MIN)
        await shaped.until(shaped.now + 1500 * octet)
        await shaped.regs.write("PAUSE", 0)
        await shaped.until(shaped.now + 40 * octet)  # the frame is on the wire
        if late:
            await shaped.until(shaped.now + takes(MIN) * octet)
        await shaped.send(1, MIN, MIN)
        begins = [(await shaped.next())[2] for _ in range(3)]
        one, other = [after - before for before, after in zip(begins, begins[1:])]
        assert late or abs(one - takes(MIN) * octet) < octet
        apart = takes(MIN) / idle if late else takes(MIN) * octet
        assert abs(other - apart) < 2 * octet, f"{other} ns, not {apart}"
        await shaped.until(shaped.now + 4 * takes(MIN) / idle)


@cocotb.test()
async def debt_is_paid_while_idle(dut):
    """A negative credit rises without frames, and no higher than 0."""
    shaped = await Shaped.start(dut)
    for _ in range(12):
        share, length = random.choice((0.1, 0.4, 0.9)), random.choice(LENGTHS)
        idle = await shaped.shape(1, share, 5000)
        await shaped.send(1, length)
        _, _, begin = await shaped.next()
        due = begin + takes(length) / idle
        await shaped.until(shaped.now + random.choice((0.5, 0.9, 1.5)) * takes(length) / idle)
        sent = await shaped.send(1, MIN, MIN)
        (_, _, first), (_, _, second) = [await shaped.next() for _ in range(2)]
        assert due - 4 * shaped.period < first < max(due, sent + 1500) + shaped.slack
        assert first > due + 1500 or abs(first - due) < 4 * shaped.period or sent > due - 1500
        least = takes(MIN) * max(1 / idle, shaped.octet)
        assert abs(second - first - least) < 4 * shaped.period
        await shaped.until(shaped.now + takes(MIN) / idle)


@cocotb.test()
@cocotb.parametrize(link=[100, 1000])
async def low_credit_bounds_debt(dut, link):
    """A frame that costs more than LOW_CREDIT delays the next one by no more than that."""
    shaped = await Shaped.start(dut, link)
    for low in (0, 200, 900, 5000):
        idle = await shaped.shape(1, 0.2, 100, low)
        await shaped.send(1, MAX, MIN)
        (_, _, begin), (_, _, second) = [await shaped.next() for _ in range(2)]
        debt = min(takes(MAX) * 0.8, low)
        due = begin + takes(MAX) * shaped.octet + debt / idle
        assert abs(second - due) < 6 * shaped.period + shaped.octet * (1 + 40 * (low == 0))
        await shaped.until(shaped.now + 5 * takes(MIN) / idle)


# Changes ------------------------------------------------------------------------------------------

@cocotb.test()
async def registers_change_while_frames_leave(dut):
    """New slopes are effective at once. A shaper that is switched off limits nothing."""
    shaped = await Shaped.start(dut)
    shaped.flood(0)
    shaped.flood(1, (MIN, 61, 300))
    high = 1500
    for share in (0.3, 0.1, None, 0.7, None, 0.15):
        idle = await (shaped.shape(1, share, high) if share else shaped.free(1))
        shaped.credits = {}
        await shaped.obeys(shaped.now + 40_000)  # frames that had started
        shaped.credits = {0: None, 1: Credit(idle, high) if share else None}
        seen = await shaped.obeys(shaped.now + 300_000)
        octets, time = shaped.octets(seen, 1)
        wanted = idle * time if share else time / shaped.octet
        assert abs(octets - wanted) < 0.001 * wanted + high + BACKLOG
        assert share or {queue for queue, *_ in seen} == {1}
    await shaped.drain()


@cocotb.test()
async def disabled_ring_sends_what_it_read(dut):
    """A ring whose frames wait for credit is idle soon after it is disabled. The frames that it has
    read leave, each once and in order, at the shaper's rate, and the next ones follow."""
    shaped = await Shaped.start(dut)
    driver = shaped.drivers[1]
    for _ in range(8):
        idle = await shaped.shape(1, 0.3, 400)
        shaped.flood(0, (MIN, 300))
        shaped.flood(1, (MIN, 300), Credit(idle, 400, shaped.now))
        await shaped.obeys(shaped.now + 10_000 + random.randrange(15_000))
        task = shaped.floods.pop(1)
        await task
        await driver.stop(clocks=1000)
        driver.reclaim()
        read = len(shaped.left[1]) - len(driver.tx.posted)
        left = list(shaped.left[1])
        driver.asks.clear()
        await driver.start(rx=False)
        marker = marked(1, 77)
        await driver.send(marker)
        count = 0
        while True:
            frame, start = await shaped.receive()
            if frame[0] >> 2 == 0:
                assert frame == shaped.left[0].popleft()
                continue
            begin, credit = start - 8 * shaped.octet, shaped.credits[1]
            assert begin > credit.earliest - BACKLOG * shaped.octet - 40
            credit.starts(begin, len(frame))
            if frame == marker:
                break
            assert frame == left[count]
            count += 1
        assert count >= read
        shaped.left[1].clear()
        await shaped.free(1)
        await shaped.drain()
        await driver.reclaim_all()


@cocotb.test()
async def bad_frames_need_no_credit(dut):
    """Frames with a failed read complete with ERROR at once, and cost nothing."""
    shaped = await Shaped.start(dut)
    driver, mac = shaped.drivers[1], shaped.mac
    idle = await shaped.shape(1, 0.1, 100)
    await shaped.send(1, MAX)
    _, _, begin = await shaped.next()
    await driver.reclaim_all()
    for _ in range(8):
        driver.queue(marked(1, 100))
    bad = range(driver.tx.posted[0], driver.tx.posted[-1] + 100)
    mac.memory.refuse(reads=lambda address: address in bad)
    await driver.tx.doorbell()
    assert await driver.reclaim_all() == [True] * 8
    mac.memory.refuse()
    await shaped.send(1, MIN)
    _, _, after = await shaped.next()
    assert abs(after - begin - takes(MAX) / idle) < 4 * shaped.period
