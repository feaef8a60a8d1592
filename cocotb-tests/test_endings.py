# SPDX-License-Identifier: BSD-2-Clause
"""One queue ends, the other one goes on: with all that there is."""

from ending_cases import the_other_queue_goes_on

DUT = "mac_queues_gather"
