# SPDX-License-Identifier: BSD-2-Clause
"""Clocks and memory of ECP5 boards with 16-bit DDR3 and a 100 MHz oscillator."""

from litedram.phy import ECP5DDRPHY
from litex.gen import LiteXModule
from litex.soc.cores.clock import ECP5PLL
from migen import ClockDomain, If, Instance, Signal
from migen.genlib.resetsync import AsyncResetSynchronizer

from .board import BoardSoC


class DDR3CRG(LiteXModule):
    """The system clock, and the clock of the DRAM's pins (twice its frequency), from 100 MHz.

    sys2x stops while the DRAM's PHY is initialised, and so does sys, which is divided from it.
    LiteDRAM's ECP5DDRPHY therefore drives `stop` and `reset` from the clock domain init.
    """

    def __init__(self, platform, sys_clk_freq):
        self.rst = Signal()
        self.stop = Signal()
        self.reset = Signal()
        self.cd_init = ClockDomain()
        self.cd_por = ClockDomain()
        self.cd_sys = ClockDomain()
        self.cd_sys2x = ClockDomain()
        self.cd_sys2x_i = ClockDomain()

        # # #

        clk100 = platform.request("clk100")
        rst_n = platform.request("rst_n")

        # Power-on reset.
        por_count = Signal(16, reset=2**16 - 1)
        por_done = Signal()
        self.comb += [
            self.cd_por.clk.eq(clk100),
            por_done.eq(por_count == 0),
        ]
        self.sync.por += If(~por_done, por_count.eq(por_count - 1))

        # PLL.
        self.pll = pll = ECP5PLL()
        self.comb += pll.reset.eq(~por_done | ~rst_n | self.rst)
        pll.register_clkin(clk100, 100e6)
        pll.create_clkout(self.cd_sys2x_i, 2 * sys_clk_freq)
        pll.create_clkout(self.cd_init, 25e6)
        self.specials += [
            Instance(
                "ECLKSYNCB", i_ECLKI=self.cd_sys2x_i.clk, i_STOP=self.stop, o_ECLKO=self.cd_sys2x.clk
            ),
            Instance(
                "CLKDIVF",
                p_DIV="2.0",
                i_ALIGNWD=0,
                i_CLKI=self.cd_sys2x.clk,
                i_RST=self.reset,
                o_CDIVX=self.cd_sys.clk,
            ),
            AsyncResetSynchronizer(self.cd_sys, ~pll.locked | self.reset),
        ]

    def made_hz(self) -> int:
        """The PLL's real system clock, within 1 % of the requested one. Call it after `finalize`, which
        chooses the dividers. The PLL's feedback is its third output."""
        input_, back, looped, output = (
            self.pll.params[f"p_{name}_DIV"] for name in ("CLKI", "CLKFB", "CLKOS2", "CLKOP")
        )
        return round(100e6 / input_ * back * looped / output / 2)


class DDR3Board(BoardSoC):
    """dram_module: class of litedram.modules."""

    dram_module = None

    def add_clocks(self, platform):
        self.crg = DDR3CRG(platform, self.sys_clk_freq)

    @staticmethod
    def make_dram_phy(platform, sys_clk_freq):
        return ECP5DDRPHY(platform.request("ddram"), sys_clk_freq=sys_clk_freq)

    @classmethod
    def make_dram_module(cls, sys_clk_freq):
        """The chips of `dram_module`, with their times in cycles.

        LiteDRAM has the time of a refresh (tRFC) in clocks of DDR3-1600, and counts that many clocks at
        any rate: on the Versa 762 ns instead of 160."""
        module = cls.dram_module(sys_clk_freq, "1:2")
        module.timing_settings.tRFC = module.ns_to_cycles(module.get("tRFC").ck / 0.8)
        return module

    def add_memory(self, platform):
        self.ddrphy = self.make_dram_phy(platform, self.sys_clk_freq)
        self.comb += [
            self.crg.stop.eq(self.ddrphy.init.stop),
            self.crg.reset.eq(self.ddrphy.init.reset),
        ]
        self.add_litedram(self.ddrphy, self.make_dram_module(self.sys_clk_freq))
