# SPDX-License-Identifier: BSD-2-Clause
"""Shapers on a PHY with clocks of its own, whose domains are reset while frames wait for credit."""

import random

import cocotb
from cocotb.triggers import Timer

from cases.basics import MIN
from cases.launches import takes
from cases.resets import DOMAINS, are_part, left, pulse
from cases.shapers import Shaped
from cases.two_queues import marked

DUT = "mac_shaper"


async def are_apart(shaped, gap):
    """Four frames leave with this time between their starts, in ns, give or take the crossing."""
    await shaped.send(1, *[MIN] * 4)
    starts = [(await shaped.next())[2] for _ in range(4)]
    for before, after in zip(starts, starts[1:]):
        assert abs(after - before - gap) < 8 * shaped.period, f"{after - before} ns, not {gap}"


@cocotb.test()
@cocotb.parametrize(which=["rx", "tx", "sys"])
async def limits_after_reset(dut, which):
    """A reset of the PHY's domains loses the frame on the wire, and leaves the shaper as it is. A reset
    of the system switches it off."""
    shaped = await Shaped.start(dut)
    driver = shaped.drivers[1]
    for _ in range(4):
        idle = await shaped.shape(1, 0.2, 100)
        sent = [marked(1, MIN) for _ in range(20)]
        for frame in sent:
            driver.queue(frame, random.randrange(8))
        await driver.tx.doorbell()
        await Timer(random.randrange(2000, 20_000), "ns")
        await pulse(dut, DOMAINS[which])
        if which == "sys":
            for each in shaped.drivers:
                await each.start()
            assert not await shaped.regs.read("TX1_SHAPER", "ON")
            await Timer(5000, "ns")
        else:
            await Timer(round(24 * takes(MIN) / idle), "ns")
        frames = await left(shaped.mac)
        whole = [frame for frame in frames if frame is not None]
        assert are_part(whole, sent) and frames.count(None) <= 1
        assert which == "sys" or len(whole) >= len(sent) - 1
        if which == "sys":
            await are_apart(shaped, takes(MIN) * shaped.octet * 1.002)  # the wire's clock is slower
            idle = await shaped.shape(1, 0.2, 100)
        driver.reclaim()
        await are_apart(shaped, takes(MIN) / idle)
        await shaped.until(shaped.now + 2 * takes(MIN) / idle)
