# SPDX-License-Identifier: BSD-2-Clause
"""Resets with LiteEth's 1000BASE-X. One of its own Tx domain breaks the code on the line, and the bench
takes no such line."""

import cocotb

from reset_cases import phy_is_reset, system_is_reset

DUT = "mac_1000basex"


@cocotb.test()
async def receiver_alone(dut):
    await phy_is_reset(dut, ("eth_rx",))


@cocotb.test()
async def system(dut):
    await system_is_reset(dut)
