# SPDX-License-Identifier: BSD-2-Clause
"""The descriptor fetcher with errors of single beats, and without a consumer."""

import random

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiResp

from bench.memory.memory import BEAT
from bench.models.descriptors import BASE, SIZE, Descriptors

DUT = "descriptor_fetcher"


@cocotb.test()
@cocotb.parametrize(answer=[AxiResp.SLVERR, AxiResp.DECERR], beat=range(8))
async def one_refused_beat(dut, answer, beat):
    """Descriptors before the failed beat may be used; none after it, in its burst or later, until a
    restart."""
    bench = await Descriptors.start(dut, 4, slow=0.3)
    for _ in range(3):
        bench.memory.refuse(reads=lambda address: address == BASE + BEAT*beat, answer=answer)
        await bench.hand_over(7)
        await ClockCycles(dut.sys_clk, 100)
        await bench.hand_over(4)
        await ClockCycles(dut.sys_clk, 100)
        taken = 0
        while int(dut.valid.value):
            await bench.take(taken)
            taken += 1
            await RisingEdge(dut.sys_clk)
        assert taken <= -(-beat // 2), f"{taken} descriptors were delivered, although beat {beat} is bad"
        assert taken >= beat // 2, "a good descriptor was lost"
        bench.memory.refuse()
        await bench.hand_over(2)
        await ClockCycles(dut.sys_clk, 100)
        assert not int(dut.valid.value) and int(dut.idle.value)
        dut.enable.value = 0
        await RisingEdge(dut.sys_clk)
        await RisingEdge(dut.sys_clk)
        await bench.restart()
        await bench.hand_over(5)
        for index in range(5):
            await with_timeout(bench.take(index), 10, "us")
        dut.enable.value = 0
        await bench.fetched()
        await bench.restart()


@cocotb.test()
async def fetches_only_what_fits(dut):
    """It fetches no more than it has room for, for any time, and loses none."""
    bench = await Descriptors.start(dut, 6, slow=0.2)
    index = 0
    for _ in range(30):
        await bench.hand_over(random.randint(9, 40))
        await ClockCycles(dut.sys_clk, random.choice((20, 60, 200)))
        while index != bench.producer:
            for _ in range(random.randint(1, 5)):
                if index != bench.producer:
                    await with_timeout(bench.take(index), 10, "us")
                    index += 1
            await ClockCycles(dut.sys_clk, random.choice((1, 30)))
    assert SIZE*(1 << bench.order) == 1024
