# SPDX-License-Identifier: BSD-2-Clause
"""The table of VLANs: each of the 4096 is in its place only."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

DUT = "membership"
VLANS, ROW, LAG = 4096, 16, 2


class Bench:
    """`members` is what the table should hold."""

    @classmethod
    async def start(cls, dut):
        bench = cls()
        bench.dut, bench.members = dut, set()
        Clock(dut.sys_clk, 10, unit="ns").start()
        dut.write.value = dut.vid.value = 0
        dut.sys_rst.value = 1
        await RisingEdge(dut.sys_clk)
        dut.sys_rst.value = 0
        for row in range(VLANS // ROW):
            await bench.write(row, random.choice((0, 0xFFFF, random.getrandbits(ROW))))
        return bench

    async def write(self, row, bits):
        dut = self.dut
        dut.row.value, dut.members.value, dut.write.value = row, bits, 1
        await RisingEdge(dut.sys_clk)
        dut.write.value, dut.row.value, dut.members.value = 0, 0, 0xFFFF
        self.members -= set(range(ROW*row, ROW*row + ROW))
        self.members |= {ROW*row + bit for bit in range(ROW) if bits >> bit & 1}

    async def ask(self, vid):
        self.dut.vid.value = vid
        for _ in range(LAG):
            await RisingEdge(self.dut.sys_clk)
        member = int(self.dut.member.value)
        assert member == (vid == 0 or vid in self.members), vid


@cocotb.test()
async def every_vlan_has_its_bit(dut):
    bench = await Bench.start(dut)
    for vid in range(VLANS):
        await bench.ask(vid)


@cocotb.test()
async def rows_change_alone(dut):
    """Rows are rewritten, also during lookups of their VLANs; a reset changes none."""
    bench = await Bench.start(dut)
    for number in range(600):
        row = random.randrange(VLANS // ROW)
        await bench.write(row, random.getrandbits(ROW))
        if number == 300:
            dut.sys_rst.value = 1
            await RisingEdge(dut.sys_clk)
            dut.sys_rst.value = 0
        for vid in (ROW*row + random.randrange(ROW), random.randrange(VLANS), 0):
            await bench.ask(vid)


@cocotb.test()
async def lookup_survives_write_of_its_row(dut):
    """A lookup's result is right while others of its row, or other rows, are written."""
    bench = await Bench.start(dut)
    for _ in range(300):
        vid  = random.randrange(1, VLANS)
        row  = random.choice((vid // ROW, random.randrange(VLANS // ROW)))
        bits = sum((ROW*row + bit in bench.members) << bit for bit in range(ROW))
        await bench.ask(vid)
        await bench.write(row, bits ^ (random.getrandbits(ROW) & ~(1 << vid % ROW)))
        await RisingEdge(dut.sys_clk)
        assert int(dut.member.value) == (vid in bench.members), vid
