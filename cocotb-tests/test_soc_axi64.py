# SPDX-License-Identifier: BSD-2-Clause
"""The MAC in a SoC of LiteX whose main bus is 64-bit AXI, a crossbar."""

from soc_cases import *

DUT = "soc_axi64"
