# SPDX-License-Identifier: BSD-2-Clause
"""Time stamps on LiteEth's RGMII PHY for ECP5."""

from stamp_cases import frames_are_stamped

__all__ = ["frames_are_stamped"]
DUT = "mac_rgmii"
