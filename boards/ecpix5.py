# SPDX-License-Identifier: BSD-2-Clause
"""LambdaConcept ECPIX-5 85F: one gigabit port, DDR3, and a slot for an SD card to boot from."""

from litedram.modules import MT41K256M16
from litex.build.generic_platform import IOStandard, Misc, Pins, Subsignal
from litex.soc.cores.led import LedChaser
from litex_boards.platforms import lambdaconcept_ecpix5
from migen import Cat

from .ecp5 import DDR3Board

# The SD card in SPI mode, and the direction pins of its level shifter.
SD_CARD = [
    (
        "spisdcard",
        0,
        Subsignal("clk", Pins("P24")),
        Subsignal("mosi", Pins("M24"), Misc("PULLMODE=UP")),
        Subsignal("miso", Pins("N26"), Misc("PULLMODE=UP")),
        Subsignal("cs_n", Pins("N21"), Misc("PULLMODE=UP")),
        IOStandard("LVCMOS33"),
    ),
    (
        "spisdcard_out",
        0,
        Subsignal("mosi", Pins("M23")),
        Subsignal("miso", Pins("N24")),
        Subsignal("cs_n", Pins("P26")),
        IOStandard("LVCMOS33"),
    ),
]


class Board(DDR3Board):
    title = "ECPIX-5"
    ports = 1
    phy_mode = "rgmii-rxid"  # the PHY chip delays rx_clk, the FPGA tx_clk
    phy_delays = {"tx_delay": 2e-9, "rx_delay": 0}
    dram_module = MT41K256M16
    rom_size = 64 << 10  # the BIOS reads FAT

    @staticmethod
    def make_platform():
        platform = lambdaconcept_ecpix5.Platform()
        platform.add_extension(SD_CARD)
        return platform

    def add_devices(self, platform):
        lights = [platform.request("rgb_led", n) for n in range(4)]
        self.leds = LedChaser(Cat(*[light.r for light in lights]), self.sys_clk_freq)
        self.comb += [color.eq(1) for light in lights for color in (light.g, light.b)]  # dark
        self.add_spi_sdcard()
        out = platform.request("spisdcard_out")
        self.comb += out.mosi.eq(1), out.miso.eq(0), out.cs_n.eq(1)
