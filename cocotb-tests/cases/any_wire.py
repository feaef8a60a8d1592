# SPDX-License-Identifier: BSD-2-Clause
"""Cases of the MAC that depend on the PHY, for PHYs whose rings other simulations test in full."""

from cases import basics, clocks

CASES = [basics.both_directions_at_once, basics.drops_runs_of_fragments, basics.drops_runts,
         basics.drops_wrong_fcs, basics.receives_lengths, basics.receives_minimum_gap_bursts,
         basics.transmits_every_alignment, clocks]
