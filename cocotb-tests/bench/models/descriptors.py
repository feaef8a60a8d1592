# SPDX-License-Identifier: BSD-2-Clause
"""A ring of descriptors for the fetcher alone, with a check of its reads."""

import random
import struct

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from bench.memory.memory import Memory
from moderato.gateware.registers import table as registers

BASE = 0x4000
SIZE = registers.DESCRIPTOR_BYTES
MODULO = 1 << registers.INDEX_BITS


class Descriptors:
    """The fetcher with a ring in memory: `ring[slot]` mirrors what the test wrote."""

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
        """Enables the fetcher again. It restarts, as does the check of ownership."""
        self.checker.cancel()
        self.memory.bursts.clear()
        self.producer = 0
        self.dut.enable.value = 1
        await RisingEdge(self.dut.sys_clk)
        self.checker = cocotb.start_soon(self.check_ownership())

    def slot(self, index):
        return index % (1 << self.order)

    async def hand_over(self, count):
        """Writes `count` descriptors with random contents, then rings the doorbell once."""
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
        """Takes one descriptor and compares it with the one written at `index`."""
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
        """Waits until no fetch is in progress: a burst ends after the delivery of its last
        descriptor."""
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
