# SPDX-License-Identifier: BSD-2-Clause
"""Colorlight 5A-75B, version 8.0: a receiver card of LED walls with two gigabit ports.

8 MiB of memory without byte masks, and a small and slow ECP5: too small for Linux.
"""

from litedram.modules import M12L64322A
from litedram.phy import HalfRateGENSDRPHY
from litex.build.io import DDROutput
from litex.gen import LiteXModule
from litex.soc.cores.clock import ECP5PLL
from litex_boards.platforms import colorlight_5a_75b
from migen import ClockDomain, ClockSignal, Signal

from moderato.soc.cpu import CpuConfig

from .board import BoardSoC


class CRG(LiteXModule):
    """The system clock, and the SDRAM's clock of twice its frequency."""

    def __init__(self, platform, sys_clk_freq):
        self.rst = Signal()
        self.cd_sys = ClockDomain()
        self.cd_sys2x = ClockDomain()
        self.cd_sys2x_ps = ClockDomain()

        # # #

        self.pll = pll = ECP5PLL()
        self.comb += pll.reset.eq(self.rst)
        pll.register_clkin(platform.request("clk25"), 25e6)
        pll.create_clkout(self.cd_sys, sys_clk_freq)
        pll.create_clkout(self.cd_sys2x, 2 * sys_clk_freq)
        pll.create_clkout(self.cd_sys2x_ps, 2 * sys_clk_freq, phase=180)  # as litex-boards has it
        self.specials += DDROutput(1, 0, platform.request("sdram_clock"), ClockSignal("sys2x_ps"))


class Board(BoardSoC):
    title = "Colorlight 5A-75B"
    sys_clk_freq = 40_000_000
    baud_rate = 115_200  # the button's capacitor is on this pin; the program is only 2 kB
    ports = 2
    phy_mode = "rgmii-txid"  # as litex-boards has it: the FPGA delays what it receives
    phy_delays = {"tx_delay": 0}
    dram_masks = False  # they are tied to ground
    # The FPGA has no room for larger caches or an MMU.
    cpu_config = CpuConfig(
        icache=4096, icache_ways=1, dcache=4096, dcache_ways=1, itlb=0, dtlb=0, prediction="none"
    )
    synchronous = ("sys", "clkout1")  # clkout1 is sys2x
    small = True

    @staticmethod
    def make_platform():
        platform = colorlight_5a_75b.Platform(revision="8.0")
        # Both PHYs share one MDIO bus; the first port gets its pins.
        pins = platform.constraint_manager.available
        for index, (name, number, *items) in enumerate(pins):
            if (name, number) == ("eth", 1):
                pins[index] = (
                    name,
                    number,
                    *(item for item in items if getattr(item, "name", "") not in ("mdio", "mdc")),
                )
        return platform

    def add_clocks(self, platform):
        self.crg = CRG(platform, self.sys_clk_freq)

    @staticmethod
    def make_dram_phy(platform, sys_clk_freq):
        # At half rate, LiteDRAM's words have 64 bits, like the cluster's.
        return HalfRateGENSDRPHY(platform.request("sdram"), sys_clk_freq)

    @staticmethod
    def make_dram_module(sys_clk_freq):
        return M12L64322A(sys_clk_freq, "1:2")

    def add_memory(self, platform):
        self.sdrphy = self.make_dram_phy(platform, self.sys_clk_freq)
        self.add_litedram(self.sdrphy, self.make_dram_module(self.sys_clk_freq), self.dram_masks)

    def add_devices(self, platform):
        pass  # the console uses the pins of LED and button
