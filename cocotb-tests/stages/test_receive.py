# SPDX-License-Identifier: BSD-2-Clause
"""The stage between MAC core and Rx FIFO: the fate of each frame, word by word."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout

from bench.models.driver import RX_OFFSET, summed
from bench.models.frames import plain
from bench.wires.wire import add_fcs

DUT = "receive"
FATES = ("good", "fcs_error", "undersize", "oversize", "filtered", "fifo_full", "paused", "unknown")
FRAMES = 4  # of the FIFO of bench.devices.duts.receive()


class Bench:
    """`fates` lists (fate, octets) of each frame; `pauses` counts the pauses to be obeyed. The fate
    of some frames waits for a lookup."""

    @classmethod
    async def start(cls, dut):
        bench = cls()
        bench.dut, bench.fates, bench.pauses = dut, [], 0
        Clock(dut.sys_clk, 10, unit="ns").start()
        for name in ("sink_valid", "sink_error", "free", "next", "obey", "strip", "compare0_on",
                     "compare1_on", "lookup_busy"):
            getattr(dut, name).value = 0
        dut.enable.value, dut.max_frame.value = 1, 1518
        dut.sys_rst.value = 1
        await RisingEdge(dut.sys_clk)
        await RisingEdge(dut.sys_clk)
        dut.sys_rst.value = 0
        cocotb.start_soon(bench._watch())
        cocotb.start_soon(bench._look_up())
        return bench

    async def _watch(self):
        while True:
            await RisingEdge(self.dut.sys_clk)
            self.fates += [(name, int(self.dut.octets.value)) for name in FATES
                           if int(getattr(self.dut, name).value)]
            self.pauses += int(self.dut.pauses.value)

    async def _look_up(self):
        """Alternates between a lookup in progress and none, each for some clocks."""
        while True:
            for busy in (1, 0):
                self.dut.lookup_busy.value = busy
                await ClockCycles(self.dut.sys_clk, random.randint(1, 4))

    async def send(self, octets, errors=None, gap=8):
        """Sends a frame with its FCS, then `gap` idle clocks. `errors`: word -> the lanes that are
        marked in it."""
        dut = self.dut
        for at in range(0, len(octets), 4):
            while random.random() < 0.3:
                dut.sink_valid.value = 0
                await RisingEdge(dut.sys_clk)
            word = octets[at:at + 4]
            dut.sink_valid.value = 1
            dut.sink_data.value = int.from_bytes(word + random.randbytes(4 - len(word)), "little")
            dut.sink_last.value = int(at + 4 >= len(octets))
            dut.sink_last_be.value = 1 << len(word) - 1 if at + 4 >= len(octets) else 0
            dut.sink_error.value = (errors or {}).get(at // 4, 0)
            await RisingEdge(dut.sys_clk)
            while not int(dut.sink_ready.value):
                await RisingEdge(dut.sys_clk)
        dut.sink_valid.value = 0
        await ClockCycles(dut.sys_clk, gap)

    async def take(self):
        """The oldest frame in the FIFO; checks its sum."""
        dut = self.dut
        assert int(dut.available.value)
        length, words, total = int(dut.head_length.value), [], int(dut.head_sum.value)
        while 8*len(words) < RX_OFFSET + length:
            words.append(int(dut.word.value).to_bytes(8, "little"))
            dut.next.value = 1
            await RisingEdge(dut.sys_clk)
            dut.next.value = 0
            await RisingEdge(dut.sys_clk)
        dut.free.value = 1
        await RisingEdge(dut.sys_clk)
        dut.free.value = 0
        await RisingEdge(dut.sys_clk)
        frame = b"".join(words)[RX_OFFSET:RX_OFFSET + length]
        assert total == summed(frame[14:])
        return frame


@cocotb.test()
async def back_to_back_frames(dut):
    """A frame waits until the fate of the one before it is decided, and does not affect its
    results."""
    bench = await Bench.start(dut)
    for _ in range(20):
        frames = [plain(random.randrange(60, 100)) for _ in range(FRAMES - 1)]
        for frame in frames:
            await bench.send(add_fcs(frame), gap=0)
        await ClockCycles(dut.sys_clk, 8)
        for frame in frames:
            assert await bench.take() == frame


@cocotb.test()
async def ignores_phy_errors_outside_frame(dut):
    """Errors in any lane of any word, also the last one, but not in lanes after the frame's end."""
    bench = await Bench.start(dut)
    for length in (100, 101, 102, 103):
        octets = add_fcs(plain(length))
        last = (len(octets) - 1) // 4
        for word in (0, 1, last - 1, last):
            for lane in range(4):
                await bench.send(octets, {word: 1 << lane})
                bad = 4*word + lane < len(octets)
                assert bench.fates.pop() == ("fcs_error" if bad else "good", len(octets))
                if not bad:
                    assert await bench.take() == octets[:-4]
                await bench.send(octets)
                assert bench.fates.pop() == ("good", len(octets)) and not bench.fates
                assert await bench.take() == octets[:-4]


