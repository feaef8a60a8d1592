# SPDX-License-Identifier: BSD-2-Clause
"""ModeratoSoC on a board: what the boards share. What differs is in the file of each board."""

from migen import ClockDomainsRenamer

from litex.soc.cores.led import LedChaser

from liteeth.phy.ecp5rgmii import LiteEthPHYRGMII

from moderato.soc.soc import ModeratoSoC

# Of the console; a serial boot of 8 MB takes 15 minutes at 115200.
BAUD_RATE = 1_000_000

ROM_SIZE  = 64 << 10  # LiteX's BIOS, which prepares the DRAM and loads the images of a boot
SRAM_SIZE = 8 << 10   # its stack and variables


class BoardSoC(ModeratoSoC):
    """A board's class makes its clocks (`crg`) and PHYs, then calls this, then adds its DRAM.

    title: what the board is called, for people.
    Arguments are those of ModeratoSoC.
    """
    title   = ""
    # Fixed like those of ModeratoSoC: LiteEth's MACs, if there are any, have pages 4 and 6.
    csr_map = {**ModeratoSoC.csr_map, "identifier_mem": 1, "phy0": 5, "phy1": 7, "sdram": 8,
               "ddrphy": 9, "leds": 10}

    def __init__(self, platform, sys_clk_freq, **kwargs):
        ModeratoSoC.__init__(self, platform, sys_clk_freq,
            ident                = f"Moderato on {self.title}",
            integrated_rom_size  = ROM_SIZE,
            integrated_sram_size = SRAM_SIZE,
            uart_baudrate        = BAUD_RATE,
            **kwargs)

    def rgmii(self, platform, number: int, **delays):
        """The PHY of port `number`, in clock domains of its own."""
        phy = LiteEthPHYRGMII(
            clock_pads = platform.request("eth_clocks", number),
            pads       = platform.request("eth", number),
            **delays)
        phy.cd = f"eth{number}"
        domains = {f"eth_{side}": f"{phy.cd}_{side}" for side in ("rx", "tx")}
        self.add_module(name=f"phy{number}", module=ClockDomainsRenamer(domains)(phy))
        return phy

    def add_litedram(self, phy, module):
        """LiteDRAM with one native port, the cluster's: no cache and no converter between."""
        self.add_sdram("sdram", phy, module, with_soc_interconnect=False)
        geometry = module.geom_settings
        bits     = geometry.bankbits + geometry.rowbits + geometry.colbits
        size     = 2**bits * phy.settings.nranks * phy.settings.databits // 8
        self.add_dram(self.sdram.crossbar.get_port(), size)

    def add_leds(self, platform, name="user_led"):
        self.leds = LedChaser(platform.request_all(name), self.sys_clk_freq)
