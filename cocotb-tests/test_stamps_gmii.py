# SPDX-License-Identifier: BSD-2-Clause
"""Time stamps on GMII, whose clocks slide along the system clock."""

from stamp_cases import *

DUT = "mac_gmii"
