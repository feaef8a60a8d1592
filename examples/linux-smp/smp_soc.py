#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""LiteX's own VexRiscv-SMP with Linux, and two MACs at its `dma_bus`, for the lab's simulator.

    python smp_soc.py FOLDER name=value ...     # writes the Verilog there; values of LiteX's class

Except for `Simulated`, which has the pads of the lab's simulator, this is an ordinary LiteX SoC. Its
main memory is the RAM of the lab's own SoC; a board has LiteDRAM instead.
"""

import sys
import tempfile
from pathlib import Path

from litex.soc.cores.cpu.vexriscv_smp import VexRiscvSMP
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCCore
from migen import Cat, If, Signal

from moderato import add_moderato
from moderato.sim.sim_soc import SimConfig, SimPlatform, Simulated, write
from moderato.soc.cpu.config import LINE_BYTES
from moderato.soc.cpu.stock import provide
from moderato.soc.memory import WORD, IntegratedRAM, MemoryPort
from moderato.soc.soc import describe
from moderato.soc.verilog import sources
from moderato.toolchain.cache import artifact, run
from moderato.toolchain.project import ROOT

MACS = 2
PLIC_SOURCES = 31  # in every cluster
PACKAGES = "litedram", "pythondata-cpu-vexriscv"


class NativeRAM(IntegratedRAM):
    """The lab's RAM with two native LiteDRAM ports: one command per cycle, alternating if both are
    valid."""

    def __init__(self, ports, size, latency):
        memory = MemoryPort()
        IntegratedRAM.__init__(self, memory, size, latency)

        # # #

        # A write waits for its data. All reads have the same latency.
        turn = Signal()
        asks = [port.cmd.valid & (~port.cmd.we | port.wdata.valid) for port in ports]
        gets = [asks[0] & ~(asks[1] & turn), asks[1] & ~(asks[0] & ~turn)]
        self.sync += If(asks[0] & asks[1], turn.eq(~turn))
        self.comb += memory.cmd.valid.eq(gets[0] | gets[1])
        for port, get in zip(ports, gets):
            reads = Signal(latency)
            self.sync += reads.eq(Cat(get & ~port.cmd.we, reads))
            self.comb += [
                If(
                    get,
                    memory.cmd.we.eq(port.cmd.we),
                    memory.cmd.addr.eq(port.cmd.addr),
                    memory.cmd.data.eq(port.wdata.data),
                    memory.cmd.mask.eq(port.wdata.we),
                    port.cmd.ready.eq(1),
                    port.wdata.ready.eq(port.cmd.we),
                ),
                port.rdata.valid.eq(reads[-1]),
                port.rdata.data.eq(memory.rsp.data),
            ]


class LinuxSoC(Simulated, SoCCore):
    def __init__(self, config: SimConfig):
        platform = SimPlatform(config)
        self.take_pads(platform, config.macs)
        SoCCore.__init__(
            self,
            platform,
            config.sys_clk_hz,
            cpu_type="vexriscv_smp",
            cpu_variant="linux",
            integrated_rom_size=config.rom_bytes,
            integrated_sram_size=0,
            uart_name="sim",
        )
        self.cpu.add_memory_buses(address_width=32, data_width=WORD)
        self.ram = NativeRAM(self.cpu.memory_buses, config.ram_bytes, config.ram_latency)
        self.bus.add_region(
            "main_ram", SoCRegion(origin=self.mem_map["main_ram"], size=config.ram_bytes, mode="rwx")
        )

        self.names = [f"eth{number}" for number in range(config.macs)]
        self.connect(
            [
                add_moderato(self, phy=phy, name=name, phy_cd="sys", **self.mac_options(number))
                for number, (name, phy) in enumerate(zip(self.names, self.make_phys(config.sys_clk_hz)))
            ]
        )

    def describe(self):
        cpu = {
            "core": "vexriscv_smp",
            "netlist": self.cpu.cluster_name,
            "isa": "rv32ima",
            "harts": self.cpu.cpu_count,
            "line": LINE_BYTES,
            "icache": self.cpu.icache_size,
            "icache_ways": self.cpu.icache_ways,
            "dcache": self.cpu.dcache_size,
            "dcache_ways": self.cpu.dcache_ways,
            "itlb": self.cpu.itlb_size,
            "dtlb": self.cpu.dtlb_size,
        }
        macs = [
            {
                "base": self.bus.regions[name].origin,
                "size": self.bus.regions[name].size,
                "rx_irq": self.irq.locs[f"{name}_rx"],
                "tx_irq": self.irq.locs[f"{name}_tx"],
            }
            for name in self.names
        ]
        return {**describe(self, cpu, PLIC_SOURCES, "moderato", macs), "gated_clocks": True}


def verilog(**cpu) -> Path:
    """A folder of the build cache with the Verilog and soc.json. `cpu`: values of LiteX's class."""
    words = [f"{name}={value}" for name, value in cpu.items()]
    inputs = [
        *words,
        Path(__file__),
        *sorted((ROOT / "integrate").glob("*.py")),
        ROOT / "sim/sim_soc.py",
        *sources(*PACKAGES),
    ]

    def build(folder: Path):
        run([sys.executable, __file__, folder, *words])

    return artifact("smp-verilog", inputs, build, "2 minutes")


def main(folder, *words):
    VexRiscvSMP.coherent_dma = True
    for name, value in (word.split("=") for word in words):
        setattr(VexRiscvSMP, name, int(value))
    with tempfile.TemporaryDirectory() as netlists:
        provide(Path(netlists))
        write(LinuxSoC(SimConfig(macs=MACS)), Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
