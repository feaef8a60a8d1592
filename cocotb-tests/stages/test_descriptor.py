# SPDX-License-Identifier: BSD-2-Clause
"""The descriptor fetcher: the delivered descriptors, and that it reads only those that were handed
over."""

import random

import cocotb
from cocotb.triggers import RisingEdge, with_timeout

from bench.simulation import TWINS
from bench.models.descriptors import MODULO, Descriptors

DUT  = "descriptor_fetcher"
SLOW = f"{TWINS}|index_wraps"


@cocotb.test()
@cocotb.parametrize(order=[2, 3, 5, 12], slow=[0.0, 0.6])
async def bursts_of_any_size(dut, order, slow):
    """Doorbells that advance by 1 up to the whole ring, several times around."""
    bench = await Descriptors.start(dut, order, slow)
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
    """One descriptor for each doorbell, in bursts as fast as possible, with a slow bus."""
    bench = await Descriptors.start(dut, 6, slow=0.5)

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
    bench = await Descriptors.start(dut, 3)
    for _ in range(MODULO // 8 + 3):
        first = bench.producer
        await bench.hand_over(8)
        for n in range(8):
            await bench.take(first + n)
    assert bench.producer == 24


@cocotb.test()
async def starved_after_last_delivery(dut):
    bench = await Descriptors.start(dut, 4, slow=0.3)
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
    """Disabled during a fetch; later it starts at index 0, and the old doorbell is forgotten."""
    bench = await Descriptors.start(dut, 4, slow=0.4)
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
