# SPDX-License-Identifier: BSD-2-Clause
"""The registers on AXI4, by cocotbext-axi's master: bursts of any size, and bursts with errors."""

import random

import cocotb
from cocotb.triggers import with_timeout
from cocotbext.axi import AxiBurstType, AxiBus, AxiMaster, AxiResp

from bench.models import axi_master
from bench.models.wishbone import TABLE

DUT = "axi_slave"
START, WORD = TABLE["MAC_LOW"].offset, 4  # the registers that are written here
NAMES = ["MAC_LOW", "MAC_HIGH", "HASH_LOW", "HASH_HIGH"]


class Bench:
    """`held`: the octets of these registers."""

    @classmethod
    async def start(cls, dut, pause=0.0):
        bench = cls()
        bench.master = await axi_master.start(dut, AxiMaster, AxiBus, pause)
        bench.held = bytearray(b"".join(TABLE[name].reset.to_bytes(WORD, "little") for name in NAMES))
        return bench

    async def write(self, at, data, **how):
        """Writes from octet `at` of these registers on; returns whether the response was OKAY."""
        answer = await with_timeout(self.master.write(START + at, data, **how), 20, "us")
        return answer.resp == AxiResp.OKAY

    async def read(self, at=0, length=len(NAMES)*WORD, **how):
        answer = await with_timeout(self.master.read(START + at, length, **how), 20, "us")
        assert answer.resp == AxiResp.OKAY
        return answer.data

    def hold(self, word, data):
        """Updates the expected contents after a write of a whole register."""
        value = int.from_bytes(data, "little") & (1 << TABLE[NAMES[word]].width) - 1
        self.held[WORD*word:WORD*(word + 1)] = value.to_bytes(WORD, "little")


@cocotb.test()
@cocotb.parametrize(pause=[0.0, 0.5])
async def bursts_of_every_size(dut, pause):
    """Narrow bursts, and bursts that start or end within a word: partial writes return an error,
    the rest of the burst is done."""
    bench = await Bench.start(dut, pause)
    for _ in range(300):
        size, at = random.randrange(4), random.randrange(16)
        data = random.randbytes(random.randrange(1, 17 - at))
        partial = False
        for word in range(4):
            inside = range(max(at, WORD*word), min(at + len(data), WORD*(word + 1)))
            whole = len(inside) == WORD and size >= 2  # in one beat
            if whole:
                bench.hold(word, data[WORD*word - at:][:WORD])
            partial |= 0 < len(inside) and not whole
        assert await bench.write(at, data, size=size) != partial, (at, len(data), size)
        assert await bench.read(at, len(data), size=random.randrange(4)) == bench.held[at:at + len(data)]
        assert await bench.read() == bench.held


@cocotb.test()
async def bursts_to_one_place(dut):
    """FIXED: the last beat remains, and neighbours do not change. WRAP: no access."""
    bench = await Bench.start(dut)
    at = WORD*NAMES.index("HASH_LOW")
    for _ in range(20):
        data = random.randbytes(32)
        assert await bench.write(at, data, burst=AxiBurstType.FIXED)
        bench.hold(2, data[24:28])
        bench.hold(3, data[28:])
        assert await bench.read() == bench.held
        assert await bench.read(at, 16, burst=AxiBurstType.FIXED) == bench.held[at:]*2
        assert not await bench.write(at, random.randbytes(16), burst=AxiBurstType.WRAP)
        assert await bench.read() == bench.held


@cocotb.test()
@cocotb.parametrize(pause=[0.0, 0.5])
async def reads_and_writes_at_once(dut, pause):
    """All get responses, and a read returns a register's value before or after a write."""
    bench = await Bench.start(dut, pause)
    at, last = WORD*NAMES.index("HASH_LOW"), bytes(8)
    for _ in range(100):
        data = random.randbytes(8)
        writing = cocotb.start_soon(bench.write(at, data))
        got = await bench.read(at, 8)
        assert got in (last, data)
        assert await writing
        last = data


@cocotb.test()
async def reads_and_writes_take_turns(dut):
    """A write gets between pending reads, and a read between writes."""
    bench = await Bench.start(dut)
    at = WORD*NAMES.index("HASH_LOW")
    for _ in range(10):
        reads = [cocotb.start_soon(bench.read()) for _ in range(12)]
        assert await bench.write(at, bytes(8))
        assert not all(task.done() for task in reads), "the write came last"
        for task in reads:
            await task
        writes = [cocotb.start_soon(bench.write(at, bytes(8))) for _ in range(12)]
        await bench.read()
        assert not all(task.done() for task in writes), "the read came last"
        for task in writes:
            assert await task
