# SPDX-License-Identifier: BSD-2-Clause
"""One queue ends, the other one goes on: with room for few frames only."""

from ending_cases import the_other_queue_goes_on

DUT = "mac_few_frames"
