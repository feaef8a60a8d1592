# SPDX-License-Identifier: BSD-2-Clause
"""Two queues, frames in pieces and segments behind clock gates: in step with a MAC that has none."""

from queue_cases import *
from test_gather import *
from test_segment import *

DUT = "mac_all_gated"
