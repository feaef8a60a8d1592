# SPDX-License-Identifier: BSD-2-Clause
"""cocotbext-axi's masters, for slaves of the MAC."""

import itertools
import random

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles


async def start(dut, master, bus, pause=0.0):
    """A `master` at s_axi, after a reset. Each of its channels pauses in this share of the clocks."""
    Clock(dut.sys_clk, 10, unit="ns").start()
    started = master(bus.from_prefix(dut, "s_axi"), dut.sys_clk, dut.sys_rst)
    for side in started.write_if, started.read_if:
        for name in "aw_channel", "w_channel", "b_channel", "ar_channel", "r_channel":
            if hasattr(side, name):
                rng = random.Random(random.random())
                getattr(side, name).set_pause_generator(
                    rng.random() < pause for _ in itertools.count())
    dut.sys_rst.value = 1
    await ClockCycles(dut.sys_clk, 3)
    dut.sys_rst.value = 0
    await ClockCycles(dut.sys_clk, 3)
    return started
