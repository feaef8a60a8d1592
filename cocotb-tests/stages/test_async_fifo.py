# SPDX-License-Identifier: BSD-2-Clause
"""The FIFO between two clocks against a list, with clocks that drift against each other."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout

DUT = "async_fifo"
DEPTH = 16  # words in the memory of bench.devices.duts.async_fifo(); one more word is at its output
FIELDS = ("data", "last_be")
WORDS = 2000


async def start(dut, sink_ps, source_ps):
    """Starts both clocks, with resets that end at different times."""
    dut.sink_valid.value = dut.source_ready.value = 0
    dut.sink_rst.value = dut.source_rst.value = 1
    Clock(dut.sink_clk, sink_ps, unit="ps").start()
    Clock(dut.source_clk, source_ps, unit="ps").start()
    await ClockCycles(dut.sink_clk, 4)
    dut.sink_rst.value = 0
    await ClockCycles(dut.source_clk, 4)
    dut.source_rst.value = 0


async def write(dut, words, share):
    """Offers each word until it is taken, and none in some of the clocks."""
    for word in words:
        while random.random() >= share:
            dut.sink_valid.value = 0
            await RisingEdge(dut.sink_clk)
        dut.sink_valid.value = 1
        for name, value in zip(FIELDS, word):
            getattr(dut, f"sink_{name}").value = value
        await RisingEdge(dut.sink_clk)
        while not dut.sink_ready.value:
            await RisingEdge(dut.sink_clk)
    dut.sink_valid.value = 0


async def read(dut, count, share):
    """Takes this many words, in some of the clocks; an offered word must be stable."""
    taken, offered = [], None
    while len(taken) < count:
        ready = random.random() < share
        dut.source_ready.value = ready
        await RisingEdge(dut.source_clk)
        word = tuple(int(getattr(dut, f"source_{name}").value) for name in FIELDS)
        valid = bool(dut.source_valid.value)
        assert offered is None or (valid and word == offered), "an offered word was withdrawn"
        offered = word if valid and not ready else None
        if valid and ready:
            taken.append(word)
    dut.source_ready.value = 0
    return taken


def some_words(count):
    return [(random.getrandbits(16), random.getrandbits(1)) for _ in range(count)]


@cocotb.test()
@cocotb.parametrize(sink_ps=[8000, 25002, 10002], source_ps=[8000, 25002],
                    shares=[(1, 1), (0.9, 0.3), (0.3, 0.9)])
async def every_word_in_order(dut, sink_ps, source_ps, shares):
    await start(dut, sink_ps, source_ps)
    words = some_words(WORDS)
    writer = cocotb.start_soon(write(dut, words, shares[0]))
    taken = await with_timeout(read(dut, WORDS, shares[1]), 1, "ms")
    assert taken == words
    await writer
    await ClockCycles(dut.source_clk, 20)
    assert not dut.source_valid.value


@cocotb.test()
async def holds_depth_plus_one_words(dut):
    """The FIFO takes no more, and returns all that it took."""
    await start(dut, 8000, 10002)
    words = some_words(DEPTH + 2)
    await with_timeout(write(dut, words[:-1], 1), 1, "us")
    last = cocotb.start_soon(write(dut, words[-1:], 1))
    await ClockCycles(dut.sink_clk, 20)
    assert not last.done()
    assert await with_timeout(read(dut, DEPTH + 2, 1), 1, "us") == words


@cocotb.test()
async def looks_up_one_word_per_clock(dut):
    """As many words as the slower side has clocks, except for the first ones."""
    await start(dut, 8000, 8002)
    cocotb.start_soon(write(dut, some_words(WORDS), 1))
    taken = cocotb.start_soon(read(dut, WORDS, 1))
    await ClockCycles(dut.source_clk, WORDS + 10)
    assert taken.done()
