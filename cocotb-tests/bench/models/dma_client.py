# SPDX-License-Identifier: BSD-2-Clause
"""A client of the AXI master alone, at one of its ports."""

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from bench.memory.memory import BEAT, Memory

CLIENTS = range(3)
SIZE = 2**16


class Client:
    """The signals of one port, read<n> or write<n>."""

    def __init__(self, dut, name):
        self._dut, self._name = dut, name
        self.clock = RisingEdge(dut.sys_clk)

    def __getattr__(self, signal):
        return getattr(self._dut, f"{self._name}_{signal}")

    async def request(self, address, beats, **note):
        for name, value in {"address": address // BEAT, "last_beat": beats - 1, **note}.items():
            getattr(self, name).value = value
        self.request_valid.value = 1
        await self.clock
        while not int(self.request_ready.value):
            await self.clock
        self.request_valid.value = 0


async def start(dut, slow=0.0):
    Clock(dut.sys_clk, 10, unit="ns").start()
    for n in CLIENTS:
        getattr(dut, f"read{n}_request_valid").value = 0
        getattr(dut, f"write{n}_request_valid").value = 0
        getattr(dut, f"write{n}_valid").value = 0
    dut.dma_awid.value = dut.dma_arid.value = 0
    dut.sys_rst.value = 1
    memory = Memory(dut, size=SIZE)
    memory.slow(slow)
    for _ in range(3):
        await RisingEdge(dut.sys_clk)
    dut.sys_rst.value = 0
    await RisingEdge(dut.sys_clk)
    return memory
