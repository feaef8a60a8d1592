# SPDX-License-Identifier: BSD-2-Clause
"""The MAC core on PHYs of any width, while each domain is reset, and with words that come too late."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer, with_timeout

from bench.wires.wire import PREAMBLE, add_fcs
from cases.resets import are_part

FRAMES, RESETS = 60, 40
PERIODS = {"sys": 10, "mac_core_8": 8, "mac_core_16": 10, "mac_core_32": 20}  # ns
# Frames that a reset of a domain may cost. Where a clock passes a word of the FIFO, the end of one
# frame and the start of the next are in transit at once.
COSTS = {"mac_core_8": 1, "mac_core_16": 1, "mac_core_32": 2}


class Port:
    """A stream of frames, in words of `octets`, in a clock domain."""

    def __init__(self, dut, name, domain):
        self.edge = RisingEdge(getattr(dut, f"{domain}_clk"))
        self.rst = getattr(dut, f"{domain}_rst")
        self.valid, self.ready, self.data, self.last, self.last_be = (getattr(dut, f"{name}_{field}")
            for field in ("valid", "ready", "data", "last", "last_be"))
        self.octets = len(self.data) // 8

    async def give(self, octets, waits, pause=0):
        """Sends the frame; returns whether all of it was taken. `pause`: clocks without a word,
        once."""
        words = range(0, len(octets), self.octets)
        when = random.choice(words[4:])
        for at in words:
            self.valid.value = 0
            for _ in range(pause if at == when else 0):
                await self.edge
            word = octets[at:at + self.octets]
            last = at == words[-1]
            self.valid.value, self.last.value = 1, last
            self.data.value = int.from_bytes(word, "little")
            self.last_be.value = last << len(word) - 1
            await self.edge
            while waits and not self.ready.value and not self.rst.value:
                await self.edge
            if waits and self.rst.value:
                break
        self.valid.value = self.last.value = self.last_be.value = 0
        while waits and self.rst.value:
            await self.edge
        return at == words[-1]

    async def take(self, frames, start=b"", pace=1, ends_by_itself=False):
        """Collects all frames as they end, without the octets that each must start with. If a frame
        can end by itself, also collects truncated ones."""
        octets, clock = b"", 0
        while True:
            clock += 1
            ready = self.ready.value = clock % pace == 0
            await self.edge
            if ready and self.valid.value and not self.rst.value:
                marks = int(self.last_be.value)
                count = (marks & -marks).bit_length() if self.last.value and marks else self.octets
                octets += int(self.data.value).to_bytes(self.octets, "little")[:count]
                if not self.last.value:
                    continue
            elif not (self.rst.value or ends_by_itself and ready):
                continue
            if octets:
                assert octets.startswith(start) or start.startswith(octets), "no preamble"
                frames.append(octets[len(start):])
            octets = b""


async def start(dut):
    """Starts the clocks and resets all domains. Returns the idle inputs of both directions, and the
    system clock."""
    for name in ("eth_rx", "eth_tx", "sys"):
        getattr(dut, f"{name}_rst").value = 1
        clock = Clock(getattr(dut, f"{name}_clk"), PERIODS.get(name, PERIODS[dut._name]), unit="ns")
        clock.start()
    into, line = Port(dut, "tx", "sys"), Port(dut, "wire_rx", "eth_rx")
    into.valid.value = line.valid.value = 0
    await Timer(200, "ns")
    for name in ("sys", "eth_rx", "eth_tx"):
        getattr(dut, f"{name}_rst").value = 0
    return into, line, clock


@cocotb.test()
@cocotb.parametrize(domains=[(), ("sys",), ("eth_tx",), ("eth_rx",),
                             ("sys", "eth_tx"), ("sys", "eth_rx")],
                    pace=[1, 3])
async def loses_what_is_cut(dut, domains, pace):
    """Only truncated frames are lost, in both directions. A PHY that takes a word in one of three
    clocks also delivers one in every third."""
    into, line, _ = await start(dut)
    wire, out = Port(dut, "wire_tx", "eth_tx"), Port(dut, "rx", "sys")
    left, came, sent, starved, resets = [], [], [], set(), 0
    cocotb.start_soon(wire.take(left, PREAMBLE, pace, ends_by_itself=True))
    cocotb.start_soon(out.take(came))
    given = [add_fcs(random.randbytes(random.randrange(60, 150))) for _ in range(FRAMES)]

    async def send():
        for frame in given:
            pause = random.choice([0, 0, 0, random.randrange(60)]) if not domains else 0
            sent.append(frame)
            if pause:
                starved.add(frame)
            await into.give(frame, True, pause)

    async def receive():
        for frame in given:
            await line.give(PREAMBLE + frame, False)
            await ClockCycles(dut.eth_rx_clk, 12)

    tasks = [cocotb.start_soon(task) for task in (send(), receive())]

    async def pulse(name):
        await Timer(random.randrange(1, 60), "ns")
        getattr(dut, f"{name}_rst").value = 1
        await ClockCycles(getattr(dut, f"{name}_clk"), random.choice([1, 2, 3, 20]))
        getattr(dut, f"{name}_rst").value = 0

    while domains and not all(task.done() for task in tasks) and resets < RESETS:
        await Timer(random.randrange(500, 4000), "ns")
        for task in [cocotb.start_soon(pulse(name)) for name in domains]:
            await task
        resets += 1
    for task in tasks:
        await with_timeout(task, 1, "ms")
    await Timer(20, "us")

    cost = resets * COSTS[dut._name]
    for name, frames, may_lose in (
            ("left", left, len(starved) + cost * sum(domain != "eth_rx" for domain in domains)),
            ("came", came, cost * sum(domain != "eth_tx" for domain in domains))):
        whole = [frame for frame in frames if frame in given]
        assert are_part(whole, given), f"a frame {name} twice"
        # The rest of a received frame may look like another one, except for its FCS.
        cut, may_be_cut = len(frames) - len(whole), may_lose * (2 if name == "came" else 1)
        assert cut <= may_be_cut, f"{cut} {name} cut, not {may_be_cut}"
        missing = [n for n, frame in enumerate(given) if frame not in whole]
        assert len(missing) <= may_lose, f"{name} without {missing}, where {may_lose} may be lost"
    assert domains or not {frame for frame in given if frame not in left} - starved
    assert domains or len(left) == len(given), "the rest of a frame looks like another frame"
    for frame in left:  # the end of a truncated frame is not its own
        assert any(other.startswith(frame[:-8]) for other in given), "the rest left as a frame"
    await ClockCycles(dut.sys_clk, 10)


@cocotb.test()
async def survives_latest_possible_word(dut):
    """A word comes late by every number of clocks around the limit. The frame is complete or
    truncated, and the next one has none of its octets."""
    into, _, _ = await start(dut)
    left, given, late = [], [], []
    cocotb.start_soon(Port(dut, "wire_tx", "eth_tx").take(left, PREAMBLE, ends_by_itself=True))
    for pause in [pause for pause in range(80) for _ in range(5)]:  # the clocks' phase drifts
        late.append(add_fcs(random.randbytes(80)))
        given += [late[-1], add_fcs(random.randbytes(61))]
        await into.give(given[-2], True, pause)
        await into.give(given[-1], True)
        await ClockCycles(dut.sys_clk, random.randrange(200))
    await Timer(20, "us")
    whole = [frame for frame in left if frame in given]
    assert len(left) == len(given) and are_part(whole, given)
    cut = set(given) - set(whole)
    assert cut < set(late) and 50 < len(cut) < 350


@cocotb.test()
async def cuts_frames_without_room(dut):
    """Frames arrive while the system clock is stopped. They are complete, or end with the word that
    had no room, or are lost. None continues after missing words."""
    _, line, clock = await start(dut)
    came, given = [], [add_fcs(random.randbytes(random.randrange(60, 150))) for _ in range(200)]
    cocotb.start_soon(Port(dut, "rx", "sys").take(came))

    async def receive():
        for frame in given:
            await line.give(PREAMBLE + frame, False)
            await ClockCycles(dut.eth_rx_clk, 12)

    receiving = cocotb.start_soon(receive())
    while not receiving.done():
        await Timer(random.randrange(500, 4000), "ns")
        clock.stop()
        await Timer(random.randrange(100, 4000), "ns")
        clock.start()
    await Timer(20, "us")
    whole = [frame for frame in came if frame in given]
    assert are_part(whole, given) and len(given) / 4 < len(whole) < len(given)
    for frame in came:
        assert any(other.startswith(frame[:-8]) for other in given), "words are missing in a frame"
