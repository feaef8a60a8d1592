# SPDX-License-Identifier: BSD-2-Clause
"""Marks of TCP segments, on the simulation PHY."""

from merge_cases import *

DUT = "mac_queues_sim"
