# SPDX-License-Identifier: BSD-2-Clause
"""ModeratoSoC on a board: the parts that all boards share. Each board's file has the rest."""

from dataclasses import replace

from liteeth.phy.ecp5rgmii import LiteEthPHYRGMII
from litex.soc.cores.led import LedChaser
from migen import ClockDomainsRenamer

from moderato.gateware.phy.rgmii_ecp5 import RGMIIECP5
from moderato.soc.cpu import CpuConfig
from moderato.soc.soc import FLOWS, OFFLOADS, TIME, ModeratoSoC

from .die import DieTemperature

SRAM_SIZE = 8 << 10  # the BIOS' stack and variables


class BoardSoC(ModeratoSoC):
    """A subclass sets the attributes below and defines `make_platform`. Unless its own base class does,
    it also defines `add_clocks` (clock domain sys and a `crg`), `make_dram_phy`, `make_dram_module` and
    `add_memory`, which connects the two.

    title: the board's name for people.
    sys_clk_freq: Hz of all clocks but the PHYs'.
    baud_rate: the console's.
    ports: number of MACs.
    phy_mode: phy-mode of the device tree, which names the chip that delays RGMII's clocks.
    phy_delays: delays that the FPGA adds, as arguments of LiteEth's PHY.
    dram_masks: whether the DRAM has byte masks.
    cpu_config: of the cluster; the argument `harts` replaces its number of harts.
    rom_size: bytes for LiteX's BIOS, which initialises the DRAM and loads the boot images.
    synchronous: clocks of one PLL with paths between them, as nextpnr names them.
    nic, link: one of boards.NICS and one of boards.LINKS.
    small: the FPGA is nearly full, so the tools optimise for area instead of speed.
    """

    title = ""
    sys_clk_freq = 75_000_000
    baud_rate = 1_000_000  # at 115200 a serial boot of Linux would take 8 minutes
    ports = 0
    phy_mode = ""
    phy_delays = {}
    dram_masks = True
    cpu_config = CpuConfig()
    rom_size = 32 << 10
    synchronous = ()
    small = False

    # Fixed, as in ModeratoSoC. Pages 4 and 6 are for LiteEth's MACs.
    csr_map = {
        **ModeratoSoC.csr_map,
        "identifier_mem": 1,
        "phy0": 5,
        "phy1": 7,
        "ddrphy": 9,
        "leds": 10,
        "spisdcard": 11,
        "die": 12,
    }

    def __init__(self, nic="moderato", uart_name="serial", harts=1, link="fixed"):
        self.link = link
        self.offloads = nic == "offload"
        self.flows = nic == "flows"
        self.time = nic == "time"
        platform = self.make_platform()
        self.add_clocks(platform)
        ModeratoSoC.__init__(
            self,
            platform,
            self.sys_clk_freq,
            phys=[self.add_phy(platform, port) for port in range(self.ports)],
            nic="liteeth" if nic == "liteeth" else "moderato",
            cpu=replace(self.cpu_config, harts=harts),
            ident=f"Moderato on {self.title}",
            integrated_rom_size=self.rom_size,
            integrated_sram_size=SRAM_SIZE,
            uart_name=uart_name,
            uart_baudrate=self.baud_rate,
        )
        self.add_memory(platform)
        self.add_devices(platform)

    def mac_options(self, number: int) -> dict:
        # One queue for each hart: a second queue is large, and a single hart does not benefit from it.
        if self.offloads:
            return {**OFFLOADS, "queues": self.cpu.config.harts}
        if self.time:
            return TIME
        return FLOWS if self.flows else {}

    def add_phy(self, platform, port: int):
        """An RGMII PHY with its own clock domains."""
        options = {
            "clock_pads": platform.request("eth_clocks", port),
            "pads": platform.request("eth", port),
            **self.phy_delays,
        }
        if self.link == "fixed":
            phy = LiteEthPHYRGMII(**options)
        else:
            phy = RGMIIECP5(sys_clk_freq=self.sys_clk_freq, **options)
        phy.cd = f"eth{port}"
        domains = {f"eth_{side}": f"{phy.cd}_{side}" for side in ("rx", "tx")}
        self.add_module(name=f"phy{port}", module=ClockDomainsRenamer(domains)(phy))
        return phy

    def add_devices(self, platform):
        """Add the board's other devices."""
        self.leds = LedChaser(platform.request_all("user_led"), self.sys_clk_freq)
        self.die = DieTemperature()

    def describe(self):
        description = ModeratoSoC.describe(self)
        if self.link == "negotiated":
            for port, mac in enumerate(description["macs"]):
                mac["mdio"] = self._mdio(port)
        if hasattr(self.crg, "made_hz"):
            description["sys_clk_hz"] = self.crg.made_hz()
        return {
            **description,
            "board": self.title,
            "phy_mode": self.phy_mode,
            "link": self.link,
            "offloads": self.offloads,
            **({"time": True} if self.time else {}),
            "device": self.platform.device,
            "baud_rate": self.baud_rate,
            "die": self._page("die"),
        }

    def _page(self, name: str) -> int:
        """Address of a module's registers."""
        return self.mem_map["csr"] + self.csr.paging * self.csr.locs[name]

    def _mdio(self, port: int) -> int:
        """Address of a PHY's MDIO registers, which follow its reset register."""
        return self._page(f"phy{port}") + 4
