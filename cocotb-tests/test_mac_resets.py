# SPDX-License-Identifier: BSD-2-Clause
"""The MAC on GMII, with all options: each clock domain is reset alone, and with another one."""

import cocotb

from reset_cases import phy_is_reset, system_is_reset

DUT = "mac_gmii"


@cocotb.test()
@cocotb.parametrize(domains=[("eth_rx",), ("eth_tx",), ("eth_rx", "eth_tx")])
async def phy_alone(dut, domains):
    await phy_is_reset(dut, domains)


@cocotb.test()
@cocotb.parametrize(domains=[("sys",), ("sys", "eth_rx"), ("sys", "eth_tx")])
async def system(dut, domains):
    await system_is_reset(dut, domains=domains)


@cocotb.test()
async def system_whose_clock_stands(dut):
    await system_is_reset(dut, stands=True)
