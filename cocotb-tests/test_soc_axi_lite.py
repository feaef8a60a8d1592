# SPDX-License-Identifier: BSD-2-Clause
"""The MAC in a SoC of LiteX whose main bus is AXI-Lite."""

from soc_cases import *

DUT = "soc_axi_lite"
