# SPDX-License-Identifier: BSD-2-Clause
"""Lattice Versa ECP5-45F: two gigabit ports and DDR3, for forwarding between both."""

from litedram.modules import MT41K64M16
from litex_boards.platforms import lattice_versa_ecp5

from .ecp5 import DDR3Board


class Board(DDR3Board):
    title = "Lattice Versa ECP5"
    sys_clk_freq = 85_000_000
    ports = 2
    phy_mode = "rgmii-id"  # the chips delay both clocks
    phy_delays = {"tx_delay": 0, "rx_delay": 0}
    dram_module = MT41K64M16

    @staticmethod
    def make_platform():
        return lattice_versa_ecp5.Platform()
