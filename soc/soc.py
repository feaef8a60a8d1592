# SPDX-License-Identifier: BSD-2-Clause
"""The system on chip, one class for simulation and boards."""

from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCCore

from .cpu import CpuConfig, ModeratoCPU
from .memory import DRAMBridge, IntegratedRAM, WholeWords

NICS = ("moderato", "liteeth")

# Arguments of a MAC with all options.
OFFLOADS = {
    "rx_checksum": True,
    "tx_checksum": True,
    "unicast": 4,
    "pause": True,
    "jumbo": True,
    "rmon": True,
    "vlan": True,
    "timestamp": True,
    "queues": 2,
    "gather": True,
    "segment": True,
    "merge": True,
}

# Arguments of MACs that forward flows to each other.
FLOWS = {"flows": 9, "flow_nat": True}

# Arguments of a MAC whose frames leave at their time, in addition to some of OFFLOADS.
SCHEDULE = {"launch": True, "gates": 6, "shaper": True}

# Arguments of a MAC whose frames leave at their times.
TIME = {
    name: OFFLOADS[name]
    for name in ("rx_checksum", "unicast", "pause", "rmon", "vlan", "timestamp", "queues")
} | SCHEDULE

MAC_BASE = 0xF100_0000
MAC_SIZE = 0x1000
# Order: Rx and Tx of the first MAC, those of the next one; then the same for second queues.
MAC_FIRST_IRQ = 3

POWERED_OFF = 0xFF  # the SBI writes it to the scratch register, because there is no power switch

LITEETH_SIZE = 0x4_0000  # for the slots of each MAC, from MAC_BASE
LITEETH_FIRST_CSR = 4  # page of the first MAC's registers; its PHY's and the next MAC's follow


def plic_sources(macs: int, queues: int = 1) -> int:
    """The PLIC's number of interrupt lines for `macs` MACs: at least those for two MACs, plus one."""
    return max(7, MAC_FIRST_IRQ + 2 * macs * queues - 1)


