# SPDX-License-Identifier: BSD-2-Clause
"""Time stamps on RMII."""

import cocotb
import pytest

from stamp_cases import are_stamped

DUT = "mac_rmii"
pytestmark = pytest.mark.slow


@cocotb.test()
async def frames_are_stamped(dut):
    await are_stamped(dut, 100)
