# SPDX-License-Identifier: BSD-2-Clause
"""Memories at the cluster's port keep the order of commands and lose no byte."""

import random

import pytest
from litedram.common import LiteDRAMNativePort
from migen import Module, passive, run_simulation

from moderato.soc.memory import DRAMBridge, IntegratedRAM, MemoryPort, WholeWords

WORDS = 16
BASE = 0x4000_0000 // 8


def random_commands(seed, count=200):
    """(address, write, data, mask) for few words, so that reads closely follow writes."""
    rng = random.Random(seed)
    return [
        (rng.randrange(WORDS), rng.random() < 0.5, rng.getrandbits(64), rng.getrandbits(8))
        for _ in range(count)
    ]


def bursts(commands):
    """The commands, with reads of a whole line between some of them."""
    line = [(address, False, 0, 0) for address in range(8)]
    return [
        command
        for number, single in enumerate(commands)
        for command in ([single] if number % 10 else [single, *line])
    ]


def store(memory, address, data, mask):
    for byte in range(8):
        if mask >> byte & 1:
            memory[address] &= ~(0xFF << 8 * byte)
            memory[address] |= data & 0xFF << 8 * byte


def expected_reads(commands):
    memory, reads = [0] * WORDS, []
    for address, write, data, mask in commands:
        if write:
            store(memory, address, data, mask)
        else:
            reads.append(memory[address])
    return reads


def master(port, commands, reads, seed, rate=0.7):
    """Issues the commands with random pauses, and collects answers until the last one."""
    rng = random.Random(seed)
    left = list(commands)
    wanted = sum(not write for _, write, _, _ in commands)
    given = False
    while left or len(reads) < wanted:
        if given and (yield port.cmd.ready):
            left.pop(0)
            given = False
        if (yield port.rsp.valid):
            reads.append((yield port.rsp.data))
        if not given:
            given = bool(left) and rng.random() < rate
            if given:
                address, write, data, mask = left[0]
                yield port.cmd.addr.eq(BASE + address)
                yield port.cmd.we.eq(write)
                yield port.cmd.data.eq(data)
                yield port.cmd.mask.eq(mask)
            yield port.cmd.valid.eq(given)
        yield


@passive
def dram_commands(port, queue, seed):
    """Accepts commands at random times."""
    rng, ready = random.Random(seed), False
    while True:
        if ready and (yield port.cmd.valid):
            queue.append(((yield port.cmd.addr), (yield port.cmd.we)))
        ready = rng.random() < 0.6
        yield port.cmd.ready.eq(ready)
        yield


@passive
def dram_data(port, queue, seed, lanes):
    """Executes commands in order, some cycles later. It reads write data without waiting for valid, and
    gives read data without waiting for ready."""
    rng, memory = random.Random(seed), [0] * WORDS
    while True:
        if queue:
            address, write = queue[0]
            first = address * lanes
            for _ in range(rng.choice([0, 0, 2, 3, 4])):
                yield
            if write:
                yield port.wdata.ready.eq(1)
                yield
                assert (yield port.wdata.valid), "the controller found no data"
                data, mask = (yield port.wdata.data), (yield port.wdata.we)
                for lane in range(lanes):
                    store(
                        memory, first + lane, data >> 64 * lane & (1 << 64) - 1, mask >> 8 * lane & 0xFF
                    )
                yield port.wdata.ready.eq(0)
            else:
                yield port.rdata.valid.eq(1)
                yield port.rdata.data.eq(sum(memory[first + lane] << 64 * lane for lane in range(lanes)))
                yield
                assert (yield port.rdata.ready), "the bridge has no room for the answer"
                yield port.rdata.valid.eq(0)
            queue.pop(0)
        yield


@pytest.mark.parametrize("latency", [3, 8])
def test_integrated_ram(latency):
    port, reads, commands = MemoryPort(), [], random_commands(latency)
    dut = IntegratedRAM(port, WORDS * 8, latency)
    run_simulation(dut, master(port, commands, reads, latency))
    assert reads == expected_reads(commands)


def test_integrated_ram_latency():
    port = MemoryPort()
    dut = IntegratedRAM(port, WORDS * 8, 8)

    def probe():
        yield port.cmd.valid.eq(1)
        yield
        yield port.cmd.valid.eq(0)
        for cycle in range(20):
            if (yield port.rsp.valid):
                assert cycle == 8
                return
            yield
        raise AssertionError("no answer")

    run_simulation(dut, probe())


