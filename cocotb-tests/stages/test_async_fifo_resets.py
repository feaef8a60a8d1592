# SPDX-License-Identifier: BSD-2-Clause
"""The FIFO between two clocks: each side is reset, stopped, or both, while frames pass.

Frames of the FIFO `waits` wait for room, like sent ones; those of `hurries` do not, like received
ones.
"""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer, with_timeout

DUT = "async_fifo_resets"
FRAMES = 250
LENGTHS = 1, 2, 3, 15, 16, 17, 40  # words; the FIFO holds 17
GAP = 8  # clocks between two frames that do not wait: as many as a preamble has


class Side:
    """The clock and the reset of a domain."""

    def __init__(self, dut, name, ps):
        self.clk, self.rst, self.ps = getattr(dut, f"{name}_clk"), getattr(dut, f"{name}_rst"), ps
        self.rst.value = 1
        self.run()

    def run(self):
        self.clock = Clock(self.clk, self.ps, unit="ps")
        self.clock.start()

    async def reset(self):
        self.rst.value = 1
        await ClockCycles(self.clk, random.choice([1, 2, 3, 40]))
        self.rst.value = 0

    async def stand(self, with_reset):
        """As during a reset of a PLL: the reset ends when the clock has returned."""
        self.clock.stop()
        self.rst.value = with_reset
        await Timer(random.randrange(100, 2000), "ns")
        self.run()
        await ClockCycles(self.clk, 2)
        self.rst.value = 0


class Link:
    """A FIFO with the stages at both its ends, which are reset, too."""

    def __init__(self, dut, name, writer, reader):
        self.writer, self.reader, self.waits = writer, reader, name == "waits"
        self.sink, self.source = ({field: getattr(dut, f"{name}_{port}_{field}")
            for field in ("valid", "ready", "data", "last_be")} for port in ("sink", "source"))
        self.sink["valid"].value = self.source["ready"].value = 0
        self.frames = []      # numbers of words,
        self.cut = {}         # words written before a reset cut the frame,
        self.may_miss = set() # frames whose reading a reset cut, or that a stopped reader may miss
        self.came = []        # numbers of complete frames
        self.parts = []       # and of cut ones
        self.stalled = False
        self.sharp = 1.0

    async def write(self):
        """Frame n has the words 0, 1, ... as (n, word)."""
        edge, sink = RisingEdge(self.writer.clk), self.sink
        for number in range(FRAMES):
            length = random.choice(LENGTHS)
            self.frames.append(length)
            for word in range(length):
                taken = False
                while not (taken or self.writer.rst.value):
                    offered = sink["valid"].value = random.random() < self.sharp
                    sink["data"].value = number << 8 | word
                    sink["last_be"].value = word == length - 1
                    await edge
                    while (offered and self.waits and not sink["ready"].value
                           and not self.writer.rst.value):
                        await edge
                    taken = offered
                if self.stalled:
                    self.may_miss.add(number)
                if self.writer.rst.value:  # a word taken at this edge counts
                    self.cut[number] = word
                    break
            sink["valid"].value = 0
            sink["last_be"].value = random.getrandbits(1)  # has no effect
            gap = GAP if not self.waits or random.random() < 0.3 else 0
            quiet = 0
            while self.writer.rst.value or quiet < gap:
                await edge
                quiet = 0 if self.writer.rst.value else quiet + 1

    async def read(self):
        edge, source, current = RisingEdge(self.reader.clk), self.source, []
        while True:
            ready = not self.waits or random.random() < 0.8
            source["ready"].value = ready
            await edge
            if ready and source["valid"].value:
                data, last = int(source["data"].value), int(source["last_be"].value)
                current.append(data)
                if last and not self.reader.rst.value:
                    self.end(current)
                    current = []
            if self.reader.rst.value:
                self.may_miss |= {data >> 8 for data in current}
                current = []

    def end(self, words):
        number = words[0] >> 8
        whole = [number << 8 | word for word in range(self.frames[number])]
        if words == whole:
            assert number not in self.cut or self.cut[number] == len(whole) - 1
            self.came.append(number)
        else:
            assert words[:-1] == whole[:len(words) - 1] and 2 <= len(words), \
                f"frame {number}: {[divmod(word, 256) for word in words]}"
            assert number in self.cut or number in self.may_miss, \
                f"frame {number} was cut without a reset: {[divmod(word, 256) for word in words]}"
            self.parts.append(number)
        seen = self.came + self.parts
        assert number == max(seen) and seen.count(number) == 1, f"frame {number} arrived twice"

    def check(self):
        lost = set(range(FRAMES)) - set(self.came)
        assert lost <= self.may_miss | set(self.cut), f"lost: {lost - self.may_miss - set(self.cut)}"


async def disturb(links, sides, stop):
    while not stop:
        await Timer(random.randrange(100, 1500), "ns")
        kind = random.choice(["reset"] * 4 + ["both", "stand"])
        chosen = random.sample(sides, 2 if kind == "both" else 1)
        for link in links:
            # A link that cannot wait may lose frames while its reader is stopped.
            link.stalled |= not link.waits and link.reader in chosen
        if kind == "stand":
            await chosen[0].stand(random.getrandbits(1))
        else:
            tasks = []
            for side in chosen:
                tasks.append(cocotb.start_soon(side.reset()))
                await Timer(random.randrange(1, 60), "ns")
            for task in tasks:
                await task
        await ClockCycles(sides[0].clk, 24)
        await ClockCycles(sides[1].clk, 24)
        for link in links:
            link.stalled = False


@cocotb.test()
@cocotb.parametrize(sink_ps=[8000, 10002, 40_000], source_ps=[8000, 25002])
async def loses_what_a_reset_cuts(dut, sink_ps, source_ps):
    """Nothing else is lost: no frame repeats, mixes with another one, or was never written."""
    sides = Side(dut, "sink", sink_ps), Side(dut, "source", source_ps)
    links = [Link(dut, name, *sides) for name in ("waits", "hurries")]
    await ClockCycles(sides[0].clk, 4)
    await ClockCycles(sides[1].clk, 4)
    for side in sides:
        side.rst.value = 0
    for link in links:
        link.sharp = 1.0 if link.waits else min(0.5, 0.5 * sink_ps / source_ps)
        cocotb.start_soon(link.read())
    writers = [cocotb.start_soon(link.write()) for link in links]
    stop = []
    disturber = cocotb.start_soon(disturb(links, sides, stop))
    for writer in writers:
        await with_timeout(writer, 200, "ms")
    stop.append(True)
    await disturber
    await ClockCycles(sides[1].clk, 100)
    for link in links:
        link.check()
        assert len(link.came) > FRAMES // 3 and link.parts
