# SPDX-License-Identifier: BSD-2-Clause
"""Resets of one clock domain, or two, with LiteEth's MII."""

import cocotb

from reset_cases import phy_is_reset, system_is_reset

DUT = "mac_mii"


@cocotb.test()
@cocotb.parametrize(domains=[("eth_rx",), ("eth_tx",), ("eth_rx", "eth_tx")])
async def phy_alone(dut, domains):
    await phy_is_reset(dut, domains)


@cocotb.test()
async def system(dut):
    await system_is_reset(dut)
