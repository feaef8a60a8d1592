# SPDX-License-Identifier: BSD-2-Clause
"""More of the MAC's cases on LiteEth's RMII PHY."""

import pytest

from mac_cases import (both_directions_at_once, every_frame_is_counted_once,
                       receives_minimum_gap_bursts, transmits_bursts)

__all__ = ["both_directions_at_once", "every_frame_is_counted_once", "receives_minimum_gap_bursts",
           "transmits_bursts"]
DUT = "mac_rmii"
pytestmark = pytest.mark.slow
