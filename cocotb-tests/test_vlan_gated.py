# SPDX-License-Identifier: BSD-2-Clause
"""VLAN tags behind clock gates: in step with a MAC that has none."""

from vlan_cases import *

DUT = "mac_gated"
