# SPDX-License-Identifier: BSD-2-Clause
"""Time-aware gates, against the wire's own times and a model of the lists.

The model says when each gate is open. Every frame must start (its octet after the start-of-frame
delimiter) and end while its gate is open. The line must not be idle while a frame could leave: from
the nanosecond in which a gate opens, give or take the clocks, until the frame would not have left.
"""

import itertools
import random
from dataclasses import dataclass

import cocotb

from bench.models.wishbone import field
from cases.basics import MAX, MIN
from cases.launches import FAR, Timed, takes
from cases.stamps import command
from cases.two_queues import marked

ALL = 0b11  # every gate is open
BACKLOG, NOTICE = 168, 40  # octets: what MACCore may hold; until the MAC notices that the wire is free


@dataclass
class List:
    """Entries (open queues, ns), each `cycle` from `base` on. `extension` of its last cycle."""
    entries: list
    base: int = 0
    cycle: int = 0
    extension: int = 0

    def __post_init__(self):
        self.cycle = self.cycle or sum(interval for _, interval in self.entries)

    def spans(self, until, change=None):
        """Yields (open queues, begin, end), until the other list's base, `change`."""
        begin = self.base
        while begin < until:
            end = begin + self.cycle
            if change is not None and change <= end + self.extension:
                end = change
            at = begin
            for n, (queues, interval) in enumerate(self.entries):
                last = n + 1 == len(self.entries)
                stop = end if last else min(at + interval, end)
                yield queues, at, stop
                if stop == end:
                    break
                at = stop
            begin = end
            if end == change:
                return


def windows(lists, queue, until):
    """When the queue's gate is open: (begin, end), in order. It closes whenever a list begins."""
    found = [(0, lists[0].base)]
    for this, after in itertools.zip_longest(lists, lists[1:]):
        fresh = True
        for queues, begin, end in this.spans(until, after and after.base):
            if queues >> queue & 1:
                if not fresh and found and found[-1][1] == begin:
                    found[-1] = found[-1][0], end
                else:
                    found.append((begin, end))
            fresh = False
    return found


