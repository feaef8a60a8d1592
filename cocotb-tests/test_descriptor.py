# SPDX-License-Identifier: BSD-2-Clause
"""The descriptor fetcher: what it delivers, and that it never reads what is not its own."""

import random
import struct

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, with_timeout

from bench.memory import Memory
from moderato.gateware.registers import table as registers

DUT = "descriptor_fetcher"
BASE = 0x4000
SIZE = registers.DESCRIPTOR_BYTES
MODULO = 1 << registers.INDEX_BITS


class Bench:
    """`ring[slot]` mirrors what the test wrote into memory."""

    @classmethod
    async def start(cls, dut, order, slow=0.0):
        bench = cls()
        bench.dut, bench.order, bench.producer = dut, order, 0
        bench.ring = {}
        Clock(dut.sys_clk, 10, unit="ns").start()
        for name in ("enable", "doorbell", "ready", "dma_arid"):
            getattr(dut, name).value = 0
        dut.base.value, dut.order.value = BASE, order
        dut.sys_rst.value = 1
        bench.memory = Memory(dut)
        bench.memory.slow(slow)
        for _ in range(3):
            await RisingEdge(dut.sys_clk)
        dut.sys_rst.value = 0
        dut.enable.value = 1
        await RisingEdge(dut.sys_clk)
        bench.checker = cocotb.start_soon(bench.check_ownership())
        return bench

    async def restart(self):
        """Enables the fetcher again, which begins anew; so does the check of ownership."""
        self.checker.cancel()
        self.memory.bursts.clear()
        self.producer = 0
        self.dut.enable.value = 1
        await RisingEdge(self.dut.sys_clk)
        self.checker = cocotb.start_soon(self.check_ownership())

    def slot(self, index):
        return index % (1 << self.order)

    async def hand_over(self, count):
        """Writes `count` descriptors of random content, then rings the doorbell once."""
        for _ in range(count):
            address, length = random.getrandbits(32), random.getrandbits(16)
            flags = random.getrandbits(2)
            words = (address, length | flags << 16, random.getrandbits(32), random.getrandbits(32))
            self.memory.ram.write(BASE + SIZE*self.slot(self.producer), struct.pack("<4I", *words))
            self.ring[self.slot(self.producer)] = (address, length, flags & 1, flags >> 1)
            self.producer = (self.producer + 1) % MODULO
        self.dut.doorbell_index.value = self.producer
        self.dut.doorbell.value = 1
        await RisingEdge(self.dut.sys_clk)
        self.dut.doorbell.value = 0
        self.dut.doorbell_index.value = random.getrandbits(16)

    async def take(self, index, patience=0.0):
        """Takes one descriptor and compares it with what was written at `index`."""
        dut = self.dut
        while random.random() < patience:
            await RisingEdge(dut.sys_clk)
        dut.ready.value = 1
        await RisingEdge(dut.sys_clk)
        while not int(dut.valid.value):
            await RisingEdge(dut.sys_clk)
        dut.ready.value = 0
        fields = ("address", "length", "request", "silent")
        got = tuple(int(getattr(dut, name).value) for name in fields)
        assert got == self.ring[self.slot(index)], f"descriptor {index}"

    async def fetched(self):
        """Until no fetch is under way: a burst ends after its last descriptor was delivered."""
        await RisingEdge(self.dut.sys_clk)
        await RisingEdge(self.dut.sys_clk)
        while not int(self.dut.idle.value):
            await RisingEdge(self.dut.sys_clk)

    async def check_ownership(self):
        """Each descriptor is read once, in order, and only after the doorbell handed it over."""
        fetched = 0
        bursts = self.memory.bursts
        while True:
            await RisingEdge(self.dut.sys_clk)
            while bursts:
                _, address, beats = bursts.pop(0)
                assert address == BASE + SIZE*self.slot(fetched), f"read {address:#x}"
                fetched = (fetched + beats*8//SIZE) % MODULO
                left = (self.producer - fetched) % MODULO
                assert left <= 1 << self.order, "read beyond the doorbell"


@cocotb.test()
@cocotb.parametrize(order=[2, 3, 5, 12], slow=[0.0, 0.6])
async def bursts_of_any_size(dut, order, slow):
    """Doorbells that move by 1 to the whole ring, several times around."""
    bench = await Bench.start(dut, order, slow)
    taken = 0
    while taken < 300:
        count = random.choice((1, 1, 2, 3, 4, 5, 7, 8, 1 << min(order, 6)))
        await bench.hand_over(min(count, 1 << order))
        while taken != bench.producer:
            await with_timeout(bench.take(taken, patience=slow), 10, "us")
            taken += 1
    await bench.fetched()
    assert int(dut.starved.value) and not int(dut.valid.value)


@cocotb.test()
async def doorbell_while_fetching(dut):
    """One descriptor a doorbell, in spurts as fast as they can be written, against a slow bus."""
    bench = await Bench.start(dut, 6, slow=0.5)

    async def produce():
        for _ in range(100):
            pause = random.choice((0.2, 0.8, 0.95))
            for _ in range(10):
                while bench.producer - taken >= 64 or random.random() < pause:
                    await RisingEdge(dut.sys_clk)
                await bench.hand_over(1)

    taken = 0
    producing = cocotb.start_soon(produce())
    while taken < 1000:
        if taken == bench.producer:
            await RisingEdge(dut.sys_clk)
            continue
        await with_timeout(bench.take(taken), 10, "us")
        taken += 1
    await producing


@cocotb.test()
async def index_wraps(dut):
    bench = await Bench.start(dut, 3)
    for _ in range(MODULO // 8 + 3):
        first = bench.producer
        await bench.hand_over(8)
        for n in range(8):
            await bench.take(first + n)
    assert bench.producer == 24


@cocotb.test()
async def starved_tells_when_all_was_delivered(dut):
    bench = await Bench.start(dut, 4, slow=0.3)
    for _ in range(30):
        assert int(dut.starved.value)
        first = bench.producer
        count = random.randint(1, 6)
        await bench.hand_over(count)
        for n in range(count):
            await RisingEdge(dut.sys_clk)
            assert not int(dut.starved.value), f"{n} of {count} delivered"
            await bench.take(first + n)
        await bench.fetched()


@cocotb.test()
async def disabling_starts_over(dut):
    """Off in the middle of fetching; later it begins at index 0, the old doorbell is forgotten."""
    bench = await Bench.start(dut, 4, slow=0.4)
    for _ in range(20):
        await bench.hand_over(random.randint(1, 16))
        for _ in range(random.randrange(30)):
            await RisingEdge(dut.sys_clk)
        dut.enable.value = 0
        await bench.fetched()
        await RisingEdge(dut.sys_clk)
        await bench.restart()
        assert int(dut.starved.value) and not int(dut.valid.value)
        await bench.hand_over(3)
        for index in range(3):
            await with_timeout(bench.take(index), 10, "us")

