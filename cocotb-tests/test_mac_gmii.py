# SPDX-License-Identifier: BSD-2-Clause
"""The MAC on LiteEth's GMII, 125 MHz against a system clock of 100 MHz."""

from mac_cases import *

DUT = "mac_gmii"
