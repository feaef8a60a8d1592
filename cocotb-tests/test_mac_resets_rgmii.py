# SPDX-License-Identifier: BSD-2-Clause
"""Resets of one clock domain, or two, with LiteEth's RGMII for ECP5."""

import cocotb

from reset_cases import phy_is_reset, system_is_reset

DUT = "mac_rgmii"


@cocotb.test()
@cocotb.parametrize(domains=[("crg",)])
async def phy_alone(dut, domains):
    await phy_is_reset(dut, domains)


@cocotb.test()
async def system(dut):
    await system_is_reset(dut)