def random_list(octet, count=None, longest=300):
    """A list whose entries have time for some frames, for one, or for none. The cycle may be shorter
    or longer than all entries, but has a long one for each queue."""
    need = (takes(longest) + BACKLOG + NOTICE) * octet
    entries = [(1 << n, need + random.randrange(need)) for n in range(2)]
    for _ in range(random.randrange(2, 20) if count is None else count - 2):
        entries.insert(random.randrange(len(entries) + 1),
                       (random.randrange(4), random.choice((100, 1000, need // 2, need, 2*need))
                        + random.randrange(200)))
    total = sum(interval for _, interval in entries)
    longest_end = total - entries[-1][1] + 100
    return List(entries, cycle=random.choice((total, total + random.randrange(need),
                                              max(longest_end, total - random.randrange(need)))))


class Gated(Timed):
    async def load(self, made, base=None, command="START"):
        """Writes a list for `base`, by default soon, and starts it."""
        if base is not None:
            made.base = base
        regs = self.mac.regs
        await regs.write("GATE_INDEX", 0)
        for queues, interval in made.entries:
            await regs.write("GATE_ENTRY", queues << 30 | interval)
        for name, value in {"BASE_LOW": made.base & 0xFFFFFFFF, "BASE_HIGH": made.base >> 32,
                            "CYCLE": made.cycle, "EXTENSION": made.extension,
                            "LENGTH": len(made.entries)}.items():
            await regs.write(f"GATE_{name}", value)
        await self.command(command)
        return made

    async def command(self, name):
        await self.mac.regs.write("GATE_COMMAND", 1 << field("GATE_COMMAND", name).lsb)

    async def status(self):
        return tuple([await self.mac.regs.read("GATE_STATUS", name)
                      for name in ("RUNNING", "PENDING")])

    def flood(self, lengths, count):
        """Both queues send `count` frames. Returns them, by queue."""
        sent = [[marked(queue, random.choice(lengths)) for _ in range(count)] for queue in range(2)]

        async def feed(driver, frames):
            for frame in frames:
                await driver.send(frame, random.randrange(64))

        for driver, frames in zip(self.drivers, sent):
            cocotb.start_soon(feed(driver, frames))
        return [list(frames) for frames in sent]

    def fits(self, lists, queue, length, start):
        """The frame leaves while its gate is open."""
        end = start + (max(length, MIN) + 4) * self.octet
        return any(begin - 0.5 <= start and end <= close + 0.5
                   for begin, close in windows(lists, queue, end))

    def reading(self, lists, queue, begin, end):
        """The time that the MAC needs to read the entries from an open gate's first to its last."""
        return sum(begin < at < end for made in lists for _, at, _ in made.spans(end)) * 5 * self.period

    def could(self, lists, queue, length, free, start):
        """A time at which the frame could have started while the wire was free, or None."""
        for begin, close in windows(lists, queue, start):
            need = (takes(length) + NOTICE) * self.octet
            first = max(begin + self.reading(lists, queue, begin, begin + need),
                        free + NOTICE * self.octet)
            last = min(close - need, start)
            # A frame that starts late in its half word leaves a clock later.
            if first + self.window + self.period + 1 < last:
                return first
        return None

    async def obeys(self, lists, left, until, since, us=20_000):
        """Receives frames until that time, and checks each and the pauses between them. The queues
        have had frames `since`."""
        free, count = since, 0
        while any(left) and self.now < until:
            frame, start = await self.receive(us)
            queue = frame[0] >> 2
            assert frame == left[queue][0]
            assert self.fits(lists, queue, len(frame), start), \
                f"queue {queue} sends {len(frame)} octets at {start}: " \
                f"{windows(lists, queue, start)[-3:]}"
            for other, frames in enumerate(left):
                if frames and (missed := self.could(lists, other, len(frames[0]), free, start)):
                    raise AssertionError(f"queue {other} waits with {len(frames[0])} octets at "
                                         f"{missed}, free since {free}, until {start}")
            left[queue].pop(0)
            free, count = start + takes(len(frame)) * self.octet, count + 1
        return count


async def drain(timed, left):
    """All gates open: the frames that are left leave."""
    await timed.command("STOP")
    while any(left):
        frame, _ = await timed.receive()
        assert frame == left[frame[0] >> 2].pop(0)


# Lists --------------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(link=[100, 1000])
async def frames_leave_while_gate_is_open(dut, link):
    """Random lists, with cycles shorter and longer than their entries, and full queues."""
    timed = await Gated.start(dut, link)
    for n in range(6):
        made = random_list(timed.octet, count=64 if n == 5 else None)
        base = timed.now + 8000 + 1000*timed.octet
        await timed.load(made, base)
        assert await timed.status() == (0, 1)
        await timed.until(base + 100)
        since = timed.now + 3000
        left = timed.flood((MIN, 61, 99, 300), 40)
        assert await timed.status() == (1, 0)
        await timed.obeys([made], left, base + 6*made.cycle, max(since, timed.now))
        await drain(timed, left)
        assert await timed.status() == (0, 0)
    assert await timed.counters() == (0, 0)


@cocotb.test()
async def entries_after_the_cycle_do_not_count(dut):
    """A cycle may end within any entry, not only the last one."""
    timed = await Gated.start(dut)
    for cycle in (17_000, 19_000, 26_000):
        made = List([(1, 9000), (2, 9000), (1, 9000), (2, 9000)], cycle=cycle)
        base = timed.now + 8000
        await timed.load(made, base)
        await timed.until(base + 100)
        since = timed.now + 3000
        left = timed.flood((MIN, 300), 40)
        await timed.obeys([made], left, base + 6*cycle, max(since, timed.now))
        await drain(timed, left)


@cocotb.test()
async def window_of_one_frame_suffices(dut):
    """A window of a frame's octets and the MAC's reserve lets one frame leave in each cycle, in its
    first clock. A window that is an octet shorter than the frame with its FCS lets none leave."""
    timed = await Gated.start(dut)
    for length in (MIN, 99, 300):
        for spare, count in ((37, 5), (3, 0)):
            made = List([(1, (max(length, MIN) + spare) * timed.octet), (0, 5000)])
            base = timed.now + 12_000
            await timed.load(made, base)
            await timed.until(base - 20)
            left = [marked(0, length) for _ in range(5)]
            for frame in left:
                timed.drivers[0].queue(frame)
            await timed.drivers[0].tx.doorbell()
            await timed.until(base + 7*made.cycle)
            starts = []
            while timed.mac.wire.waiting():
                frame, start = await timed.receive()
                assert frame == left.pop(0)
                starts.append((start - base) % made.cycle)
            assert len(starts) == count and all(timed.on_time(start) for start in starts), starts
            await drain(timed, [left, []])


# Lists that follow --------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(link=[100, 1000])
async def next_list_begins_at_its_base(dut, link):
    """A list replaces another one within its cycle, at its end, or after an extension. Entries that
    are written meanwhile, and registers, change neither."""
    timed = await Gated.start(dut, link)
    for extension in (0, 0, 1, 1, 1) if link == 1000 else (0, 1):
        old, new = random_list(timed.octet), random_list(timed.octet)
        base = timed.now + 8000 + 1000*timed.octet
        old.extension = extension * random.randrange(1, old.cycle)
        await timed.load(old, base)
        await timed.until(base + 100)
        # After whole cycles, and a part of one: shorter or longer than the extension.
        ahead = 2**15 * timed.octet if extension else 0  # more than a window runs ahead
        least = -(-(timed.now - base + 12_000 + ahead) // old.cycle)
        change = base + (least + 2) * old.cycle + random.choice(
            (0, random.randrange(old.cycle), old.extension // 2 + 1, old.extension + 1))
        await timed.load(new, change)
        for _ in range(3):  # ignored
            await timed.mac.regs.write("GATE_INDEX", 0)
            await timed.mac.regs.write("GATE_ENTRY", ALL << 30 | 12345)
        for name in ("BASE_LOW", "CYCLE", "EXTENSION", "LENGTH"):
            await timed.mac.regs.write(f"GATE_{name}", 77)
        await timed.command("START")
        assert await timed.status() == (1, 1)
        await timed.until(change - 2*old.cycle)
        left = timed.flood((MIN, 99, 300), 60)
        await timed.obeys([old, new], left, change + 2*new.cycle, timed.now + 3000)
        assert await timed.status() == (1, 0)
        await drain(timed, left)
    assert await timed.counters() == (0, 0)


@cocotb.test()
async def late_list_begins_at_whole_cycle(dut):
    """A base time that is over: the list begins a whole number of cycles after it."""
    timed = await Gated.start(dut)
    for cycles in (1, 7, 100):
        made = List([(1, 4000), (2, 5000), (0, 1000 + random.randrange(1000))])
        await timed.load(made, timed.now - cycles*made.cycle - random.randrange(made.cycle))
        await timed.mac.clocks(8*cycles + 3000)
        assert await timed.status() == (1, 0)
        left = timed.flood((MIN, 99, 300), 20)
        await timed.obeys([made], left, timed.now + 60_000, timed.now + 3000)
        await drain(timed, left)


@cocotb.test()
async def ended_lists_leave_gates_open(dut):
    """CANCEL keeps the list that runs, also during its extension. STOP opens the gates at once, and
    forgets both lists."""
    timed = await Gated.start(dut)
    closed = List([(2, 5000)])
    base = timed.now + 8000
    await timed.load(closed, base)
    await timed.until(base + 100)
    await timed.load(List([(1, 9000)]), timed.now + FAR)
    await timed.command("CANCEL")
    assert await timed.status() == (1, 0)
    frame = marked(0, 100)
    for _ in range(3):
        await timed.drivers[0].send(frame)
    await timed.until(timed.now + 20_000)
    assert not timed.mac.wire.waiting()
    await timed.load(List([(1, 9000)]), timed.now + FAR)
    at = timed.now
    await timed.command("STOP")
    assert await timed.status() == (0, 0)
    for _ in range(3):
        got, start = await timed.receive()
        assert got == frame and start < at + 4000
    # Within the extension of a cycle.
    made = List([(1, 4000), (2, 6000)], extension=9000)
    base = timed.now + 8000
    await timed.load(made, base)
    await timed.until(base + 300_000)
    change = base + 50*made.cycle + 7000
    await timed.load(List([(0, 5000)]), change)
    await timed.until(change - 2500)
    await timed.command("CANCEL")
    await timed.mac.clocks(200)
    left = timed.flood((MIN, 300), 20)
    await timed.obeys([made], left, timed.now + 60_000, timed.now + 3000)
    await drain(timed, left)


# Launch times -------------------------------------------------------------------------------------

@cocotb.test()
async def launch_times_need_open_gates(dut):
    """A frame leaves at its time if its gate is open then. Otherwise it is late: it is dropped, or it
    leaves when its gate opens."""
    timed = await Gated.start(dut)
    made = List([(1, 20_000), (2, 20_000)])
    base = timed.now + 8000
    await timed.load(made, base)
    cycle, late, drops = base, 0, 0
    for _ in range(20):
        cycle = base + ((timed.now + 6000 - base) // made.cycle + 1) * made.cycle
        queue, drop = random.randrange(2), random.randrange(2)
        at = random.randrange(40_000)
        # Close to an edge, either may happen.
        at = min(max(at, 200), 17_000) if at < 20_000 else min(max(at, 20_200), 37_000)
        if random.randrange(5) == 0:
            at = queue * 20_000 + 1  # as the gate opens
        frame = marked(queue, random.choice((MIN, 300)))
        await timed.drivers[queue].send(frame, launch=cycle + at, DROP_LATE=drop)
        if (at >= 20_000) == queue:
            got, start = await timed.receive()
            assert got == frame and timed.on_time(start - cycle - at)
        elif drop:
            drops += 1
            await timed.until(cycle + made.cycle)
            assert not timed.mac.wire.waiting()
        else:
            late += 1
            got, start = await timed.receive()
            opens = cycle + (20_000 if queue else 40_000)
            assert got == frame and timed.on_time(start - opens), start - opens
    assert await timed.counters() == (late, drops) and late and drops


# Rings end, clocks change --------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(queue=[0, 1])
async def disabled_ring_drops_frames_of_closed_gate(dut, queue):
    """A ring whose frames wait for a gate that never opens is idle at once when it is disabled. The
    frames are dropped and counted, and the other queue continues."""
    timed = await Gated.start(dut)
    driver, other = timed.drivers[queue], timed.drivers[1 - queue]
    dropped = 0
    for count in (1, 3, 12):
        base = timed.now + 8000
        await timed.load(List([(2 >> queue, 5000), (2 >> queue, 1000)]), base)
        await timed.until(base + 100)
        for n in range(count):
            driver.queue(marked(queue, 100), TIMESTAMP=n % 2)
        await driver.tx.doorbell()
        for _ in range(5):
            frame = marked(1 - queue, 300)
            await other.send(frame)
            assert await timed.mac.wire.receive() == frame
        await driver.stop(clocks=1000)
        await timed.mac.clocks(500)
        driver.asks.clear()
        driver.stamps.clear()
        await driver.start(rx=False)
        await timed.command("STOP")
        frame = marked(queue, MIN)
        await driver.send(frame, TIMESTAMP=1)
        got, start = await timed.receive()
        assert got == frame
        assert await driver.reclaim_all() == [False]
        assert abs(driver.stamps[0] - start % 2**32) < 2*timed.window + 1
        late, drops = await timed.counters()
        assert late == 0 and dropped < drops <= dropped + count
        dropped = drops
        await driver.stop()
        await driver.start(rx=False)


@cocotb.test()
async def obeys_clock_that_steps(dut):
    """After a step, the list is where the clock is now."""
    timed = await Gated.start(dut)
    made = random_list(timed.octet)
    base = timed.now + 8000
    await timed.load(made, base)
    await timed.until(base + 3*made.cycle)
    for step in (1, -1, 3000, -3000, 25*made.cycle + 777, -20*made.cycle - 555, made.cycle // 2):
        left = timed.flood((MIN, 99, 300), 12)
        await timed.mac.clocks(300)
        await command(timed.mac, "STEP", step)
        timed.zero += step
        await timed.mac.clocks(4000)
        while timed.mac.wire.waiting():
            frame, _ = await timed.receive()
            assert frame == left[frame[0] >> 2].pop(0)
        more = timed.flood((MIN, 99, 300), 12)
        left = [one + other for one, other in zip(left, more)]
        await timed.obeys([made], left, timed.now + 4*made.cycle, timed.now + 3000)
        while any(left):
            frame, start = await timed.receive()
            assert timed.fits([made], frame[0] >> 2, len(frame), start)
            assert frame == left[frame[0] >> 2].pop(0)
    # A list that waits for its base time begins at it by the new time.
    new = List([(1, 5000), (2, 6000)])
    change = timed.now + FAR
    await timed.load(new, change)
    await command(timed.mac, "STEP", FAR - 40_000)
    timed.zero += FAR - 40_000
    await timed.until(change - 2000)
    assert await timed.status() == (1, 1)
    await timed.until(change + 100)
    assert await timed.status() == (1, 0)
    left = timed.flood((MIN, 300), 20)
    await timed.obeys([new], left, timed.now + 60_000, timed.now + 3000)
    await drain(timed, left)
    # One whose base time is over by the new time begins with the next cycle.
    new = List([(2, 9000), (1, 41_000)])
    change = timed.now + FAR
    await timed.load(new, change)
    await command(timed.mac, "STEP", FAR + 10_000)
    timed.zero += FAR + 10_000
    await timed.mac.clocks(200)
    assert await timed.status() == (0, 1)
    await timed.until(change + new.cycle + 100)
    assert await timed.status() == (1, 0)
    left = timed.flood((MIN, 300), 20)
    await timed.obeys([new], left, timed.now + 60_000, timed.now + 3000)
    await drain(timed, left)


@cocotb.test()
async def bad_frames_pass_closed_gates(dut):
    """A frame with a failed read blocks no other one, although no window has time for it."""
    timed = await Gated.start(dut)
    driver, memory = timed.drivers[1], timed.mac.memory
    base = timed.now + 8000
    window = (takes(MIN) + BACKLOG + NOTICE) * timed.octet
    await timed.load(List([(2, window), (1, 5000)]), base)
    await timed.until(base + 100)
    driver.queue(marked(1, MAX))
    bad = range(driver.tx.posted[0], driver.tx.posted[0] + MAX)
    memory.refuse(reads=lambda address: address in bad)
    await driver.tx.doorbell()
    assert await driver.reclaim_all() == [True]
    memory.refuse()
    frame = marked(1, MIN)
    await driver.send(frame)
    assert await timed.mac.wire.receive() == frame
    assert await timed.counters() == (0, 0)
