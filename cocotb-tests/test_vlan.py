# SPDX-License-Identifier: BSD-2-Clause
"""VLAN tags on the simulation PHY."""

from vlan_cases import *

DUT = "mac_sim"