@cocotb.test()
async def every_frame_has_one_fate(dut):
    """All kinds mixed, with the FIFO full half of the time."""
    bench = await Bench.start(dut)
    held = []
    for _ in range(200):
        kind = random.choice(FATES[:4])
        frame = plain(random.randint(60, 180))
        octets = {"good": add_fcs(frame), "fcs_error": frame + bytes(4),
                  "oversize": add_fcs(plain(1515)),
                  "undersize": add_fcs(plain(59))[-random.randint(1, 63):]}[kind]
        await bench.send(octets)
        if kind == "good" and len(held) == FRAMES:
            kind = "fifo_full"
        elif kind == "good":
            held.append(frame)
        (fate, count), = bench.fates
        bench.fates.clear()
        assert fate == kind
        assert count == len(octets) or kind == "oversize"  # whose octets are not counted to the end
        while held and random.random() < 0.3:
            assert await with_timeout(bench.take(), 100, "us") == held.pop(0)


@cocotb.test()
async def counts_control_frames_separately(dut):
    """Destination, type and opcode are wrong by a bit at times; obeying is on or off. A bad frame
    that is right so far pauses nothing, and does not affect the next one."""
    bench = await Bench.start(dut)
    station = bytes.fromhex("024d6f640000")
    dut.station.value = int.from_bytes(station, "little")
    for _ in range(400):
        quanta, obey = random.getrandbits(16), random.random() < 0.9
        dut.obey.value = int(obey)
        frame = bytearray(random.choice((station, bytes.fromhex("0180c2000001"))) +
                          random.randbytes(6) + bytes.fromhex("88080001") +
                          quanta.to_bytes(2, "big") + random.randbytes(random.choice((42, 43, 100))))
        wrong = random.choice((None, None, 0, 5, 1, 4, 12, 13, 14, 15))
        if wrong is not None:
            frame[wrong] ^= 1 << random.randrange(8)
        if random.random() < 0.2:
            right = bytes.fromhex("0180c2000001") + bytes(6) + b"\x88\x08\0\1\0\1"
            spoilt, octets = random.choice((
                ("undersize", add_fcs(right)),
                ("undersize", add_fcs(right.ljust(59, b"\0"))),
                ("fcs_error", right.ljust(64, b"\0")),
                ("oversize", add_fcs(right.ljust(1515, b"\0")))))
            await bench.send(octets)
            assert bench.fates.pop()[0] == spoilt and not bench.pauses
        await bench.send(add_fcs(bytes(frame)))
        fate, _ = bench.fates.pop()
        assert not bench.fates
        assert bench.pauses == (fate == "paused")
        bench.pauses = 0
        if not obey or wrong is not None and wrong < 14:
            assert fate == "good"
            assert await bench.take() == frame
        else:
            assert fate == ("paused" if wrong is None else "unknown")
            assert int(dut.quanta.value) == quanta


def compare(dut, number, word, value, mask):
    """Enables a comparison."""
    for name, setting in (("on", 1), ("word", word), ("value", value), ("mask", mask)):
        getattr(dut, f"compare{number}_{name}").value = setting


def rule(frame, hit):
    """A comparison that holds for the frame, or does not: word, value, mask."""
    word, mask = random.choice([0, 15, random.randrange(16)]), random.choice(
        [0xffffffff, 1 << random.randrange(32), random.randrange(1, 1 << 32)])
    value = int.from_bytes(frame[4*word:4*word + 4], "little") ^ random.randrange(1 << 32) & ~mask
    wrong = random.choice([bit for bit in range(32) if mask >> bit & 1])
    return word, value if hit else value ^ 1 << wrong, mask


@cocotb.test()
async def urgent_frames_are_marked(dut):
    """One of two comparisons, or both, decide, independent of earlier frames, including dropped
    ones."""
    bench = await Bench.start(dut)
    for _ in range(300):
        frame = plain(random.randint(60, 80))
        octets = add_fcs(frame)
        on = [random.random() < 0.8 for _ in range(2)]
        hits = [random.random() < 0.5 for _ in range(2)]
        together = random.random() < 0.5
        for number in range(2):
            compare(dut, number, *rule(octets, hits[number]))
            getattr(dut, f"compare{number}_on").value = int(on[number])
        dut.together.value = int(together)
        if random.random() < 0.3:  # of the same octets, but bad
            await bench.send(octets[:random.randint(1, 63)])
            assert bench.fates.pop()[0] == "undersize"
        await bench.send(octets)
        assert bench.fates.pop()[0] == "good"
        said = [hit for hit, each in zip(hits, on) if each]
        expected = (all(said) if together else any(said)) if said else False
        assert int(dut.head_urgent.value) == expected
        assert await bench.take() == frame


@cocotb.test()
async def octets_beyond_the_64th_are_not_compared(dut):
    """Nor octets whose position is the same modulo 64."""
    bench = await Bench.start(dut)
    for word in range(16):
        compare(dut, 0, word, 0xaaaaaaaa, 0xffffffff)
        for part in range(5):
            frame = bytearray(5 * 64)
            frame[64*part:64*part + 64] = bytes([0xaa] * 64)
            await bench.send(add_fcs(bytes(frame)))
            assert int(dut.head_urgent.value) == (part == 0)
            await bench.take()
