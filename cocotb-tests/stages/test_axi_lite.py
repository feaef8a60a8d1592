# SPDX-License-Identifier: BSD-2-Clause
"""The registers on AXI4-Lite, by cocotbext-axi's master: each access is done once, and gets a
response."""

import random

import cocotb
from cocotb.triggers import RisingEdge, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from bench.models import axi_master
from bench.models.wishbone import TABLE
from moderato.gateware.registers.table import counters

DUT = "axi_lite"
REGISTERS = [register for register in TABLE.values() if not register.option]
STROBES = [register.name for register in REGISTERS if register.access != "ro"]


class Bench:
    """`strobes` and `counts`: how often each register was written, and each counter requested."""

    @classmethod
    async def start(cls, dut, pause=0.0):
        bench = cls()
        bench.dut, bench.strobes, bench.counts = dut, [], 0
        bench.values = {register.name: register.reset for register in REGISTERS}
        bench.master = await axi_master.start(dut, AxiLiteMaster, AxiLiteBus, pause)
        cocotb.start_soon(bench._watch())
        return bench

    async def _watch(self):
        while True:
            await RisingEdge(self.dut.sys_clk)
            word = int(self.dut.strobes.value)
            self.strobes += [name for bit, name in enumerate(STROBES) if word >> bit & 1]
            self.counts += int(self.dut.counting.value)

    def expected(self, register):
        if register.counter:
            return 256 + counters().index(register.name)
        return {"ro": register.offset % 2**register.width, "wo": 0}.get(
            register.access, self.values[register.name])

    async def read(self, register):
        answer = await with_timeout(self.master.read(register.offset, 4), 20, "us")
        assert answer.resp == AxiResp.OKAY
        assert int.from_bytes(answer.data, "little") == self.expected(register), register.name

    async def write(self, register, data):
        answer = await with_timeout(
            self.master.write(register.offset, data.to_bytes(4, "little")), 20, "us")
        assert answer.resp == AxiResp.OKAY
        self.values[register.name] = data & 2**register.width - 1


@cocotb.test()
@cocotb.parametrize(pause=[0.0, 0.5])
async def every_access_once(dut, pause):
    bench = await Bench.start(dut, pause)
    wanted, asked = [], 0
    for register in random.choices(REGISTERS, k=300):
        if random.random() < 0.5:
            await bench.write(register, random.getrandbits(32))
            wanted += [register.name] * (register.access != "ro")
        else:
            await bench.read(register)
        asked += register.counter
    assert bench.strobes == wanted
    assert bench.counts == asked


@cocotb.test()
@cocotb.parametrize(pause=[0.0, 0.5])
async def both_ways_at_once(dut, pause):
    """Neither direction blocks the other."""
    bench = await Bench.start(dut, pause)
    writable = [register for register in REGISTERS if register.access == "rw"]
    others = [register for register in REGISTERS if register.access == "ro"]

    async def reads():
        for register in random.choices(others, k=100):
            await bench.read(register)

    reading = cocotb.start_soon(reads())
    for register in random.choices(writable, k=100):
        await bench.write(register, random.getrandbits(32))
    await reading
    for register in writable:
        await bench.read(register)


@cocotb.test()
@cocotb.parametrize(length=[1, 2, 3])
async def rejects_partial_words(dut, length):
    """The response is SLVERR, nothing changes, and the next access works."""
    bench = await Bench.start(dut)
    for register in REGISTERS:
        for offset in range(5 - length):
            answer = await with_timeout(
                bench.master.write(register.offset + offset, bytes(length)), 20, "us")
            assert answer.resp == AxiResp.SLVERR, f"{register.name} at {offset}"
        await bench.read(register)
    assert bench.strobes == []
