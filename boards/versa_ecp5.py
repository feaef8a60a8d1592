# SPDX-License-Identifier: BSD-2-Clause
"""Lattice Versa ECP5-45F: two gigabit ports and DDR3, the two-port forwarding box."""

from litex_boards.platforms import lattice_versa_ecp5

from litedram.modules import MT41K64M16
from litedram.phy import ECP5DDRPHY

from .ecp5 import DDR3CRG
from .soc import BoardSoC


class Board(BoardSoC):
    title = "Lattice Versa ECP5"

    def __init__(self, sys_clk_freq=75_000_000, **kwargs):
        platform = lattice_versa_ecp5.Platform()
        self.crg = DDR3CRG(platform, sys_clk_freq)
        # The PHY chips delay their clocks themselves.
        phys = [self.rgmii(platform, number, tx_delay=0, rx_delay=0) for number in range(2)]
        BoardSoC.__init__(self, platform, sys_clk_freq, phys=phys, **kwargs)

        self.ddrphy = ECP5DDRPHY(platform.request("ddram"), sys_clk_freq=sys_clk_freq)
        self.comb += [
            self.crg.stop.eq(self.ddrphy.init.stop),
            self.crg.reset.eq(self.ddrphy.init.reset),
        ]
        self.add_litedram(self.ddrphy, MT41K64M16(sys_clk_freq, "1:2"))
        self.add_leds(platform)
