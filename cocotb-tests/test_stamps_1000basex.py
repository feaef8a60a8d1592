# SPDX-License-Identifier: BSD-2-Clause
"""Time stamps at the ten bits of 1000BASE-X."""

from stamp_cases import frames_are_stamped

__all__ = ["frames_are_stamped"]
DUT = "mac_1000basex"
