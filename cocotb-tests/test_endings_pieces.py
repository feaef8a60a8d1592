# SPDX-License-Identifier: BSD-2-Clause
"""One queue ends, the other one goes on: with frames in pieces and stamps, and nothing else."""

from ending_cases import the_other_queue_goes_on

DUT = "mac_stamped_pieces"
