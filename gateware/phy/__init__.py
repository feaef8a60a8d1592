# SPDX-License-Identifier: BSD-2-Clause
"""Between the MAC and a PHY chip."""
