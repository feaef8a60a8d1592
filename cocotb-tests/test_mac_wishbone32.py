# SPDX-License-Identifier: BSD-2-Clause
"""The whole MAC on 32-bit Wishbone."""

from master_cases import *

DUT = "mac_wishbone32"
