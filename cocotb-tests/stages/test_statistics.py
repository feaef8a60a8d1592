# SPDX-License-Identifier: BSD-2-Clause
"""The counters against plain sums, while the bus reads one after the other without a pause."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from bench.devices.duts import BURSTS, EITHER
from bench.models.wishbone import Registers
from moderato.gateware.registers.table import counters, options
from moderato.gateware.registers.statistics import BURST_BITS

DUT   = "statistics"
NAMES = counters(options())
AT_ONCE = 2**BURST_BITS // 2 - 1  # clocks in a row with events of BURSTS, each of which may wait
LAG   = 2*len(NAMES) + 4  # clocks in which every waiting counter gets its turn, despite the bus


class Bench:
    @classmethod
    async def start(cls, dut):
        bench = cls()
        bench.dut = dut
        bench.sums = dict.fromkeys(NAMES, 0)
        bench.past = [dict(bench.sums)]  # the sums of the latest LAG clocks
        Clock(dut.sys_clk, 10, unit="ns").start()
        bench.regs = Registers(dut)
        dut.pulses.value = dut.octets.value = dut.twice.value = 0
        await bench.reset()
        return bench

    async def reset(self):
        self.dut.sys_rst.value = 1
        await ClockCycles(self.dut.sys_clk, 2)
        self.dut.sys_rst.value = 0
        self.sums = dict.fromkeys(NAMES, 0)
        self.past = [dict(self.sums)]
        await ClockCycles(self.dut.sys_clk, len(NAMES) + 8)  # the memory is cleared

    async def clock(self, names=()):
        """One clock with these events."""
        octets = random.randrange(64, 1 << 14)
        self.dut.pulses.value = sum(1 << NAMES.index(name) for name in names)
        self.dut.octets.value = octets
        twice = random.randrange(2)
        self.dut.twice.value = twice
        await RisingEdge(self.dut.sys_clk)
        for name in names:
            self.sums[name] += (octets if name.endswith("OCTETS") else
                                1 + twice if name in BURSTS else 1)
        self.past = [*self.past[-LAG:], dict(self.sums)]

    async def read_all_the_time(self):
        """Until check(): an access that is cancelled would answer the next one."""
        self.reading = True
        while self.reading:
            name = random.choice(NAMES)
            before = self.past[0][name]
            value = await self.regs.read(name)
            assert before <= value <= self.sums[name], name

    async def check(self):
        self.reading = False
        for _ in range(LAG):
            await self.clock()
        for name, count in self.sums.items():
            assert await self.regs.read(name) == count, name


@cocotb.test()
async def counts_everything(dut):
    """All kinds at once, and in every clock where that is allowed."""
    bench = await Bench.start(dut)
    cocotb.start_soon(bench.read_all_the_time())
    for _ in range(60):
        turn = {name: random.choice((0, random.randrange(LAG))) for name in NAMES}
        # Of these, an event comes at most in every third clock.
        turn |= zip(NAMES, random.sample(range(0, LAG, 3), EITHER))
        burst = random.sample(sorted(BURSTS), random.randrange(len(BURSTS) + 1))
        begin = random.choice((0, LAG))  # while they wait for others, or are being added
        for clock in range(2*LAG):
            at_once = burst if begin <= clock < begin + AT_ONCE else []
            await bench.clock([name for name in NAMES if name in at_once or
                               name not in BURSTS and turn[name] == clock])
    await bench.check()
    assert all(bench.sums.values())


@cocotb.test()
async def first_events_do_not_wait(dut):
    """Like the fates of frames: one of the first kinds in every third clock."""
    bench = await Bench.start(dut)
    cocotb.start_soon(bench.read_all_the_time())
    for _ in range(1000):
        await bench.clock([random.choice(NAMES[:EITHER])])
        await bench.clock()
        await bench.clock()
    await bench.check()


@cocotb.test()
async def reset_clears(dut):
    bench = await Bench.start(dut)
    for name in NAMES * 3:
        await bench.clock([name])
    await bench.check()
    await bench.reset()
    await bench.check()
