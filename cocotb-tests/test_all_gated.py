# SPDX-License-Identifier: BSD-2-Clause
"""Two queues, frames in pieces and segments behind clock gates: in step with a MAC that has none. Of
the cases of each, those in which all of its parts stop and wake, with a slow memory."""

from merge_cases import marks_come_with_the_frames
from queue_cases import (
    both_queues_both_ways,
    each_adapts_its_moderation,
    each_has_its_stamps,
    late_interrupts_are_counted,
    one_halts,
    raised_in_the_same_clock,
    senders_stop_in_turn,
    stopped_and_started_in_turn,
)
from test_gather import any_pieces_make_a_frame, stops_in_the_midst_of_a_frame, what_spoils_a_frame
from test_segment import (
    segments_are_what_scapy_makes,
    stops_in_the_midst_of_a_packet,
    what_spoils_a_packet,
)

DUT = "mac_all_gated"
SLOW = r"slow=0\.0"
