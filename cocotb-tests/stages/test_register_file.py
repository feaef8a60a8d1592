# SPDX-License-Identifier: BSD-2-Clause
"""The register file: every access is done once, however closely accesses follow each other."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from bench.models.wishbone import TABLE, Registers
from moderato.gateware.registers.table import counters, options

DUT = "register_file"
STROBES = [name for name, register in TABLE.items() if register.access != "ro"]
HOLE = 0x0FC  # no register has this offset


class Bench:
    """`strobes` lists (register, data) of every strobe, `counting` the clocks with that request."""

    @classmethod
    async def start(cls, dut):
        bench = cls()
        bench.dut, bench.strobes, bench.counting, bench.answers = dut, [], 0, 0
        bench.values = {name: register.reset for name, register in TABLE.items()
                        if register.access == "rw"}
        Clock(dut.sys_clk, 10, unit="ns").start()
        bench.regs = Registers(dut)
        dut.sys_rst.value = 1
        await ClockCycles(dut.sys_clk, 2)
        dut.sys_rst.value = 0
        await RisingEdge(dut.sys_clk)
        cocotb.start_soon(bench._watch())
        return bench

    async def _watch(self):
        dut = self.dut
        while True:
            await RisingEdge(dut.sys_clk)
            word = int(dut.strobes.value)
            self.strobes += [(name, int(dut.data.value))
                             for bit, name in enumerate(STROBES) if word >> bit & 1]
            self.counting += int(dut.counting.value)
            self.answers += int(dut.bus_ack.value) + int(dut.bus_err.value)

    def expected(self, name):
        """The value that a read returns."""
        register = TABLE[name]
        if register.counter:
            return 256 + counters(options()).index(name)
        driven = register.offset % 2**register.width if register.access == "ro" else 0
        return self.values.get(name, driven)

    def write(self, name, data):
        """Updates the expected contents after a write of a whole word; returns its strobe."""
        if name in self.values:
            self.values[name] = data & 2**TABLE[name].bits(options()) - 1
        return [(name, data)] * (name in STROBES)


@cocotb.test()
@cocotb.parametrize(idle=[False, True])
async def every_access_once(dut, idle):
    """Reads and writes of all kinds, with one idle clock between them or none."""
    bench = await Bench.start(dut)
    accesses, answers, strobes = [], [], []
    for name in random.choices(list(TABLE), k=600) + list(TABLE) * 2:
        answers.append(bench.expected(name))
        data = random.getrandbits(32) if random.random() < 0.6 else None
        accesses.append((TABLE[name].offset, data))
        if data is not None:
            strobes += bench.write(name, data)
    groups = [[access] for access in accesses] if idle else [accesses]
    got = [answer for group in groups for answer in await bench.regs.back_to_back(group)]
    # The data of a write's response have no meaning.
    assert [answer for answer, access in zip(got, accesses) if access[1] is None] == \
        [answer for answer, access in zip(answers, accesses) if access[1] is None]
    assert bench.strobes == strobes
    await ClockCycles(dut.sys_clk, 5)
    assert bench.strobes == strobes, "a write took effect after its end"
    assert bench.answers == len(accesses)
    assert bench.counting == sum(TABLE[name].counter for offset, _ in accesses
                                 for name in TABLE if TABLE[name].offset == offset)


@cocotb.test()
async def partial_writes_do_nothing(dut):
    """Partial writes return an error, except for one of no byte; reads may select any bytes."""
    bench = await Bench.start(dut)
    for name in TABLE:
        for sel in range(15):
            refused, value = await bench.regs.back_to_back(
                [(TABLE[name].offset, 0xFFFFFFFF, sel), (TABLE[name].offset, None, sel)])
            assert (refused is None) == (sel != 0), f"{name} with sel {sel:04b}"
            assert value == bench.expected(name), f"{name} after sel {sel:04b}"
    assert not bench.strobes
    for name in TABLE:
        strobes = bench.write(name, data := random.getrandbits(32))
        bench.strobes.clear()
        await bench.regs.back_to_back([(TABLE[name].offset, data, 1), (TABLE[name].offset, data),
                                       (TABLE[name].offset, data, 14)])
        await RisingEdge(dut.sys_clk)
        assert bench.strobes == strobes, "a write next to failed ones"


@cocotb.test()
async def unlisted_offsets_read_zero(dut):
    bench = await Bench.start(dut)
    assert HOLE not in [register.offset for register in TABLE.values()]
    got = await bench.regs.back_to_back([(TABLE["ID"].offset, None), (HOLE, 0xFFFFFFFF),
                                         (HOLE, None), (TABLE["ID"].offset, None)])
    assert [got[0], *got[2:]] == [TABLE["ID"].offset, 0, TABLE["ID"].offset]
    assert not bench.strobes


@cocotb.test()
async def ignores_incomplete_bus_cycles(dut):
    """A cycle without a strobe, and a strobe without a cycle, are for other slaves."""
    bench = await Bench.start(dut)
    dut.bus_we.value, dut.bus_adr.value = 1, TABLE["CTRL"].offset // 4
    dut.bus_sel.value = 0xF
    for cyc, stb in ((0, 1), (1, 0), (0, 0)):
        dut.bus_cyc.value, dut.bus_stb.value = cyc, stb
        await ClockCycles(dut.sys_clk, 5)
    assert not bench.strobes and not bench.answers
