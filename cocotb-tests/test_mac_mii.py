# SPDX-License-Identifier: BSD-2-Clause
"""The MAC on LiteEth's MII, 25 MHz: 100 Mb/s; and 2.5 MHz: 10 Mb/s."""

import cocotb

from rate_cases import follow_the_rate, keep_the_rate_of_the_line
from wire_cases import *

DUT = "mac_mii"
SLOW = r"slow=0\.[^0]"  # a frame takes long


@cocotb.test()
async def keeps_the_rate_of_the_line(dut):
    await keep_the_rate_of_the_line(dut, 10)


@cocotb.test()
async def follows_the_rate(dut):
    await follow_the_rate(dut, 100, 10, 100)
