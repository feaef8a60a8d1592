# SPDX-License-Identifier: BSD-2-Clause
"""A LiteX SoC with the MAC and without a CPU, to test LiteX's interconnect with the MAC's buses."""

from litex.build.generic_platform import Pins
from litex.build.lattice import LatticeECP5Platform
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCCore
from litex.soc.interconnect import axi, wishbone
from migen import ClockDomain, Module

from moderato.integrate.add_moderato import add_moderato

REGISTERS, CSRS = 0xF000_0000, 0xF001_0000  # addresses; CSRs include those of interrupts
MEMORY = 0x100_0000  # bytes, from address 0 on


class SoC(SoCCore):
    """With a PHY and its MAC, `eth0`, which has `options`.

    standard, width, interconnect, ordering
               properties of the main bus, and of the CSRs.
    memory     the bus to which a test connects memory. It has the main bus's kind, but AXI if that
    is AXI-Lite.
    host       a master of its kind and width.
    registers  a 32-bit Wishbone master.
    """
    def __init__(self, make_phy, clock, standard, width, interconnect, ordering, **options):
        platform = LatticeECP5Platform("LFE5U-45F-8BG381C", [("none", 0, Pins("A1"))],
                                       toolchain="trellis")
        self.mem_map = SoCCore.mem_map | {"csr": CSRS}
        self.crg = Module()
        self.crg.clock_domains.cd_sys = ClockDomain("sys")
        SoCCore.__init__(self, platform, int(clock), cpu_type=None, bus_standard=standard,
            bus_data_width=width, bus_interconnect=interconnect, csr_ordering=ordering,
            bus_bursting=standard == "wishbone", integrated_rom_size=0, integrated_sram_size=0,
            with_uart=False, with_timer=False, with_ctrl=False, ident="")
        self.ethphy = make_phy()
        add_moderato(self, phy=self.ethphy, name="eth0", phy_cd="sys", origin=REGISTERS,
                     with_timing_constraints=False, **options)
        if standard == "wishbone":
            self.memory, self.host = (self.wishbone(width, bursting) for bursting in (True, False))
        else:
            self.memory = axi.AXIInterface(data_width=width, address_width=32, id_width=1)
            kind = axi.AXIInterface if standard == "axi" else axi.AXILiteInterface
            self.host = kind(data_width=width, address_width=32)
        self.registers = self.wishbone(32)
        self.bus.add_slave("main_ram", self.memory, SoCRegion(origin=0, size=MEMORY))
        self.bus.add_master("host", master=self.host)
        self.bus.add_master("registers", master=self.registers)

    @staticmethod
    def wishbone(width, bursting=False):
        return wishbone.Interface(data_width=width, address_width=32, addressing="word",
                                  bursting=bursting)
