# SPDX-License-Identifier: BSD-2-Clause
"""The whole MAC on 32-bit AXI."""

from master_cases import *

DUT = "mac_axi32"
