# SPDX-License-Identifier: BSD-2-Clause
"""The MAC on the simulation PHY at 1000 Mb/s."""

from mac_cases import *

DUT = "mac_sim"
