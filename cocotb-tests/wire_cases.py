# SPDX-License-Identifier: BSD-2-Clause
"""Those of the MAC's cases that a PHY can fail: for one whose rings other modules test in full."""

from clock_cases import survives_stopped_clocks
from mac_cases import (both_directions_at_once, drops_runs_of_fragments, drops_runts,
                       drops_wrong_fcs, receives_lengths, receives_minimum_gap_bursts,
                       transmits_every_alignment)

__all__ = ["both_directions_at_once", "drops_runs_of_fragments", "drops_runts", "drops_wrong_fcs",
           "receives_lengths", "receives_minimum_gap_bursts", "survives_stopped_clocks",
           "transmits_every_alignment"]
