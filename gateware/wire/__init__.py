# SPDX-License-Identifier: BSD-2-Clause
"""Between a PHY and the system clock: preamble, gap, width, clock domains."""
