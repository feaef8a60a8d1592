# SPDX-License-Identifier: BSD-2-Clause
"""LiteX SoCs other than ours, small enough to elaborate in a test."""

from litedram.common import LiteDRAMNativePort
from litedram.modules import IS42S16160
from litedram.phy.model import SDRAMPHYModel
from liteeth.phy.ecp5rgmii import LiteEthPHYRGMII
from litex.build.generic_platform import Pins, Subsignal
from litex.build.lattice import LatticeECP5Platform
from litex.gen import LiteXModule
from litex.soc.cores.cpu import CPUS
from litex.soc.cores.cpu.vexriscv import VexRiscv
from litex.soc.integration.builder import Builder
from litex.soc.integration.soc_core import SoCCore
from litex.soc.interconnect import axi, wishbone
from litex.tools.litex_sim import get_sdram_phy_settings
from migen import ClockDomain, ClockDomainsRenamer

from moderato.soc.verilog import normalise

IO = [
    ("clk", 0, Pins("A1")),
    ("rst", 0, Pins("A2")),
    ("eth_clocks", 0, Subsignal("tx", Pins("B1")), Subsignal("rx", Pins("B2"))),
    (
        "eth",
        0,
        Subsignal("rst_n", Pins("C1")),
        Subsignal("rx_ctl", Pins("C2")),
        Subsignal("tx_ctl", Pins("C3")),
        Subsignal("rx_data", Pins("D1 D2 D3 D4")),
        Subsignal("tx_data", Pins("E1 E2 E3 E4")),
    ),
]


SECOND = [
    ("eth_clocks", 1, Subsignal("tx", Pins("F1")), Subsignal("rx", Pins("F2"))),
    (
        "eth",
        1,
        Subsignal("rst_n", Pins("G1")),
        Subsignal("rx_ctl", Pins("G2")),
        Subsignal("tx_ctl", Pins("G3")),
        Subsignal("rx_data", Pins("H1 H2 H3 H4")),
        Subsignal("tx_data", Pins("J1 J2 J3 J4")),
    ),
]


class CRG(LiteXModule):
    def __init__(self, platform):
        self.cd_sys = ClockDomain()
        self.comb += [
            self.cd_sys.clk.eq(platform.request("clk")),
            self.cd_sys.rst.eq(platform.request("rst")),
        ]


class CoherentVexRiscv(VexRiscv):
    """VexRiscv with a coherent port, in LiteX's sense, of a kind that the test chooses."""

    port = None

    def __init__(self, platform, variant="standard"):
        VexRiscv.__init__(self, platform, variant)
        self.dma_bus = self.port()


class DirectVexRiscv(VexRiscv):
    """A CPU that LiteX connects to LiteDRAM without the main bus, like VexRiscv-SMP."""

    def __init__(self, platform, variant="standard"):
        VexRiscv.__init__(self, platform, variant)
        self.memory_buses = [LiteDRAMNativePort("both", 22, data_width=16)]


class DirectCoherentVexRiscv(DirectVexRiscv):
    def __init__(self, platform, variant="standard"):
        DirectVexRiscv.__init__(self, platform, variant)
        self.dma_bus = wishbone.Interface(data_width=32, address_width=32, addressing="word")


CPUS["direct"], CPUS["direct_coherent"] = DirectVexRiscv, DirectCoherentVexRiscv


def coherent_cpu(kind, data_width):
    make = {
        "wishbone": lambda: wishbone.Interface(
            data_width=data_width, address_width=32, addressing="word"
        ),
        "axi": lambda: axi.AXIInterface(data_width=data_width, address_width=32, id_width=4),
    }
    name = f"coherent_{kind}{data_width}"
    CPUS[name] = type(name, (CoherentVexRiscv,), {"port": staticmethod(make[kind])})
    return name


class Stranger(SoCCore):
    """A SoC with an RGMII PHY, to which a test adds the MAC."""

    def __init__(self, cpu="vexriscv", platform=None, main_ram_size=0x8000, **kwargs):
        platform = platform or LatticeECP5Platform("LFE5U-45F-8BG381C", IO, toolchain="trellis")
        self.mem_map = dict(SoCCore.mem_map)  # LiteX changes the class's dict
        self.crg = CRG(platform)
        SoCCore.__init__(
            self,
            platform,
            50_000_000,
            cpu_type=cpu,
            integrated_rom_size=0x8000,
            integrated_main_ram_size=main_ram_size,
            uart_name="stub",
            **kwargs,
        )
        self.ethphy = LiteEthPHYRGMII(platform.request("eth_clocks"), platform.request("eth"))


def second_pads(soc):
    soc.platform.add_extension(SECOND)
    return soc.platform.request("eth_clocks", 1), soc.platform.request("eth", 1)


def renamed(phy):
    return ClockDomainsRenamer({"eth_tx": "eth1_tx", "eth_rx": "eth1_rx"})(phy)


def second_phy(soc):
    """A second PHY with its own names of clock domains, as docs/integrate.md describes it."""
    soc.ethphy1 = renamed(LiteEthPHYRGMII(*second_pads(soc)))
    return soc.ethphy1


def with_sdram(cpu, l2_size):
    """A SoC with LiteDRAM, and an L2 cache of `l2_size` bytes; 0: without a cache."""
    soc = Stranger(cpu=cpu, main_ram_size=0)
    module = IS42S16160(soc.sys_clk_freq, "1:1")
    soc.sdrphy = SDRAMPHYModel(
        module, get_sdram_phy_settings(module.memtype, 16, soc.sys_clk_freq), clk_freq=soc.sys_clk_freq
    )
    soc.add_sdram("sdram", phy=soc.sdrphy, module=module, l2_cache_size=l2_size)
    return soc


def build(soc, folder):
    """Write LiteX's files of a SoC without compiling anything; return its Verilog."""
    builder = Builder(
        soc,
        output_dir=str(folder),
        compile_software=False,
        compile_gateware=False,
        csr_json=str(folder / "csr.json"),
    )
    builder.build(run=False, build_name="stranger")
    file = folder / "gateware" / "stranger.v"
    normalise(file)
    return file.read_text()
