# SPDX-License-Identifier: BSD-2-Clause
"""The MAC core on a PHY of 8 bits."""

from core_cases import loses_what_is_cut

DUT = "mac_core_8"
