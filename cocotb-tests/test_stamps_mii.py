# SPDX-License-Identifier: BSD-2-Clause
"""Time stamps on MII, at both of its rates."""

import cocotb
import pytest

from stamp_cases import are_stamped

DUT = "mac_mii"
pytestmark = pytest.mark.slow


@cocotb.test()
@cocotb.parametrize(link=[100, 10])
async def frames_are_stamped(dut, link):
    await are_stamped(dut, link)
