# SPDX-License-Identifier: BSD-2-Clause
"""The FIFO of whole frames against a list of frames."""

import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

DUT = "frame_fifo"
WORDS, FRAMES = 64, 6  # sizes of bench.devices.duts.frame_fifo()

OUTPUTS = ("accepted", "space", "available", "head_tag", "word", "frames", "held",
           "awake")
PULSES = ("write", "commit", "abort", "next", "free")


class Bench:
    """`frames` holds (tag, words) of the frames that must be in the device; every clock is checked."""

    @classmethod
    async def start(cls, dut):
        bench = cls()
        bench.dut = dut
        bench.frames = deque()
        bench.writing, bench.overflow, bench.read = [], False, 0
        bench.available = False  # a clock after there are frames
        Clock(dut.sys_clk, 10, unit="ns").start()
        for name in (*PULSES, "data", "param_tag"):
            getattr(dut, name).value = 0
        dut.sys_rst.value = 1
        await RisingEdge(dut.sys_clk)
        await RisingEdge(dut.sys_clk)
        dut.sys_rst.value = 0
        return bench

    @property
    def space(self):
        held = sum(len(words) for _, words in self.frames) - self.read
        return WORDS - held - len(self.writing)

    async def clock(self, data=0, tag=0, **pulses):
        """One clock; returns whether a commit was accepted."""
        for name in PULSES:
            getattr(self.dut, name).value = pulses.get(name, 0)
        self.dut.data.value, self.dut.param_tag.value = data, tag
        await RisingEdge(self.dut.sys_clk)
        accepted, space, available, head, word, frames, held, awake = (
            int(getattr(self.dut, name).value) for name in OUTPUTS)
        assert (space, available, frames) == (self.space, self.available, len(self.frames))
        assert held == bool(self.frames)
        assert awake == (held and not available)  # otherwise a clock gate would hold it
        if self.available:
            assert head == self.frames[0][0]
            if self.read < len(self.frames[0][1]):
                assert word == self.frames[0][1][self.read]
        assert accepted == bool(pulses.get("commit") and fits(self))

        self._step(data, tag, accepted, **pulses)
        return bool(accepted)

    def _step(self, data, tag, accepted, write=0, commit=0, abort=0, next=0, free=0):
        room = self.space
        self.available = len(self.frames) > free
        if accepted:
            self.frames.append((tag, self.writing))
        if commit or abort:
            self.writing, self.overflow = [], False
        if write:  # with a commit: the first word of the next frame
            self.overflow |= room == 0
            if not self.overflow:
                self.writing.append(data)
        if free:
            self.frames.popleft()
            self.read = 0
        elif next:
            self.read += 1

    async def put(self, words, end="commit"):
        """Writes one whole frame without pauses; returns whether it was kept."""
        for _ in range(words):
            await self.clock(write=1, data=random.getrandbits(64))
        return await self.clock(**{end: 1}, tag=random.getrandbits(16))

    async def take(self):
        """Reads the oldest frame to its end, and checks every word."""
        while not self.available:
            await self.clock()
        for _ in range(len(self.frames[0][1])):
            await self.clock(next=1)
        await self.clock(free=1)


@cocotb.test()
async def preserves_frames(dut):
    bench = await Bench.start(dut)
    for words in [1, 2, 3, 8, 31, 63, 64, 1, 64, 17]:
        assert await bench.put(words)
        await bench.take()
    await bench.clock()


@cocotb.test()
async def aborted_frames_leave_nothing(dut):
    bench = await Bench.start(dut)
    for _ in range(20):
        await bench.put(random.randrange(1, 65), end="abort")
    assert await bench.put(64)
    await bench.take()


@cocotb.test()
async def drops_whole_frame_without_room(dut):
    bench = await Bench.start(dut)
    assert await bench.put(40)
    assert not await bench.put(25)
    assert await bench.put(24), "the dropped frame still takes room"
    assert not await bench.put(1)
    await bench.take()
    assert await bench.put(40)
    await bench.take()
    await bench.take()


@cocotb.test()
async def late_room_does_not_save_frame(dut):
    """After an overflow, the reader frees everything before the frame's end: the frame is still
    dropped."""
    bench = await Bench.start(dut)
    assert await bench.put(60)
    for _ in range(6):
        await bench.clock(write=1, data=1)
    await bench.clock(free=1)
    for _ in range(3):
        await bench.clock(write=1, data=2)
    assert not await bench.clock(commit=1)
    assert await bench.put(3)
    await bench.take()


@cocotb.test()
async def number_of_frames_is_limited(dut):
    bench = await Bench.start(dut)
    for _ in range(FRAMES):
        assert await bench.put(1)
    assert not await bench.put(1)
    for _ in range(FRAMES):
        await bench.take()
    assert await bench.put(1)


@cocotb.test()
async def releases_unread_frame(dut):
    bench = await Bench.start(dut)
    for read in (0, 1, 5, 10):
        assert await bench.put(10) and await bench.put(4)
        for _ in range(read):
            await bench.clock(next=1)
        await bench.clock(free=1)
        await bench.take()


def fits(bench):
    """Whether a commit in this clock will be accepted."""
    return not bench.overflow and len(bench.frames) < FRAMES


@cocotb.test()
@cocotb.parametrize(hurry=[0.1, 0.5, 0.9], eager=[0.1, 0.5, 0.9])
async def both_sides_at_random(dut, hurry, eager):
    """Writer and reader with independent pauses, all frame lengths, aborts and early releases."""
    bench = await Bench.start(dut)
    kept = dropped = 0
    left, end = 0, None
    for _ in range(4000):
        pulses = {}
        if random.random() < hurry:
            if left:
                left -= 1
                pulses.update(write=1, data=random.getrandbits(64))
            elif end:
                pulses.update({end: 1}, tag=random.getrandbits(16))
                end = None
                if fits(bench) and pulses.get("commit") and random.random() < 0.5:
                    left, end = random.randrange(8), "commit"
                    pulses.update(write=1, data=random.getrandbits(64))
            else:
                left = random.choice((1, 2, 9, 30, 64))
                end = random.choice(("commit",) * 4 + ("abort",))
        if bench.available and random.random() < eager:
            done = bench.read == len(bench.frames[0][1])
            pulses["free" if done or random.random() < 0.01 else "next"] = 1
        accepted = await bench.clock(**pulses)
        kept += accepted
        dropped += bool(pulses.get("commit")) and not accepted
    assert kept > 10 and (dropped > 3 or eager >= hurry)
