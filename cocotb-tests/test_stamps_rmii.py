# SPDX-License-Identifier: BSD-2-Clause
"""Time stamps on RMII."""

import cocotb

from stamp_cases import are_stamped

DUT = "mac_rmii"


@cocotb.test()
async def frames_are_stamped(dut):
    await are_stamped(dut, 100)
