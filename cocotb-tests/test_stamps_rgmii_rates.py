# SPDX-License-Identifier: BSD-2-Clause
"""Time stamps on our RGMII PHY for ECP5, at each of its rates."""

import cocotb

from stamp_cases import are_stamped

DUT = "mac_rgmii_rates"


@cocotb.test()
@cocotb.parametrize(link=[1000, 100, 10])
async def frames_are_stamped(dut, link):
    await are_stamped(dut, link)
