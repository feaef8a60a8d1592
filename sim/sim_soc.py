# SPDX-License-Identifier: BSD-2-Clause
"""The simulated SoC: ModeratoSoC on a platform whose pads the harness drives.

directory = soc_verilog(SimConfig(macs=2))      # *.v, soc.json, values.txt, checks.txt
"""

import contextlib
import dataclasses
import json
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from litex.build.generic_platform import GenericPlatform, Pins, Subsignal
from litex.build.sim.common import sim_special_overrides
from litex.gen import LiteXModule
from migen import ClockDomain, Signal

from moderato.gateware.mac import PARTS
from moderato.gateware.phy.sim import SimPHY, sim_phy_pads
from moderato.sim.harness import checks, values
from moderato.soc.cpu import CpuConfig
from moderato.soc.cpu.netlist import cluster
from moderato.soc.soc import FLOWS, OFFLOADS, POWERED_OFF, TIME, ModeratoSoC, plic_sources
from moderato.soc.verilog import normalise, sources
from moderato.toolchain.cache import artifact, run
from moderato.toolchain.project import ROOT

TOP = "sim"  # the Verilog module


@dataclass(frozen=True)
class SimConfig:
    """`ram_latency`: cycles from a read command to its first word (soc/memory.py). `dram`: the board
    whose DRAM is simulated instead of that RAM (sim/dram.py), or none. `nic`, `liteeth_slots`: as for
    ModeratoSoC. `offloads`, `flows`, `time`: the MACs have OFFLOADS,
    FLOWS, TIME.
    """

    macs: int = 2
    nic: str = "moderato"
    offloads: bool = False
    flows: bool = False
    time: bool = False
    liteeth_slots: int = 2
    cpu: CpuConfig = field(default_factory=CpuConfig)
    sys_clk_hz: int = 100_000_000
    ram_bytes: int = 32 << 20
    rom_bytes: int = 64 << 10
    ram_latency: int = 8
    dram: str = ""

    @property
    def mac_options(self) -> dict:
        """The MACs' options in addition to those of the published figures."""
        chosen = (self.offloads, OFFLOADS), (self.flows, FLOWS), (self.time, TIME)
        return {name: value for wanted, options in chosen if wanted for name, value in options.items()}

    @classmethod
    def from_dict(cls, values: dict) -> "SimConfig":
        return cls(**{**values, "cpu": CpuConfig(**values["cpu"])})


# Pads ---------------------------------------------------------------------------------------------


def pads(config: SimConfig, gated: bool = True) -> list:
    """`gated`: parts of a MAC have clocks of their own, whose edges the simulator may omit."""
    pads = [
        ("sys_clk", 0, Pins(1)),
        (
            "ended",
            0,  # requests of the guest: power off, reset
            Subsignal("off", Pins(1)),
            Subsignal("reset", Pins(1)),
        ),
        (
            "serial",
            0,
            Subsignal("source_valid", Pins(1)),  # from the guest
            Subsignal("source_ready", Pins(1)),
            Subsignal("source_data", Pins(8)),
            Subsignal("sink_valid", Pins(1)),  # to the guest
            Subsignal("sink_ready", Pins(1)),
            Subsignal("sink_data", Pins(8)),
        ),
    ]
    pads += [
        (
            "cpu",
            hart,
            Subsignal("wfi", Pins(1)),
            Subsignal("trace_valid", Pins(1)),
            Subsignal("trace_pc", Pins(32)),
            Subsignal("trace_privilege", Pins(2)),
        )
        for hart in range(config.cpu.harts)
    ]
    pads += [
        (
            "eth",
            port,
            *[Subsignal(name, Pins(width)) for name, width in sim_phy_pads(events=16)],
            *[
                Subsignal(f"{part}_{pad}", Pins(1))
                for part in PARTS
                if gated
                for pad in ("clk", "awake")
            ],
        )
        for port in range(config.macs)
    ]
    return pads


class SimPlatform(GenericPlatform):
    """A platform without pins: its pads are ports of the Verilog module."""

    def __init__(self, config: SimConfig):
        GenericPlatform.__init__(self, "simulation", pads(config), name=TOP)

    def get_verilog(self, fragment, **kwargs):
        return GenericPlatform.get_verilog(
            self, fragment, special_overrides=sim_special_overrides, **kwargs
        )


class _CRG(LiteXModule):
    """One clock; reset in the first cycle and when the SoC controller asks for it."""

    def __init__(self, clk):
        self.rst = Signal()
        self.cd_sys = ClockDomain()
        self.cd_por = ClockDomain(reset_less=True)

        # # #

        reset = Signal(reset=1)
        self.comb += [
            self.cd_sys.clk.eq(clk),
            self.cd_por.clk.eq(clk),
            self.cd_sys.rst.eq(reset),
        ]
        self.sync.por += reset.eq(self.rst)


# SoC ----------------------------------------------------------------------------------------------


