# SPDX-License-Identifier: BSD-2-Clause
"""What Yosys makes of the MAC for ECP5 does what the RTL does: cases from every corner of it."""

from mac_cases import (drops_runts, drops_wrong_fcs, filters_destinations,
                       every_frame_is_counted_once, receives_minimum_gap_bursts, rings_wrap,
                       stops_and_starts_under_traffic, transmits_bursts)

DUT   = "mac_gmii"
CELLS = True
