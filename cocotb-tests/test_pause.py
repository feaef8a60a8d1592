# SPDX-License-Identifier: BSD-2-Clause
"""Pause frames on LiteEth's GMII, by cocotbext-eth at the other end."""

from pause_cases import *

DUT = "mac_gmii"
