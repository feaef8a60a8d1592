# SPDX-License-Identifier: BSD-2-Clause
"""More of the MAC's cases on LiteEth's 1000BASE-X PCS."""

import pytest

from mac_cases import (both_directions_at_once, drops_runs_of_fragments, drops_wrong_fcs,
                       receives_lengths, transmits_bursts)

__all__ = ["both_directions_at_once", "drops_runs_of_fragments", "drops_wrong_fcs",
           "receives_lengths", "transmits_bursts"]
DUT = "mac_1000basex"
pytestmark = pytest.mark.slow
