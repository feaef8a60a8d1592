# SPDX-License-Identifier: BSD-2-Clause
"""Time stamps where MAC and PHY have one clock."""

from stamp_cases import *

DUT = "mac_sim"
