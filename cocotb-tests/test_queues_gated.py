# SPDX-License-Identifier: BSD-2-Clause
"""Two queues in each direction behind clock gates: in step with a MAC that has none."""

from queue_cases import *

DUT = "mac_gated"
