# SPDX-License-Identifier: BSD-2-Clause
"""Two queues in each direction, on the simulation PHY."""

from queue_cases import *

DUT = "mac_sim"
