# SPDX-License-Identifier: BSD-2-Clause
"""ECP5 boards with DDR3 on 16 wires and an oscillator of 100 MHz: clocks and memory."""

from migen import ClockDomain, If, Instance, Signal
from migen.genlib.resetsync import AsyncResetSynchronizer

from litex.gen import LiteXModule
from litex.soc.cores.clock import ECP5PLL

from litedram.phy import ECP5DDRPHY

from moderato.soc.cpu import CpuConfig

from .soc import BoardSoC


class DDR3CRG(LiteXModule):
    """The system clock and the doubled one of the DRAM's pins, from a 100 MHz oscillator.

    sys2x stops while the DRAM's PHY is initialised, and sys, which is divided from it, with it; so
    LiteDRAM's ECP5DDRPHY drives `stop` and `reset` from the clock domain init.
    """
    def __init__(self, platform, sys_clk_freq):
        self.rst        = Signal()
        self.stop       = Signal()
        self.reset      = Signal()
        self.cd_init    = ClockDomain()
        self.cd_por     = ClockDomain()
        self.cd_sys     = ClockDomain()
        self.cd_sys2x   = ClockDomain()
        self.cd_sys2x_i = ClockDomain()

        # # #

        clk100 = platform.request("clk100")
        rst_n  = platform.request("rst_n")

        # Power-on reset.
        por_count = Signal(16, reset=2**16 - 1)
        por_done  = Signal()
        self.comb += [
            self.cd_por.clk.eq(clk100),
            por_done.eq(por_count == 0),
        ]
        self.sync.por += If(~por_done, por_count.eq(por_count - 1))

        # PLL.
        self.pll = pll = ECP5PLL()
        self.comb += pll.reset.eq(~por_done | ~rst_n | self.rst)
        pll.register_clkin(clk100, 100e6)
        pll.create_clkout(self.cd_sys2x_i, 2*sys_clk_freq)
        pll.create_clkout(self.cd_init, 25e6)
        self.specials += [
            Instance("ECLKSYNCB",
                i_ECLKI = self.cd_sys2x_i.clk,
                i_STOP  = self.stop,
                o_ECLKO = self.cd_sys2x.clk),
            Instance("CLKDIVF",
                p_DIV     = "2.0",
                i_ALIGNWD = 0,
                i_CLKI    = self.cd_sys2x.clk,
                i_RST     = self.reset,
                o_CDIVX   = self.cd_sys.clk),
            AsyncResetSynchronizer(self.cd_sys, ~pll.locked | self.reset),
        ]


class DDR3Board(BoardSoC):
    """dram_module: class of litedram.modules."""
    dram_module = None

    # With the lab's sizes nextpnr expected 43.7 MHz (docs/boards.md).
    cpu_config = CpuConfig(icache=8192, icache_ways=2, dcache=8192, dcache_ways=2, itlb=4, dtlb=4)

    def add_clocks(self, platform):
        self.crg = DDR3CRG(platform, self.sys_clk_freq)

    def make_dram_phy(self, platform):
        return ECP5DDRPHY(platform.request("ddram"), sys_clk_freq=self.sys_clk_freq)

    def make_dram_module(self):
        return self.dram_module(self.sys_clk_freq, "1:2")

    def add_memory(self, platform):
        self.ddrphy = self.make_dram_phy(platform)
        self.comb += [
            self.crg.stop.eq(self.ddrphy.init.stop),
            self.crg.reset.eq(self.ddrphy.init.reset),
        ]
        self.add_litedram(self.ddrphy, self.make_dram_module())
