# SPDX-License-Identifier: BSD-2-Clause
"""VLAN tags behind clock gates: in step with a MAC that has none."""

from vlan_cases import (
    a_wrong_bit_in_the_tag,
    filters_by_vlan,
    lost_frames_keep_their_tags,
    pause_frames_have_no_tag,
    puts_tags_in,
    stops_and_starts_with_tags,
    takes_tags_out,
)

DUT = "mac_gated"
