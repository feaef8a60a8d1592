# SPDX-License-Identifier: BSD-2-Clause
"""The MAC on LiteEth's MII, 25 MHz: 100 Mb/s."""

from mac_cases import *

DUT = "mac_mii"
