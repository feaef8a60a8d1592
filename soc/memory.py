# SPDX-License-Identifier: BSD-2-Clause
"""Main memory: the CPU cluster's port to it, and what can stand behind that port."""

from migen import C, Cat, If, Memory, READ_FIRST, Signal

from litex.gen import LiteXModule
from litex.soc.interconnect import stream

WORD = 64  # bits


class MemoryPort:
    """In-order commands of one 64-bit word each; reads answer in order, at any later time.

    `cmd`: `addr` in words of the CPU's address space, `we`, `data`, `mask` (a bit per byte).
    `rsp`: one word for each read, at least two cycles after its command; it cannot be held up.
    """
    def __init__(self):
        self.cmd = stream.Endpoint([("addr", 29), ("we", 1), ("data", WORD), ("mask", WORD // 8)])
        self.rsp = stream.Endpoint([("data", WORD)])


# Simulation ---------------------------------------------------------------------------------------

class IntegratedRAM(LiteXModule):
    """A RAM that takes a command in each cycle, and answers a read `latency` cycles later.

    So a line of 64 bytes takes `latency` + 7 cycles when nobody else is served. It models an SDRAM
    controller with open rows: neither row misses nor refresh nor the direction of the data bus
    cost anything. Words are in `main_ram`, a Verilog array, for a simulator to fill.
    """
    def __init__(self, port: MemoryPort, size: int, latency: int = 8):
        if latency < 3:
            raise ValueError(f"latency = {latency}: the RAM needs at least 3 cycles")
        words = size // (WORD // 8)
        self.size    = size
        self.latency = latency

        # # #

        # Array.
        self.main_ram = Memory(WORD, words, name="main_ram")
        ram = self.main_ram.get_port(write_capable=True, we_granularity=8, mode=READ_FIRST)
        self.specials += self.main_ram, ram
        self.comb += [
            port.cmd.ready.eq(1),
            ram.adr.eq(port.cmd.addr),
            ram.dat_w.eq(port.cmd.data),
            If(port.cmd.valid & port.cmd.we, ram.we.eq(port.cmd.mask)),
        ]

        # Latency: the array takes one cycle, a ring of words the others.
        depth = latency - 1
        ring  = Memory(WORD, depth, name="main_ram_ring")
        put   = ring.get_port(write_capable=True)
        get   = ring.get_port(async_read=True)
        index = Signal(max=depth)
        reads = Signal(latency)
        self.specials += ring, put, get
        self.sync += [
            index.eq(index + 1),
            If(index == depth - 1, index.eq(0)),
            reads.eq(Cat(port.cmd.valid & ~port.cmd.we, reads)),
        ]
        self.comb += [
            put.adr.eq(index), put.dat_w.eq(ram.dat_r), put.we.eq(1),
            get.adr.eq(index),
            port.rsp.valid.eq(reads[-1]),
            port.rsp.data.eq(get.dat_r),
        ]


# Boards -------------------------------------------------------------------------------------------

class DRAMBridge(LiteXModule):
    """From the cluster's port to a native port of LiteDRAM with words of 64 bits.

    The controller takes the data of a write some cycles after its command, and without asking: the
    command is only given when the data is at hand.
    """
    def __init__(self, port: MemoryPort, dram, base: int):
        if dram.data_width != WORD:
            raise ValueError(f"LiteDRAM port of {dram.data_width} bits: the cluster needs {WORD}")

        # # #

        self.data = data = stream.SyncFIFO([("data", WORD), ("we", WORD // 8)], 16)
        go = Signal()
        self.comb += [
            go.eq(~port.cmd.we | data.sink.ready),
            dram.cmd.valid.eq(port.cmd.valid & go),
            dram.cmd.we.eq(port.cmd.we),
            dram.cmd.addr.eq(port.cmd.addr - C(base // (WORD // 8), 29)),
            port.cmd.ready.eq(dram.cmd.ready & go),
            data.sink.valid.eq(port.cmd.valid & port.cmd.we & dram.cmd.ready),
            data.sink.data.eq(port.cmd.data),
            data.sink.we.eq(port.cmd.mask),
            data.source.connect(dram.wdata),
            dram.rdata.ready.eq(1),
            port.rsp.valid.eq(dram.rdata.valid),
            port.rsp.data.eq(dram.rdata.data),
        ]
