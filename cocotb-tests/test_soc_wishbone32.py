# SPDX-License-Identifier: BSD-2-Clause
"""The MAC in a SoC of LiteX whose main bus is 32-bit Wishbone, a crossbar."""

from soc_cases import *

DUT = "soc_wishbone32"
