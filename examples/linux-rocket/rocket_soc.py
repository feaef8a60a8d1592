#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""LiteX's Rocket (64 bits, one hart) and two MACs at its `dma_bus`, for the lab's simulator.

    python rocket_soc.py FOLDER      # writes the Verilog, soc.json and LiteX's csr.json there

Apart from `Simulated`, which has the pads of the lab's simulator, this is an ordinary LiteX SoC.
"""

import sys
from pathlib import Path

from litex.gen import LiteXModule
from litex.soc.cores.cpu import CPUS
from litex.soc.cores.cpu.rocket import Rocket
from litex.soc.integration.export import get_csr_json
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCCore
from migen import FSM, If, Memory, NextState, NextValue, Signal, log2_int

from moderato import add_moderato
from moderato.sim.sim_soc import SimConfig, SimPlatform, Simulated, write
from moderato.soc.soc import describe
from moderato.soc.verilog import sources
from moderato.toolchain.cache import artifact, run
from moderato.toolchain.project import ROOT, pyproject

MACS = 2
PLIC_SOURCES = 8  # of the netlist
TIMER = 100  # cycles per tick of its clock


class PackagedRocket(Rocket):
    """LiteX's class with the netlists of PyPI's package, which are older. They have other names, and
    only `full` has an FPU."""

    names = {"linux": "LitexLinuxConfig", "full": "LitexFullConfig"}

    @staticmethod
    def get_arch(variant):
        return "rv64i2p0_mafdc" if variant == "full" else "rv64i2p0_mac"

    @staticmethod
    def add_sources(platform, variant):
        folder = package() / "pythondata_cpu_rocket" / "verilog"
        name = f"freechips.rocketchip.system.{PackagedRocket.names[variant]}"
        platform.add_sources(folder / "generated-src", f"{name}.v", f"{name}.behav_srams.v")
        platform.add_sources(folder / "vsrc", "plusarg_reader.v", "AsyncResetReg.v", "EICG_wrapper.v")


def package() -> Path:
    """The netlists' package. It has 41 MB, and only this example needs it, so it is not in the
    environment."""
    [name] = pyproject()["project"]["optional-dependencies"]["rocket"]

    def build(folder: Path):
        run([sys.executable, "-m", "pip", "install", "--no-deps", "--target", folder, name])

    return artifact("rocket-netlists", [name], build, "from PyPI, 41 MB")


class AXIRAM(LiteXModule):
    """Memory at an AXI port. It processes one burst at a time, one beat per clock. Its array is
    `main_ram`."""

    def __init__(self, bus, size):
        width = bus.data_width // 8
        array = Memory(bus.data_width, size // width, name="main_ram")
        port = array.get_port(write_capable=True, we_granularity=8, async_read=True)
        self.specials += array, port

        # # #

        address = Signal.like(port.adr)
        left = Signal.like(bus.ar.len)
        name = Signal.like(bus.ar.id)

        def begin(channel):
            return [
                channel.ready.eq(1),
                NextValue(address, channel.addr[log2_int(width) :]),
                NextValue(left, channel.len),
                NextValue(name, channel.id),
            ]

        self.comb += [
            port.adr.eq(address),
            port.dat_w.eq(bus.w.data),
            bus.r.data.eq(port.dat_r),
            bus.r.id.eq(name),
            bus.r.last.eq(left == 0),
            bus.b.id.eq(name),
        ]
        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act(
            "IDLE",
            If(
                bus.aw.valid,
                *begin(bus.aw),
                NextState("WRITE"),
            ).Elif(
                bus.ar.valid,
                *begin(bus.ar),
                NextState("READ"),
            ),
        )
        fsm.act(
            "READ",
            bus.r.valid.eq(1),
            If(
                bus.r.ready,
                NextValue(address, address + 1),
                NextValue(left, left - 1),
                If(bus.r.last, NextState("IDLE")),
            ),
        )
        fsm.act(
            "WRITE",
            bus.w.ready.eq(1),
            If(
                bus.w.valid,
                port.we.eq(bus.w.strb),
                NextValue(address, address + 1),
                If(bus.w.last, NextState("ANSWER")),
            ),
        )
        fsm.act(
            "ANSWER",
            bus.b.valid.eq(1),
            If(bus.b.ready, NextState("IDLE")),
        )


class LinuxSoC(Simulated, SoCCore):
    def __init__(self, config: SimConfig, variant="linux"):
        platform = SimPlatform(config)
        CPUS["rocket"] = PackagedRocket
        self.take_pads(platform, config.macs)
        SoCCore.__init__(
            self,
            platform,
            config.sys_clk_hz,
            cpu_type="rocket",
            cpu_variant=variant,
            integrated_rom_size=config.rom_bytes,
            integrated_sram_size=0,
            uart_name="sim",
            with_timer=False,
        )
        self.ram = AXIRAM(self.cpu.mem_axi, config.ram_bytes)
        # LiteX rounds its I/O region up, so that it overlaps this region, which is cached nevertheless.
        self.bus.add_region(
            "main_ram",
            SoCRegion(origin=self.mem_map["main_ram"], size=config.ram_bytes, mode="rwx", cached=False),
        )

        self.names = [f"eth{number}" for number in range(config.macs)]
        self.connect(
            [
                add_moderato(
                    self, phy=phy, name=name, phy_cd="sys", coherent=True, **self.mac_options(number)
                )
                for number, (name, phy) in enumerate(zip(self.names, self.make_phys(config.sys_clk_hz)))
            ]
        )

    def describe(self):
        cpu = {"core": "rocket", "isa": "rv64imac", "harts": 1}
        macs = [
            {
                "base": self.bus.regions[name].origin,
                "size": self.bus.regions[name].size,
                "rx_irq": self.irq.locs[f"{name}_rx"],
                "tx_irq": self.irq.locs[f"{name}_tx"],
            }
            for name in self.names
        ]
        soc = {
            **describe(self, cpu, PLIC_SOURCES, "moderato", macs),
            "gated_clocks": True,
            "timebase_hz": self.sys_clk_freq // TIMER,
        }
        for device in soc["uart"], *soc["macs"]:  # LiteX counts from 0, Rocket's PLIC from 1
            device |= {name: irq + 1 for name, irq in device.items() if name.endswith("irq")}
        return soc


def verilog() -> Path:
    """A folder with the Verilog, soc.json and csr.json, from the build cache."""
    inputs = [
        Path(__file__),
        package().name,
        *sorted((ROOT / "integrate").glob("*.py")),
        ROOT / "sim/sim_soc.py",
        *sources(),
    ]

    def build(folder: Path):
        run([sys.executable, __file__, folder])

    return artifact("rocket-verilog", inputs, build, "10 s")


def main(folder):
    soc = LinuxSoC(SimConfig(macs=MACS))
    write(soc, Path(folder))
    Path(folder, "csr.json").write_text(
        get_csr_json(csr_regions=soc.csr_regions, constants=soc.constants, mem_regions=soc.mem_regions)
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