@pytest.mark.parametrize("lanes", [1, 2, 4])
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))]
)
def test_dram_bridge(lanes, seed):
    port, reads, commands = MemoryPort(), [], bursts(random_commands(seed))
    native = LiteDRAMNativePort("both", address_width=26, data_width=64 * lanes)
    dut = Module()
    dut.submodules.bridge = DRAMBridge(port, native, BASE * 8)
    queue = []
    run_simulation(
        dut,
        [
            master(port, commands, reads, seed),
            dram_commands(native, queue, seed),
            dram_data(native, queue, seed, lanes),
        ],
    )
    assert reads == expected_reads(commands)


def whole_words(commands, seed):
    """The answers to `commands` from a DRAM without byte masks, and the commands that it received."""
    port, reads, queue, seen = MemoryPort(), [], [], []
    native = LiteDRAMNativePort("both", address_width=26, data_width=64)
    dut = Module()
    dut.submodules.whole = whole = WholeWords(port)
    dut.submodules.bridge = DRAMBridge(whole.memory, native, BASE * 8)

    @passive
    def watch():
        while True:
            if (yield native.cmd.valid) and (yield native.cmd.ready):
                seen.append(((yield native.cmd.addr), (yield native.cmd.we)))
            if (yield native.wdata.valid) and (yield native.wdata.ready):
                assert (yield native.wdata.we) == 0xFF, "a masked write"
            yield

    run_simulation(
        dut,
        [
            master(port, commands, reads, seed),
            dram_commands(native, queue, seed),
            dram_data(native, queue, seed, 1),
            watch(),
        ],
    )
    return reads, seen


@pytest.mark.parametrize("seed", range(3))
def test_memory_without_masks(seed):
    """Random masks, including empty and full ones, on few words and on one line."""
    rng = random.Random(seed)
    commands = [
        (address >> seed % 3, write, data, rng.choice([mask, mask, 0xFF, 0x0F, 0xF0, 0]))
        for address, write, data, mask in bursts(random_commands(seed))
    ]
    reads, _ = whole_words(commands, seed)
    assert reads == expected_reads(commands)


def test_memory_without_masks_reads_once():
    """Two halves of a word, then a whole word and one of its bytes: one read, before the first half."""
    commands = [
        (1, True, 3, 0x0F),
        (1, True, 4 << 32, 0xF0),
        (2, True, 5, 0xFF),
        (2, True, 6, 1),
        (1, False, 0, 0),
        (2, False, 0, 0),
    ]
    reads, seen = whole_words(commands, 0)
    assert reads == [4 << 32 | 3, 6]
    assert seen == [(1, 0), (1, 1), (1, 1), (2, 1), (2, 1), (1, 0), (2, 0)]


def dram_commands_of(commands):
    """The bridge's commands to 128-bit memory for `commands` without pauses: (address, write)."""
    port, reads, queue, seen = MemoryPort(), [], [], []
    native = LiteDRAMNativePort("both", address_width=26, data_width=128)
    dut = Module()
    dut.submodules.bridge = DRAMBridge(port, native, BASE * 8)

    @passive
    def watch():
        while True:
            if (yield native.cmd.valid) and (yield native.cmd.ready):
                seen.append(((yield native.cmd.addr), bool((yield native.cmd.we))))
            yield

    def run():
        yield from master(port, commands, reads, 0, rate=1)
        for _ in range(30):
            yield

    run_simulation(
        dut, [run(), dram_commands(native, queue, 0), dram_data(native, queue, 0, 2), watch()]
    )
    assert reads == expected_reads(commands)
    return seen


@pytest.mark.parametrize("write", [False, True], ids=["reads", "writes"])
def test_dram_bridge_joins_words(write):
    """A line of eight words is four commands."""
    line = [(address, write, address + 1, 0xFF) for address in range(8)]
    assert dram_commands_of(line) == [(word, write) for word in range(4)]


def test_dram_bridge_joins_bytes():
    """Stores into one word become one command, but not across a read."""
    stores = [(2, True, 0x1111, 0x01), (3, True, 0x2222, 0x02), (2, True, 0x3333, 0x03)]
    read = (3, False, 0, 0)
    assert dram_commands_of([*stores, read, *stores, read]) == [
        (1, True),
        (1, False),
        (1, True),
        (1, False),
    ]


def test_dram_bridge_does_not_keep_a_write():
    """The bridge issues a write even if no command follows."""
    assert dram_commands_of([(3, True, 7, 0xFF)]) == [(1, True)]


@pytest.mark.parametrize("width", [32, 96])
def test_dram_bridge_rejects_widths(width):
    native = LiteDRAMNativePort("both", address_width=26, data_width=width)
    with pytest.raises(ValueError, match=f"of {width} bits"):
        DRAMBridge(MemoryPort(), native, BASE * 8)
