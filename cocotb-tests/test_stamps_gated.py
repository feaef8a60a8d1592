# SPDX-License-Identifier: BSD-2-Clause
"""Time stamps behind clock gates: the clock goes on while the rest sleeps."""

from stamp_cases import *

DUT = "mac_gated"
