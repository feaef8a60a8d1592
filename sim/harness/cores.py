# SPDX-License-Identifier: BSD-2-Clause
"""Supported CPUs: the nets and registers of their Verilog that the harness reads, by name.

The CPU's design does not depend on this. `cpu` of soc.json names its `core`, one of CORES; default:
ours.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Core:
    """Paths are Verilog's, from module `top` on.

    cluster: the CPU's instance. harts: the core of each hart in it. clients: of the memory port, by
    name: the signals of a request and of its acceptance. claims: accesses to the PLIC's registers:
    address (of a word, bits 21:0; bit 21 distinguishes them from
        other registers), acknowledgement, write, data read.
    lines: the PLIC's inputs, source 1 in the lowest bit.
    watched: a hart's wfi, trace_valid, trace_pc, trace_privilege. For those that are missing here, the
        SoC has pads.
    time, compares: the time that the harts see, and the value that each compares it with. dcache,
    walker: instance of a hart's D-cache, state of its page-table walker. Without them (CPUs other
        than VexRiscv), there is no profile, and no sleeping cycle is skipped.
    """

    cluster: str
    harts: list[str]
    clients: dict[str, tuple[str, str]]
    claims: tuple[str, str, str, str]
    lines: str
    watched: dict[str, str]
    time: str
    compares: list[str]
    dcache: str
    walker: str


def core(soc: dict) -> Core:
    """The core of the SoC that `soc`, the content of soc.json, describes."""
    return CORES[soc["cpu"].get("core", "moderato")](soc)


def _moderato(soc: dict) -> Core:
    """Our own cluster (soc/cpu/scala/Cluster.scala)."""
    harts, cluster = soc["cpu"]["harts"], "soc.ModeratoCluster"
    ports = range(len(soc["macs"])) if soc["nic"] == "moderato" else []  # LiteEth has no DMA
    controller = f"{cluster}.controller"

    def client(net):
        return f"{cluster}.hub.{net}_valid", f"{cluster}.hub.{net}_ready"

    return Core(
        cluster=cluster,
        harts=[f"{cluster}.harts_{hart}_cpu" for hart in range(harts)],
        clients={f"hart {hart}, data": client(f"io_hart_{hart}") for hart in range(harts)}
        | {f"hart {hart}, instructions": client(f"io_fetch_{hart}") for hart in range(harts)}
        | {f"MAC {port}": client(f"io_dma_{port}") for port in ports},
        claims=(
            f"{controller}.io_bus_ADR[21:0]",
            f"{controller}.ack",
            f"{controller}.io_bus_WE",
            f"{controller}.data",
        ),
        lines=f"{cluster}.interrupts",
        watched={},
        time=f"{controller}.clint_time",
        compares=[f"{controller}.clint_compare_{hart}" for hart in range(harts)],
        # Some names end in the number of harts: SpinalHDL numbers repeated names.
        dcache=f"dataCache_{harts}",
        walker=f"MmuPlugin_shared_state_{harts}",
    )


def _vexriscv_smp(soc: dict) -> Core:
    """LiteX's VexRiscv-SMP with a coherent DMA port (VexRiscvSmpLitexCluster.scala)."""
    harts, cluster = soc["cpu"]["harts"], f"soc.{soc['cpu']['netlist']}"
    plic = f"{cluster}.plicWishbone"
    return Core(
        cluster=cluster,
        harts=[f"{cluster}.cores_{hart}_cpu_logic_cpu" for hart in range(harts)],
        clients={"DMA": (f"{cluster}.dma_wishbone_CYC", f"{cluster}.dma_wishbone_ACK")},
        claims=(f"{{2'b11, {plic}_ADR}}", f"{plic}_ACK", f"{plic}_WE", f"{plic}_DAT_MISO"),
        lines=f"{cluster}.interrupts[31:1]",
        watched={
            "wfi": "CsrPlugin_inWfi",
            "trace_valid": "lastStageIsFiring",
            "trace_pc": "lastStagePc",
            "trace_privilege": "CsrPlugin_privilege",
        },
        time=f"{cluster}.clint_logic.logic_time",
        compares=[f"{cluster}.clint_logic.logic_harts_{hart}_cmp" for hart in range(harts)],
        dcache=f"dataCache_{harts}",
        walker=f"MmuPlugin_shared_state_{harts}",
    )


def _rocket(soc: dict) -> Core:
    """LiteX's Rocket, one hart (PyPI's netlists). Its timer counts once in a hundred cycles."""
    cluster = "soc.ExampleRocketSystem"
    plic = f"{cluster}.plicDomainWrapper.plic"
    dma = f"{cluster}.l2_frontend_bus_axi4_0"
    return Core(
        cluster=cluster,
        harts=[f"{cluster}.tile_prci_domain.tile_reset_domain_tile.core"],
        clients={
            "DMA, writes": (f"{dma}_aw_valid", f"{dma}_aw_ready"),
            "DMA, reads": (f"{dma}_ar_valid", f"{dma}_ar_ready"),
        },
        # Supervisor mode's claims have a net of their own; the address is that of its register.
        claims=("22'h280401", f"{plic}.out_f_roready_22", "1'b0", f"{plic}.maxDevs_1"),
        lines=f"{cluster}.interrupts",
        watched={
            "wfi": "csr_io_csr_stall",
            "trace_valid": "coreMonitorBundle_valid",
            "trace_pc": "coreMonitorBundle_pc[31:0]",
            "trace_privilege": "csr.reg_mstatus_prv",
        },
        time=f"{cluster}.clint.time_",
        compares=[],
        dcache="",
        walker="",
    )


CORES = {"moderato": _moderato, "vexriscv_smp": _vexriscv_smp, "rocket": _rocket}
