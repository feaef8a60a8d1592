# SPDX-License-Identifier: BSD-2-Clause
"""The cluster as a LiteX CPU."""

from pathlib import Path

from migen import ClockSignal, Instance, ResetSignal, Signal

from litex.soc.cores.cpu import CPU, CPU_GCC_TRIPLE_RISCV32, CPUS
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import axi, wishbone

from ..memory import MemoryPort
from .config import CpuConfig
from .netlist import MODULE, cluster

PLIC_SOURCES = 31  # the maximum; the cluster has as many as the SoC uses


class ModeratoCPU(CPU):
    """Harts, CLINT and PLIC; one port to memory, one to peripherals, any number of DMA ports.

    The SoC connects `memory` (soc/memory.py). `add_dma_port()` adds a coherent AXI4 slave. Interrupt
    lines are the PLIC's, active high. `trace` (one per hart) is for observation only. With the debug
    module, `jtag` has a TAP for each hart.
    """

    category = "softcore"
    family = "riscv"
    name = "moderato"
    human_name = "Moderato VexRiscv cluster"
    variants = ["standard"]
    data_width = 32
    endianness = "little"
    gcc_triple = CPU_GCC_TRIPLE_RISCV32
    gcc_flags = "-march=rv32ima_zicsr_zifencei -mabi=ilp32 -D__riscv_plic__"
    linker_output_format = "elf32-littleriscv"
    nop = "nop"
    io_regions = {0x8000_0000: 0x8000_0000}  # not cached: origin, size
    reset_address = 0x0000_0000
    interrupts = {"none": 0}  # PLIC source 0 means "no interrupt"
    mem_map = {
        "rom": 0x0000_0000,
        "sram": 0x1000_0000,
        "main_ram": 0x4000_0000,
        "csr": 0xF000_0000,
        "clint": 0xF001_0000,
        "plic": 0xF0C0_0000,
    }
    config = CpuConfig()

    @classmethod
    def register(cls, config: CpuConfig) -> str:
        """Register a cluster of this configuration with LiteX; return its name for `cpu_type`."""
        members = {"config": config, "__module__": cls.__module__}
        CPUS[cls.name] = type(cls.__name__, (cls,), members)
        return cls.name

    def __init__(self, platform, variant):
        self.platform = platform
        self.variant = variant
        self.reset = Signal()
        self.interrupt = Signal(PLIC_SOURCES + 1)
        self.plic_sources = 1
        self.memory = MemoryPort()
        self.bus = wishbone.Interface(data_width=32, address_width=32, addressing="word")
        self.periph_buses = [self.bus]
        self.memory_buses = []
        self.dma_buses = []
        self.trace = [
            {"wfi": Signal(), "valid": Signal(), "pc": Signal(32), "privilege": Signal(2)}
            for _ in range(self.config.harts)
        ]
        self.jtag = [
            {"tck": Signal(), "tms": Signal(), "tdi": Signal(), "tdo": Signal()}
            for _ in range(self.config.harts if self.config.debug else 0)
        ]

    def set_reset_address(self, reset_address):
        if reset_address != self.reset_address:
            raise ValueError(f"reset address {reset_address:#x}: the cluster starts at 0")

    def add_dma_port(self) -> axi.AXIInterface:
        """Add a coherent port: 64-bit INCR bursts, fastest inside a 64-byte line."""
        bus = axi.AXIInterface(data_width=64, address_width=32, id_width=1)
        self.dma_buses.append(bus)
        return bus

    def add_soc_components(self, soc):
        for name, size in ("clint", 0x1_0000), ("plic", 0x40_0000):
            soc.bus.add_region(name, SoCRegion(origin=self.mem_map[name], size=size, cached=False))
        soc.add_config("CPU_COUNT", self.config.harts)
        soc.add_config("CPU_ISA", "rv32ima")
        if self.config.mmu:
            soc.add_config("CPU_MMU", "sv32")

    def do_finalize(self):
        ports = dict(
            i_clk=ClockSignal("sys"),
            i_reset=ResetSignal("sys") | self.reset,
            # Memory.
            o_memory_cmd_valid=self.memory.cmd.valid,
            i_memory_cmd_ready=self.memory.cmd.ready,
            o_memory_cmd_payload_address=self.memory.cmd.addr,
            o_memory_cmd_payload_write=self.memory.cmd.we,
            o_memory_cmd_payload_data=self.memory.cmd.data,
            o_memory_cmd_payload_mask=self.memory.cmd.mask,
            i_memory_rsp_valid=self.memory.rsp.valid,
            i_memory_rsp_payload=self.memory.rsp.data,
            # Peripherals.
            o_peripheral_CYC=self.bus.cyc,
            o_peripheral_STB=self.bus.stb,
            o_peripheral_WE=self.bus.we,
            o_peripheral_ADR=self.bus.adr,
            o_peripheral_SEL=self.bus.sel,
            o_peripheral_DAT_MOSI=self.bus.dat_w,
            i_peripheral_DAT_MISO=self.bus.dat_r,
            i_peripheral_ACK=self.bus.ack,
            i_peripheral_ERR=self.bus.err,
            # PLIC source 0 means "none".
            i_interrupts=self.interrupt[1 : 1 + self.plic_sources],
        )
        for number, bus in enumerate(self.dma_buses):
            ports.update(_axi_slave(f"dma_{number}", bus))
        for hart, trace in enumerate(self.trace):
            ports.update({f"o_trace_{hart}_{name}": signal for name, signal in trace.items()})
        for hart, jtag in enumerate(self.jtag):
            ports.update(
                {
                    f"i_jtag_{hart}_tck": jtag["tck"],
                    f"i_jtag_{hart}_tms": jtag["tms"],
                    f"i_jtag_{hart}_tdi": jtag["tdi"],
                    f"o_jtag_{hart}_tdo": jtag["tdo"],
                }
            )
        self.specials += Instance(MODULE, **ports)
        self.platform.add_source(cluster(self.config, len(self.dma_buses), self.plic_sources))
        self.platform.add_source(Path(__file__).parent / "Ram_1w_1rs.v")


def _axi_slave(prefix: str, bus: axi.AXIInterface) -> dict:
    ports = {}
    for channel, fields in {
        "aw": ["addr", "id", "len", "size", "burst"],
        "w": ["data", "strb", "last"],
        "ar": ["addr", "id", "len", "size", "burst"],
    }.items():
        endpoint = getattr(bus, channel)
        ports[f"i_{prefix}_{channel}_valid"] = endpoint.valid
        ports[f"o_{prefix}_{channel}_ready"] = endpoint.ready
        for field in fields:
            ports[f"i_{prefix}_{channel}_payload_{field}"] = getattr(endpoint, field)
    for channel, fields in {"b": ["id", "resp"], "r": ["data", "id", "resp", "last"]}.items():
        endpoint = getattr(bus, channel)
        ports[f"o_{prefix}_{channel}_valid"] = endpoint.valid
        ports[f"i_{prefix}_{channel}_ready"] = endpoint.ready
        for field in fields:
            ports[f"o_{prefix}_{channel}_payload_{field}"] = getattr(endpoint, field)
    return ports
