# SPDX-License-Identifier: BSD-2-Clause
"""The clock of time stamps against exact arithmetic, in every clock, and its periodic output."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

DUT  = "ptp_clock"
SLOW = "ppb=-37000"
FRACTION = 2**32
MODULO = 2**64
SETTINGS = "increment", "value", "output_on", "output_begin", "output_period", "output_width"
PULSES = "tune", "set", "step", "latch", "output_start"


class Bench:
    """`total` is the expected time in 2**-32 ns; `changes` of the output: (clock, level)."""

    @classmethod
    async def start(cls, dut, increment=0):
        bench = cls()
        bench.dut, bench.now, bench.total, bench.addend, bench.rate = dut, 0, 0, 0, 0
        bench.latched, bench.late, bench.level, bench.changes = 0, 0, 0, []
        bench.inputs = dict.fromkeys(SETTINGS + PULSES, 0)
        for name in bench.inputs:
            getattr(dut, name).value = 0
        Clock(dut.sys_clk, 10, unit="ns").start()
        dut.sys_rst.value = 1
        for _ in range(3):
            await RisingEdge(dut.sys_clk)
        dut.sys_rst.value = 0
        await bench.clock(increment=increment, tune=1)
        await bench.clocks(3)
        return bench

    @property
    def time(self):
        return self.total // FRACTION

    async def clock(self, **inputs):
        """One clock with these inputs; pulses end with it, settings stay."""
        for name, value in inputs.items():
            getattr(self.dut, name).value = value
        self.inputs |= inputs
        await RisingEdge(self.dut.sys_clk)
        self._compare()
        self._step(**self.inputs)
        for name in PULSES:
            if self.inputs[name]:
                self.inputs[name] = getattr(self.dut, name).value = 0

    def _compare(self):
        got = [int(getattr(self.dut, name).value) for name in ("total", "latched", "late")]
        assert got == [self.total, self.latched, self.late], f"clock {self.now}"
        level = int(self.dut.output_level.value)
        if level != self.level:
            self.changes.append((self.now, level))
        self.level = level

    def _step(self, increment, value, tune, set, step, latch, **_):
        self.now += 1
        self.late = self.time
        if latch:
            self.latched = self.time
        self.total = (value * FRACTION if set else self.total + self.addend) % (MODULO * FRACTION)
        self.addend = self.rate + step * value * FRACTION
        if tune:
            self.rate = increment

    async def clocks(self, count):
        for _ in range(count):
            await self.clock()


@cocotb.test()
async def clock_stops_until_tuned(dut):
    bench = await Bench.start(dut)
    await bench.clocks(100)
    assert bench.total == 0
    await bench.clock(increment=10 * FRACTION, tune=1)
    await bench.clocks(100)
    assert 980 <= bench.time <= 1000


@cocotb.test()
async def everything_at_random(dut):
    """Settings, steps forward and back, reads, in any order."""
    bench = await Bench.start(dut, 10 * FRACTION)
    for _ in range(20_000):
        inputs = {}
        if random.random() < 0.2:
            inputs["value"] = random.choice((random.getrandbits(64), random.getrandbits(20),
                                             MODULO - random.getrandbits(20), 2**32 - 20))
        if random.random() < 0.2:
            inputs["increment"] = random.choice((random.getrandbits(40), 10 * FRACTION))
        inputs |= {name: 1 for name in PULSES[:-1] if random.random() < 0.1}
        await bench.clock(**inputs)


@cocotb.test()
async def time_words_are_consistent(dut):
    """The lower word wraps, and the upper one increments."""
    bench = await Bench.start(dut, 10 * FRACTION)
    for ahead in range(-40, 40):
        await bench.clock(value=2**32 * 7 + ahead, set=1)
        for _ in range(4):
            await bench.clock(latch=1)


@cocotb.test()
@cocotb.parametrize(ppb=[0, 0.03, -0.03, 1, -37_000, 100_000, -500_000])
async def frequency_is_exact(dut, ppb):
    """A clock of 100 MHz whose rate is changed by `ppb`: its error comes only from the increment's
    last bit, and is below 1 ns."""
    increment = round(10 * FRACTION * (1 + ppb / 1e9))
    assert abs(increment / (10 * FRACTION) - 1 - ppb / 1e9) < 0.012e-9
    bench = await Bench.start(dut, increment)
    await bench.clock(value=0, set=1)
    count = 200_000 if ppb == -37_000 else 20_000
    await bench.clocks(count)
    assert abs(bench.time - 10 * count * (1 + ppb / 1e9)) <= 1


@cocotb.test()
async def clock_step_loses_no_time(dut):
    """Time passes during steps: forward, back, by 0, several times in a row."""
    bench = await Bench.start(dut, 8 * FRACTION + FRACTION // 3)
    await bench.clock(value=10**18, set=1)
    before, clock = bench.total, bench.now
    steps = [1, -1, 10**9, -10**9, 0, 37, -12345678901]
    for step in steps:
        await bench.clock(value=step % MODULO, step=1)
        if step < 100:
            await bench.clocks(random.randrange(5))
    await bench.clocks(2)
    assert bench.total - before == (bench.now - clock) * bench.rate + sum(steps) * FRACTION


# Periodic output ----------------------------------------------------------------------------------

async def reached(bench, time):
    """The clock with that time, or the first one after it."""
    while bench.time < time:
        await bench.clock()
    return bench.now


@cocotb.test()
async def output_rises_and_falls_in_time(dut):
    """Two clocks after the first one with that time, also if period and clock do not divide."""
    bench = await Bench.start(dut, 10 * FRACTION + 12345)
    for begin, period, width in ((1000, 1000, 500), (1003, 777, 50), (101, 97, 60), (500, 40, 20)):
        await bench.clock(output_on=0)
        await bench.clock(value=0, set=1)
        await bench.clock(output_begin=begin, output_start=1)
        await bench.clock(output_on=1, output_period=period, output_width=width)
        bench.changes.clear()
        expected = []
        for n in range(30):
            for level, time in ((1, begin + n * period), (0, begin + n * period + width)):
                expected.append((await reached(bench, time) + 2, level))
        await bench.clocks(3)
        assert bench.changes[:60] == expected


@cocotb.test()
async def output_is_low_when_off(dut):
    bench = await Bench.start(dut, 10 * FRACTION)
    await bench.clock(output_begin=0, output_period=200, output_width=100, output_start=1)
    await bench.clocks(100)
    assert bench.changes == []
    await bench.clock(output_on=1)
    while not bench.level:
        await bench.clock()
    await bench.clock(output_on=0)
    await bench.clocks(2)
    assert bench.level == 0
    await bench.clocks(100)
    assert bench.level == 0


@cocotb.test()
async def output_waits_for_its_begin(dut):
    """Even for a long time, and also after a new start while the output is high."""
    bench = await Bench.start(dut, 10 * FRACTION)
    await bench.clock(value=0, set=1)
    await bench.clock(output_begin=100, output_period=10**9, output_width=10**8, output_start=1,
                      output_on=1)
    await reached(bench, 200)
    assert bench.level == 1
    await bench.clock(output_begin=20_000, output_start=1)
    bench.changes.clear()
    clock = await reached(bench, 20_000)
    await bench.clocks(5)
    assert [change for change in bench.changes if change[1]] == [(clock + 2, 1)]
