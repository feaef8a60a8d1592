# SPDX-License-Identifier: BSD-2-Clause
"""Resets with RGMII at every rate: what the rate is, a reset does not change."""

import cocotb

from reset_cases import phy_is_reset, system_is_reset

DUT = "mac_rgmii_rates"


@cocotb.test()
async def phy_alone(dut):
    await phy_is_reset(dut, ("crg",), 100)


@cocotb.test()
async def system(dut):
    await system_is_reset(dut, 100)
