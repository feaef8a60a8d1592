# SPDX-License-Identifier: BSD-2-Clause
"""Main memory: the CPU cluster's port, and the memories that connect to it."""

from litex.gen import LiteXModule
from litex.soc.interconnect import stream
from migen import (
    FSM,
    READ_FIRST,
    Array,
    C,
    Cat,
    If,
    Memory,
    Mux,
    NextState,
    NextValue,
    Signal,
    log2_int,
)

WORD = 64  # bits


class MemoryPort:
    """In-order commands for one 64-bit word each. Memory answers reads in order, at any later time.

    `cmd`: `addr` in words of the CPU's address space, `we`, `data`, `mask` (a bit per byte).
    `rsp`: one word for each read, at least two cycles after its command, without backpressure.
    """

    def __init__(self):
        self.cmd = stream.Endpoint([("addr", 29), ("we", 1), ("data", WORD), ("mask", WORD // 8)])
        self.rsp = stream.Endpoint([("data", WORD)])


# Simulation ---------------------------------------------------------------------------------------


class IntegratedRAM(LiteXModule):
    """A RAM that accepts a command in each cycle, and answers a read `latency` cycles later.

    Without other traffic, a line of 64 bytes takes `latency` + 7 cycles. The RAM models an SDRAM
    controller with open rows. Row misses, refresh and turns of the data bus cost no cycles. Words are in
    `main_ram`, a Verilog array that a simulator fills.
    """

    def __init__(self, port: MemoryPort, size: int, latency: int = 8):
        if latency < 3:
            raise ValueError(f"latency = {latency}: the RAM needs at least 3 cycles")
        words = size // (WORD // 8)
        self.size = size
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

        # Latency: the array takes one cycle.
        self.delay = delay = WordDelay(WORD, latency - 1)
        reads = Signal(latency)
        self.sync += reads.eq(Cat(port.cmd.valid & ~port.cmd.we, reads))
        self.comb += [
            delay.sink.eq(ram.dat_r),
            port.rsp.valid.eq(reads[-1]),
            port.rsp.data.eq(delay.source),
        ]


class WordDelay(LiteXModule):
    """Delays `sink` by `cycles`, with a ring in which only one word changes per cycle."""

    def __init__(self, bits: int, cycles: int):
        self.sink = Signal(bits)
        self.source = Signal(bits)

        # # #

        ring = Memory(bits, cycles, name="main_ram_ring")
        put = ring.get_port(write_capable=True)
        get = ring.get_port(async_read=True)
        index = Signal(max=cycles)
        self.specials += ring, put, get
        self.sync += index.eq(index + 1), If(index == cycles - 1, index.eq(0))
        self.comb += [
            put.adr.eq(index),
            put.dat_w.eq(self.sink),
            put.we.eq(1),
            get.adr.eq(index),
            self.source.eq(get.dat_r),
        ]


# Boards -------------------------------------------------------------------------------------------


class WholeWords(LiteXModule):
    """Turns every write of `port` into a write of a whole word to `memory`, a MemoryPort, for a memory
    without byte masks.

    A write of some bytes reads the word first, and blocks other commands until it is merged. A register
    keeps the last written word, so that further writes to it need no read. A CPU that stores two halves
    of a word waits once. Writes of whole words, most of the DMA's, never wait.
    """

    max_reads = 63  # outstanding reads of `port`

    def __init__(self, port: MemoryPort):
        self.memory = memory = MemoryPort()

        # # #

        # A register before the comparisons. It does not register `ready`; DRAMBridge does.
        self.buffer = buffer = stream.Buffer(port.cmd.description)
        cmd = buffer.source
        self.comb += port.cmd.connect(buffer.sink)

        # Outstanding reads of `port`, whose answers precede that of this module's own read.
        ahead = Signal(max=self.max_reads + 1)
        self.sync += ahead.eq(ahead + (cmd.valid & cmd.ready & ~cmd.we) - port.rsp.valid)

        # The last written word.
        kept = Signal(WORD)
        address = Signal(29)
        known = Signal()
        needed = Signal()  # a partial write that has to read its word first
        whole = Signal(WORD)
        self.comb += [
            needed.eq(cmd.we & (cmd.mask != 2 ** (WORD // 8) - 1) & ~(known & (cmd.addr == address))),
            [
                whole[8 * n : 8 * n + 8].eq(
                    Mux(cmd.mask[n], cmd.data[8 * n : 8 * n + 8], kept[8 * n : 8 * n + 8])
                )
                for n in range(WORD // 8)
            ],
            memory.cmd.addr.eq(cmd.addr),
            memory.cmd.data.eq(whole),
            memory.cmd.mask.eq(2 ** (WORD // 8) - 1),
            port.rsp.data.eq(memory.rsp.data),
        ]

        self.fsm = fsm = FSM(reset_state="PASS")
        fsm.act(
            "PASS",
            port.rsp.valid.eq(memory.rsp.valid),
            memory.cmd.we.eq(cmd.we & ~needed),
            memory.cmd.valid.eq(cmd.valid & (cmd.we | (ahead != self.max_reads))),
            cmd.ready.eq(memory.cmd.ready & ~needed & (cmd.we | (ahead != self.max_reads))),
            If(
                cmd.valid & memory.cmd.ready,
                If(
                    needed,
                    NextState("READ"),
                ).Elif(
                    cmd.we,
                    NextValue(kept, whole),
                    NextValue(address, cmd.addr),
                    NextValue(known, 1),
                ),
            ),
        )
        fsm.act(
            "READ",
            port.rsp.valid.eq(memory.rsp.valid & (ahead != 0)),
            If(
                memory.rsp.valid & (ahead == 0),
                NextValue(kept, memory.rsp.data),
                NextValue(address, cmd.addr),
                NextValue(known, 1),
                NextState("PASS"),
            ),
        )


class DRAMBridge(LiteXModule):
    """Connects the cluster's port to a native LiteDRAM port, whose words are one or more 64-bit words.

    Consecutive accesses to one LiteDRAM word become one command. WriteJoiner merges writes; reads get
    the data that the first of them fetched.
    LiteDRAM fetches write data some cycles after the command, without a handshake. The bridge therefore
    issues a write only with its data, and a read only if there is room for the answer. Registers in both
    directions separate the logic of the two sides.
    """

    def __init__(self, port: MemoryPort, dram, base: int, depth: int = 16):
        lanes = dram.data_width // WORD
        if dram.data_width != lanes * WORD or lanes & (lanes - 1) or not lanes:
            raise ValueError(
                f"LiteDRAM port of {dram.data_width} bits: the cluster needs {WORD} "
                "or a power-of-two multiple"
            )

        # # #

        # Commands.
        self.buffer = buffer = stream.Buffer(port.cmd.description, pipe_valid=True, pipe_ready=True)
        cmd, lane = buffer.source, C(0)
        if lanes > 1:
            self.joiner = joiner = WriteJoiner(lanes)
            self.comb += buffer.source.connect(joiner.sink)
            cmd, lane = joiner.source, joiner.source.lane
        self.data = data = stream.SyncFIFO(
            [("data", dram.data_width), ("mask", dram.data_width // 8)], depth
        )
        self.order = order = stream.SyncFIFO([("lane", max(log2_int(lanes), 1)), ("again", 1)], depth)
        previous = Signal.like(cmd.addr)  # address of the last command, if it was a read (`fetched`)
        fetched = Signal()
        again = Signal()
        ready = Signal()
        self.comb += [
            port.cmd.connect(buffer.sink),
            again.eq(~cmd.we & fetched & (lane != 0) & (cmd.addr == previous)),
            ready.eq(Mux(cmd.we, data.sink.ready, order.sink.ready)),
            dram.cmd.valid.eq(cmd.valid & ready & ~again),
            dram.cmd.we.eq(cmd.we),
            dram.cmd.addr.eq(cmd.addr - C(base // (dram.data_width // 8), len(cmd.addr))),
            cmd.ready.eq(ready & (dram.cmd.ready | again)),
        ]
        self.sync += If(cmd.valid & cmd.ready, previous.eq(cmd.addr), fetched.eq(~cmd.we))

        # Write data.
        self.comb += [
            data.sink.valid.eq(cmd.valid & cmd.we & dram.cmd.ready),
            data.sink.data.eq(cmd.data),
            data.sink.mask.eq(cmd.mask),
            dram.wdata.valid.eq(data.source.valid),
            dram.wdata.data.eq(data.source.data),
            dram.wdata.we.eq(data.source.mask),
            data.source.ready.eq(dram.wdata.ready),
        ]

        # Answers to reads.
        self.words = words = stream.SyncFIFO([("data", dram.data_width)], depth)
        word = Signal(dram.data_width)
        turn = Signal.like(order.sink.lane)
        self.comb += [
            order.sink.valid.eq(cmd.valid & ~cmd.we & (dram.cmd.ready | again)),
            order.sink.lane.eq(lane),
            order.sink.again.eq(again),
            dram.rdata.connect(words.sink),
            order.source.ready.eq(order.source.again | words.source.valid),
            words.source.ready.eq(order.source.valid & ~order.source.again),
            port.rsp.data.eq(Array(word[WORD * n : WORD * (n + 1)] for n in range(lanes))[turn]),
        ]
        self.sync += [
            If(words.source.ready, word.eq(words.source.data)),
            turn.eq(order.source.lane),
            port.rsp.valid.eq(order.source.valid & order.source.ready),
        ]


class WriteJoiner(LiteXModule):
    """Commands for words of `lanes` 64-bit words. Consecutive writes to one such word become one write.

    The joiner holds a write until another command comes or `source` is ready. The delay is invisible,
    because all accesses to memory pass this stream. `lane` is valid for reads only.
    """

    def __init__(self, lanes: int):
        bits = log2_int(lanes)
        self.sink = sink = stream.Endpoint(MemoryPort().cmd.description)
        self.source = source = stream.Endpoint(
            [
                ("addr", 29 - bits),
                ("lane", bits),
                ("we", 1),
                ("data", WORD * lanes),
                ("mask", WORD // 8 * lanes),
            ]
        )

        # # #

        held = Signal()
        addr = Signal.like(source.addr)
        joins = Signal()
        self.comb += [
            joins.eq(held & sink.valid & sink.we & (sink.addr[bits:] == addr)),
            source.valid.eq(Mux(held, ~joins, sink.valid & ~sink.we)),
            source.we.eq(held),
            source.addr.eq(Mux(held, addr, sink.addr[bits:])),
            source.lane.eq(sink.addr[:bits]),
            sink.ready.eq(Mux(sink.we, ~held | joins | source.ready, ~held & source.ready)),
        ]
        for lane in range(lanes):
            mine = sink.addr[:bits] == lane
            for byte in range(WORD // 8):
                old = source.mask[WORD // 8 * lane + byte]
                self.sync += [
                    If(~joins & sink.ready, old.eq(0)),
                    If(
                        sink.valid & sink.we & sink.ready & sink.mask[byte] & mine,
                        old.eq(1),
                        source.data[WORD * lane + 8 * byte : WORD * lane + 8 * (byte + 1)].eq(
                            sink.data[8 * byte : 8 * (byte + 1)]
                        ),
                    ),
                ]
        self.sync += [
            If(source.valid & source.ready, held.eq(0)),
            If(sink.valid & sink.we & sink.ready, held.eq(1), addr.eq(sink.addr[bits:])),
        ]
