# SPDX-License-Identifier: BSD-2-Clause
"""Adaptive moderation: the delay of each window, by the CPU's load in the one before."""

import random
from fractions import Fraction

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from bench.devices.duts import PACING_WINDOW

DUT = "pacing"
WINDOW = 1 << PACING_WINDOW
BOUNDS = [(1, 1), (1, 7), (1, 100), (5, 101), (7, 1000), (50, 60), (500, 100), (1, 2**24 - 1)]


class Bench:
    @classmethod
    async def start(cls, dut, least=0, longest=0):
        bench = cls()
        bench.dut = dut
        Clock(dut.sys_clk, 10, unit="ns").start()
        dut.least.value, dut.longest.value, dut.busy.value, dut.clear.value = least, longest, 0, 0
        dut.sys_rst.value = 1
        for _ in range(2):
            await RisingEdge(dut.sys_clk)
        dut.sys_rst.value = 0
        await bench.clocks(2 * WINDOW)  # the first one sets its least delay
        return bench

    async def clocks(self, count, busy=0):
        """Clocks of a window, of which the first ones are busy."""
        for clock in range(count):
            self.dut.busy.value = int(clock < busy)
            await RisingEdge(self.dut.sys_clk)
        self.dut.busy.value = 0

    @property
    def delay(self):
        return int(self.dut.delay.value)


def expected(share, least, longest):
    """The delay of the documented table; `share`: busy clocks of a window."""
    if share >= Fraction(7, 8):
        return longest
    for from_on, part in ((Fraction(6, 8), 2), (Fraction(5, 8), 4), (Fraction(4, 8), 8)):
        if share >= from_on:
            return longest // part | 1
    return least


@cocotb.test()
@cocotb.parametrize(bounds=BOUNDS)
async def each_share_has_its_delay(dut, bounds):
    """A window starts with its first busy clock, and may be busy throughout."""
    bench = await Bench.start(dut, *bounds)
    for busy in [*range(1, WINDOW + 1), *random.sample(range(1, WINDOW), 20)]:
        before = bench.delay
        await bench.clocks(WINDOW, busy)
        assert bench.delay == before or busy == WINDOW
        await RisingEdge(dut.sys_clk)
        # The last clock of a window is too late to count.
        assert bench.delay == expected(Fraction(min(busy, WINDOW - 1), WINDOW), *bounds), busy
        await bench.clocks(2 * WINDOW)  # until it rests
        assert bench.delay == bounds[0] and not int(dut.awake.value)


@cocotb.test()
async def settles_within_two_windows(dut):
    """The CPU becomes busy, or idle, at any time."""
    bench = await Bench.start(dut, 10, 1000)
    for _ in range(20):
        await bench.clocks(3 * WINDOW + random.randrange(WINDOW), 10**6)
        assert bench.delay == 1000
        await bench.clocks(2 * WINDOW + 1)
        assert bench.delay == 10
        await bench.clocks(random.randrange(2 * WINDOW))


@cocotb.test()
async def rests_when_off_or_cleared(dut):
    bench = await Bench.start(dut, 10, 1000)
    await bench.clocks(3 * WINDOW, 10**6)
    for signal, value in ((dut.clear, 1), (dut.longest, 0)):
        await bench.clocks(3 * WINDOW, 10**6)
        assert bench.delay == 1000 and int(dut.awake.value)
        signal.value = value
        await bench.clocks(3)
        assert bench.delay == 10 and not int(dut.awake.value)
        dut.clear.value, dut.longest.value = 0, 1000


@cocotb.test()
async def new_bound_takes_effect_at_once(dut):
    bench = await Bench.start(dut, 10, 1000)
    dut.least.value = 20
    await bench.clocks(1)
    assert bench.delay == 20
    await bench.clocks(2 * WINDOW, 10**6)
    dut.longest.value = 500
    await bench.clocks(1, 1)
    assert bench.delay == 500