class ModeratoSoC(SoCCore):
    """CPU cluster, main memory, UART, and a MAC for each PHY.

    platform, sys_clk_freq: as for SoCCore, like all further arguments.
    phys: LiteEth PHYs; MAC n gets PHY n.
    nic: kind of the MACs, one of NICS; "liteeth" is for comparisons.
    liteeth_slots: per direction of LiteEth's MAC.
    cpu: configuration of the cluster.
    ram_size, ram_latency: bytes and cycles of an integrated main memory; without one, call
        `add_litedram`, or `add_dram` with LiteDRAM's port.

    Every device has a fixed address and interrupt, independent of the other devices.
    """

    interrupt_map = {"uart": 1, "timer0": 2}
    csr_map = {"ctrl": 0, "uart": 2, "timer0": 3, "sdram": 8}

    def __init__(
        self,
        platform,
        sys_clk_freq,
        phys=(),
        cpu=CpuConfig(),
        ram_size=0,
        ram_latency=8,
        nic="moderato",
        liteeth_slots=2,
        **kwargs,
    ):
        if nic not in NICS:
            raise ValueError(f"nic = {nic}: one of {', '.join(NICS)}")
        SoCCore.__init__(self, platform, int(sys_clk_freq), cpu_type=ModeratoCPU.register(cpu), **kwargs)
        self.nic = nic
        self.macs = []
        self.ports = len(phys)
        if ram_size:
            self.ram = IntegratedRAM(self.cpu.memory, ram_size, ram_latency)
            self._add_main_ram(ram_size)
        for phy in phys:
            if nic == "moderato":
                self.add_mac(phy)
            else:
                self.add_liteeth(phy, liteeth_slots)
        if nic == "moderato":
            self._join_pairs()

    # Main memory ----------------------------------------------------------------------------------

    def add_dram(self, port, size: int, masks: bool = True):
        """Main memory of `size` bytes at a native LiteDRAM port of 64-bit words.

        masks: whether the memory has byte masks.
        """
        memory = self.cpu.memory
        if not masks:
            self.whole_words = WholeWords(memory)
            memory = self.whole_words.memory
        self.dram = DRAMBridge(memory, port, self.mem_map["main_ram"])
        self._add_main_ram(size)

    def add_litedram(self, phy, module, masks: bool = True, size: int = 0):
        """LiteDRAM with one native port, the cluster's, without a cache or converter.

        size: used bytes; 0: all.
        """
        self.add_sdram("sdram", phy, module, with_soc_interconnect=False)
        geometry = module.geom_settings
        bits = geometry.bankbits + geometry.rowbits + geometry.colbits
        whole = 2**bits * phy.settings.nranks * phy.settings.databits // 8
        self.add_dram(self.sdram.crossbar.get_port(), size or whole, masks)

    def _add_main_ram(self, size: int):
        region = SoCRegion(origin=self.mem_map["main_ram"], size=size, mode="rwx")
        self.bus.add_region("main_ram", region)

    # MACs -----------------------------------------------------------------------------------------

    def add_mac(self, phy):
        from moderato.gateware.mac import ModeratoMAC

        number = len(self.macs)
        name = f"mac{number}"
        mac = ModeratoMAC(
            phy,
            **{
                "sys_clk_freq": self.sys_clk_freq,
                "phy_cd": getattr(phy, "cd", "eth"),
                **self.mac_options(number),
            },
        )
        self.add_module(name=name, module=mac)
        self.macs.append(mac)

        region = SoCRegion(origin=MAC_BASE + number * MAC_SIZE, size=MAC_SIZE, cached=False)
        self.bus.add_slave(name, mac.bus, region)
        self.comb += mac.dma.connect(self.cpu.add_dma_port())

        for direction, line in mac.irqs.items():
            source = self._mac_irq(number, direction)
            self.irq.add(f"{name}_{direction}", source)
            self.comb += self.cpu.interrupt[source].eq(line)

    def mac_options(self, number: int) -> dict:
        """Arguments of MAC `number` that differ from the defaults."""
        return {}

    def _join_pairs(self):
        """Join MACs with flow tables in pairs, in their order."""
        from moderato.gateware.flows.pair import FlowPair

        self.peers = {}  # number of a MAC: number of its peer
        for one in range(0, len(self.macs) - 1, 2):
            other = one + 1
            if self.macs[one].flows and self.macs[other].flows:
                self.add_module(name=f"flows{one}", module=FlowPair(self.macs[one], self.macs[other]))
                self.peers |= {one: other, other: one}

    def _mac_irq(self, number: int, direction: str) -> int:
        number += self.ports * direction.endswith("1")
        return MAC_FIRST_IRQ + 2 * number + ("rx", "tx").index(direction.removesuffix("1"))

    def _describe_mac(self, number: int) -> dict:
        region = self.bus.regions[f"mac{number}"]
        return {
            "base": region.origin,
            "size": region.size,
            **{f"{name}_irq": self._mac_irq(number, name) for name in self.macs[number].irqs},
            **({"peer": self.peers[number]} if number in self.peers else {}),
        }

    # LiteEth's MACs -------------------------------------------------------------------------------

    def add_liteeth(self, phy, slots: int):
        from .liteeth import LiteEth

        number = len(self.macs)
        name = f"mac{number}"
        mac = LiteEth(phy, slots, phy_cd=getattr(phy, "cd", "eth"))
        self.add_module(name=name, module=mac)
        self.macs.append(mac)
        self.csr.add(name, n=self._liteeth_page(number))

        # The driver expects the Tx slots after the Rx slots.
        size = slots * mac.slot_size
        for index, (direction, bus) in enumerate((("rx", mac.bus_rx), ("tx", mac.bus_tx))):
            origin = MAC_BASE + number * LITEETH_SIZE + index * size
            region = SoCRegion(origin=origin, size=size, cached=False)
            self.bus.add_slave(f"{name}_{direction}", bus, region)

        self.irq.add(name, self._mac_irq(number, "rx"))  # LiteX connects the interrupt to mac.ev

    def _describe_liteeth(self, number: int) -> dict:
        def page(index):
            return self.mem_map["csr"] + self.csr.paging * index

        rx, tx = (self.bus.regions[f"mac{number}_{direction}"] for direction in ("rx", "tx"))
        size = self.macs[number].slot_size
        return {
            "base": page(self._liteeth_page(number)),
            "mdio": page(self._liteeth_page(number) + 1),
            "buffer": {"base": rx.origin, "size": rx.size + tx.size},
            "rx_slots": rx.size // size,
            "tx_slots": tx.size // size,
            "slot_size": size,
            "irq": self._mac_irq(number, "rx"),
        }

    @staticmethod
    def _liteeth_page(number: int) -> int:
        return LITEETH_FIRST_CSR + 2 * number

    # Description ----------------------------------------------------------------------------------

    @property
    def plic_sources(self) -> int:
        return max(plic_sources(len(self.macs)), *self.irq.locs.values())

    def finalize(self):
        if not self.finalized:
            self.cpu.plic_sources = self.plic_sources
        SoCCore.finalize(self)

    def describe(self) -> dict:
        """The SoC's description for software and the lab; the device tree is made from it."""
        describe_mac = self._describe_mac if self.nic == "moderato" else self._describe_liteeth
        return describe(
            self,
            self.cpu.config.describe(),
            self.plic_sources,
            self.nic,
            [describe_mac(number) for number in range(len(self.macs))],
        )


def describe(soc: SoCCore, cpu: dict, plic_sources: int, nic: str, macs: list[dict]) -> dict:
    """The description of any SoC with main memory, CLINT and PLIC: the content of soc.json.

    soc: finalized, with SoC controller `ctrl` and UART `uart`. cpu: as CpuConfig.describe returns it.
    """

    def region(name):
        return {"base": soc.bus.regions[name].origin, "size": soc.bus.regions[name].size}

    def csr(name):
        return soc.mem_map["csr"] + soc.csr.paging * soc.csr.locs[name]

    return {
        "sys_clk_hz": int(soc.sys_clk_freq),
        "cpu": cpu,
        "memory": region("main_ram"),
        "rom": region("rom"),
        "clint": region("clint"),
        "plic": {**region("plic"), "sources": plic_sources},
        "soc_controller": {"base": csr("ctrl"), "powered_off": POWERED_OFF},
        "uart": {"base": csr("uart"), "irq": soc.irq.locs["uart"]},
        "nic": nic,
        "macs": macs,
    }