class Simulated:
    """The harness's part of any SoC: its pads, and clocks for parts of a MAC.

    Derive a class from this before LiteX's SoCCore. Call `take_pads` first, `connect` last, and between
    them make a MAC with `mac_options` for each of `make_phys`.
    """

    gated_macs = True
    options = {}  # of the MACs, in addition to those of the published figures

    def take_pads(self, platform, macs: int):
        self.crg = _CRG(platform.request("sys_clk"))
        self.eth_pads = [platform.request("eth", port) for port in range(macs)]

    def connect(self, macs):
        self.rom.mem.init = None  # the harness fills it, like the RAM
        for number, (mac, pads) in enumerate(zip(macs, self.eth_pads)):
            self.comb += pads.events.eq(mac.events)
            if self._gated(pads):
                self._add_gated_clocks(number, mac, pads)
            elif hasattr(pads, "datapath_awake"):
                self.comb += [getattr(pads, f"{part}_awake").eq(0) for part in PARTS]
        ended = self.platform.request("ended")
        self.comb += [
            ended.off.eq(self.ctrl._scratch.storage == POWERED_OFF),
            ended.reset.eq(self.ctrl.soc_rst),
        ]

    def _gated(self, pads):
        return self.gated_macs and hasattr(pads, "datapath_clk")

    def mac_options(self, number):
        parts = PARTS if self._gated(self.eth_pads[number]) else ()
        domains = {f"{part}_cd": f"mac{number}_{part}" for part in parts}
        return {"urgent": True, "pacing": True, **self.options, **domains}

    def _add_gated_clocks(self, number, mac, pads):
        for part in PARTS:
            name = f"mac{number}_{part}"
            domain = ClockDomain(name)
            setattr(self, f"cd_{name}", domain)
            self.comb += [
                domain.clk.eq(getattr(pads, f"{part}_clk")),
                domain.rst.eq(self.crg.cd_sys.rst),
                getattr(pads, f"{part}_awake").eq(getattr(mac, f"{part}_awake")),
            ]

    def make_phys(self, sys_clk_hz):
        phys = []
        for port, pads in enumerate(self.eth_pads):
            phy = SimPHY(pads, sys_clk_hz, self.mac_options(port).get("datapath_cd", "sys"))
            self.add_module(name=f"phy{port}", module=phy)
            phys.append(phy)
        return phys


class SimSoC(Simulated, ModeratoSoC):
    """`platform`: another one with the same pads."""

    def __init__(self, config: SimConfig = SimConfig(), platform=None):
        platform = platform or SimPlatform(config)
        self.take_pads(platform, config.macs)
        self.gated_macs = config.nic == "moderato"  # LiteEth's parts have no signal for idle clocks
        self.options = config.mac_options
        ModeratoSoC.__init__(
            self,
            platform,
            config.sys_clk_hz,
            phys=self.make_phys(config.sys_clk_hz),
            nic=config.nic,
            liteeth_slots=config.liteeth_slots,
            cpu=config.cpu,
            ram_size=0 if config.dram else config.ram_bytes,
            ram_latency=config.ram_latency,
            integrated_rom_size=config.rom_bytes,
            integrated_sram_size=0,
            uart_name="sim",
            with_timer=False,
        )
        if config.dram:
            self._add_dram(config)
        self.connect(self.macs)
        for hart, trace in enumerate(self.cpu.trace):
            pads = platform.request("cpu", hart)
            self.comb += [
                pads.wfi.eq(trace["wfi"]),
                pads.trace_valid.eq(trace["valid"]),
                pads.trace_pc.eq(trace["pc"]),
                pads.trace_privilege.eq(trace["privilege"]),
            ]

    def _add_dram(self, config: SimConfig):
        from .dram import DRAMModel, of_board

        module, settings = of_board(config.dram, config.sys_clk_hz)
        self.ddrphy = DRAMModel(module, settings, config.ram_bytes)
        self.add_litedram(self.ddrphy, module, size=config.ram_bytes)

    def describe(self):
        return {**ModeratoSoC.describe(self), "gated_clocks": self.gated_macs}


# Verilog ------------------------------------------------------------------------------------------


def soc_verilog(config: SimConfig = SimConfig()) -> Path:
    """A folder with the Verilog files of the SoC (top module `TOP`), soc.json, values.FILE and
    checks.FILE."""
    dma_ports = config.macs if config.nic == "moderato" else 0
    netlist = cluster(
        config.cpu, dma_ports, plic_sources(config.macs, config.mac_options.get("queues", 1))
    )
    parameters = json.dumps(dataclasses.asdict(config), sort_keys=True)
    inputs = [parameters, netlist, *map(Path, (__file__, values.__file__, checks.__file__))]
    inputs += sorted(checks.SOURCES.glob("*.py"))
    if config.dram:
        inputs += [
            Path(__file__).with_name("dram.py"),
            *sorted((ROOT / "boards").glob("*.py")),
            *sources("litedram", "litex-boards"),
        ]
    else:
        inputs += sources()

    def build(directory: Path):  # in a process of its own: names in Verilog depend on the call stack
        run([sys.executable, "-m", "moderato.sim.sim_soc", parameters, directory])

    return artifact("soc-verilog", inputs, build, "10 s")


def write(soc: Simulated, directory: Path):
    """Write the SoC's Verilog files, soc.json, values.FILE and checks.FILE."""
    checked = checks.of(soc)
    soc.finalize()
    description = soc.describe()
    fragment = soc.get_fragment()
    soc.platform.finalize(fragment)
    # With one always block for each signal, as in LiteX's own simulator, the loop in LiteEth's CRC
    # checker would be split over blocks. The harness evaluates a cycle once, which would give a wrong
    # result.
    verilog = soc.platform.get_verilog(
        fragment,
        name=TOP,
        regular_comb=description["nic"] != "liteeth",
        ios=soc.platform.constraint_manager.get_io_signals(),
    )
    with contextlib.chdir(directory):  # memory contents are written next to the Verilog
        verilog.write(f"{TOP}.v")
        normalise(Path(f"{TOP}.v"))
        for file, _language, _library, *_ in soc.platform.sources:
            shutil.copy(file, ".")
    (directory / "soc.json").write_text(json.dumps(description, indent=2) + "\n")
    (directory / values.FILE).write_text(values.verilog(soc, verilog.ns))
    (directory / checks.FILE).write_text(checks.verilog(checked, TOP, soc.crg.cd_sys, verilog.ns))


if __name__ == "__main__":
    write(SimSoC(SimConfig.from_dict(json.loads(sys.argv[1]))), Path(sys.argv[2]))
