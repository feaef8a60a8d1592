# SPDX-License-Identifier: BSD-2-Clause
"""The system on chip: the same class in simulation and on boards."""

from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCCore

from .cpu import CpuConfig, ModeratoCPU
from .memory import DRAMBridge, IntegratedRAM

MAC_BASE      = 0xf100_0000
MAC_SIZE      = 0x1000
MAC_FIRST_IRQ = 3           # Rx of the first MAC, then its Tx, then those of the next


def plic_sources(macs: int) -> int:
    """Interrupt lines that the PLIC needs for so many MACs (never fewer than for two, plus one)."""
    return max(7, MAC_FIRST_IRQ + 2 * macs - 1)


class ModeratoSoC(SoCCore):
    """CPU cluster, main memory, UART, and a MAC for each PHY.

    platform, sys_clk_freq: as for SoCCore, like all further arguments.
    phys: PHYs in LiteEth's sense; MAC n gets PHY n.
    cpu: size of the cluster.
    ram_size, ram_latency: bytes and cycles of an integrated main memory; without one, call
        `add_dram` with LiteDRAM's port.

    Every device has a fixed address and interrupt, whatever else the SoC contains.
    """
    interrupt_map = {"uart": 1, "timer0": 2}
    csr_map       = {"ctrl": 0, "uart": 2, "timer0": 3}

    def __init__(self, platform, sys_clk_freq, phys=(), cpu=CpuConfig(), ram_size=0, ram_latency=8,
                 **kwargs):
        SoCCore.__init__(self, platform, int(sys_clk_freq), cpu_type=ModeratoCPU.register(cpu),
                         **kwargs)
        self.macs = []
        if ram_size:
            self.ram = IntegratedRAM(self.cpu.memory, ram_size, ram_latency)
            self._add_main_ram(ram_size)
        for phy in phys:
            self.add_mac(phy)

    # Main memory ----------------------------------------------------------------------------------

    def add_dram(self, port, size: int):
        """Main memory of `size` bytes behind a native LiteDRAM port of 64-bit words."""
        base = self.mem_map["main_ram"]
        self.dram = DRAMBridge(self.cpu.memory, port, base)
        self._add_main_ram(size)

    def _add_main_ram(self, size: int):
        region = SoCRegion(origin=self.mem_map["main_ram"], size=size, mode="rwx")
        self.bus.add_region("main_ram", region)

    # MACs -----------------------------------------------------------------------------------------

    def add_mac(self, phy):
        from moderato.gateware.mac import ModeratoMAC

        number = len(self.macs)
        name   = f"mac{number}"
        mac    = ModeratoMAC(phy, self.sys_clk_freq, phy_cd=getattr(phy, "cd", "eth"),
                             **self.mac_clock_domains(number))
        self.add_module(name=name, module=mac)
        self.macs.append(mac)

        region = SoCRegion(origin=MAC_BASE + number * MAC_SIZE, size=MAC_SIZE, cached=False)
        self.bus.add_slave(name, mac.bus, region)
        self.comb += mac.dma.connect(self.cpu.add_dma_port())

        for direction, line in ("rx", mac.irq_rx), ("tx", mac.irq_tx):
            source = self._mac_irq(number, direction)
            self.irq.add(f"{name}_{direction}", source)
            self.comb += self.cpu.interrupt[source].eq(line)

    def mac_clock_domains(self, number: int) -> dict[str, str]:
        """Arguments of ModeratoMAC that name clock domains for its parts; without any, sys."""
        return {}

    @staticmethod
    def _mac_irq(number: int, direction: str) -> int:
        return MAC_FIRST_IRQ + 2 * number + ("rx", "tx").index(direction)

    # Outside view ---------------------------------------------------------------------------------

    @property
    def plic_sources(self) -> int:
        return max(plic_sources(len(self.macs)), *self.irq.locs.values())

    def finalize(self):
        if not self.finalized:
            self.cpu.plic_sources = self.plic_sources
        SoCCore.finalize(self)

    def describe(self) -> dict:
        """What software and the lab have to know; the device tree is made from it."""
        def region(name):
            return {"base": self.bus.regions[name].origin, "size": self.bus.regions[name].size}

        def csr(name):
            return self.mem_map["csr"] + self.csr.paging * self.csr.locs[name]

        return {
            "sys_clk_hz": int(self.sys_clk_freq),
            "cpu": self.cpu.config.describe(),
            "memory": region("main_ram"),
            "rom": region("rom"),
            "clint": region("clint"),
            "plic": {**region("plic"), "sources": self.plic_sources},
            "soc_controller": {"base": csr("ctrl")},
            "uart": {"base": csr("uart"), "irq": self.irq.locs["uart"]},
            "macs": [
                {**region(f"mac{n}"), "rx_irq": self._mac_irq(n, "rx"),
                 "tx_irq": self._mac_irq(n, "tx")}
                for n in range(len(self.macs))],
        }
