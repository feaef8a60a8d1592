# SPDX-License-Identifier: BSD-2-Clause
"""All parts of a simulation: simulator, firmware, Linux, driver. They are built, or in the cache."""

import dataclasses
import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path

from moderato.soc.cpu import CpuConfig
from moderato.soc.linux.kernel import COMPILER, NORMAL, Choice, source_version
from moderato.toolchain import about, cache, project

from .system import DRAM, DRAM_BOARD, System
from .variants import FLOWS, LITEETH, MODERATO, OFFLOAD, TIME

# Keeps the tick on an idle CPU. Otherwise it would start when a busy device's softirqs move to their
# daemon, tenths of a second into a trial, and would then take 1.5 % of the CPU.
BENCH_BOOTARGS = "nohz=off"


@dataclass(frozen=True)
class Needs:
    """A kernel's needs: memory, time to boot, arguments."""

    ram_bytes: int
    boot_cycles: int  # several times a boot's duration
    boot_note: str
    bootargs: str


KERNELS = {  # the kernels of soc/linux/kernel.py
    "normal": Needs(32 << 20, 200_000_000, "half a minute", BENCH_BOOTARGS),
    # Freed pages are poisoned. Slabs are checked, but without traces of their users, which cost a tenth
    # of all cycles. The default of DMA debugging takes 5 MiB for mappings.
    "debug": Needs(
        64 << 20,
        3_000_000_000,
        "25 minutes",
        f"{BENCH_BOOTARGS} page_poison=1 slub_debug=FZP dma_debug_entries=16384",
    ),
    "netfilter": Needs(32 << 20, 200_000_000, "half a minute", BENCH_BOOTARGS),
    "conntrack": Needs(
        32 << 20, 200_000_000, "half a minute", f"{BENCH_BOOTARGS} nf_conntrack.enable_hooks=1"
    ),
    "traced": Needs(32 << 20, 200_000_000, "half a minute", BENCH_BOOTARGS),
    "vlan": Needs(32 << 20, 200_000_000, "half a minute", BENCH_BOOTARGS),
    "ptp": Needs(32 << 20, 200_000_000, "half a minute", BENCH_BOOTARGS),
    "time": Needs(32 << 20, 200_000_000, "half a minute", BENCH_BOOTARGS),
    "xdp": Needs(32 << 20, 200_000_000, "half a minute", BENCH_BOOTARGS),
    "router": Needs(32 << 20, 200_000_000, "half a minute", BENCH_BOOTARGS),
    "stock": Needs(32 << 20, 200_000_000, "half a minute", BENCH_BOOTARGS),
}


@dataclass(frozen=True)
class Machine:
    simulator: Path  # moderato-sim
    build_id: str  # its checkpoints work only with this build
    soc: dict  # soc.json
    images: list[tuple[Path, int]]  # with their addresses; loaded before reset
    mailbox: int  # address
    driver: Path  # of the NIC
    system: System = System()
    verilog: Path | None = None  # for the SoC

    @property
    def sys_clk_hz(self) -> int:
        return self.soc["sys_clk_hz"]

    @functools.cached_property
    def conditions(self) -> dict:
        """The machine's conditions; `machine` is a hash over the content of all that runs."""
        content = [self.build_id, self.driver]
        for file, address in self.images:
            content += [file, hex(address)]
        return {
            "machine": cache.key("machine", content)[:12],
            "version": project.version(),
            "nic": self.system.nic,
            "kernel": self._release(),
            "kernel_source": source_version(),
            "compiler": about.program(f"{COMPILER.removeprefix('gcc-')}-gcc"),
            "cpu": self.soc.get("cpu"),
            "memory_bytes": self.soc.get("memory", {}).get("size"),
            **({"spread": self.system.spread} if self.system.harts > 1 else {}),
            **({"memory": DRAM} if self.system.memory == DRAM else {}),
            **({"ethtool": list(self.system.ethtool)} if self.system.ethtool else {}),
        }

    def _release(self) -> str | None:
        """The kernel's release, from its banner."""
        for file, _ in self.images:
            found = re.search(rb"Linux version (\S+)", file.read_bytes())
            if found:
                return found[1].decode()
        return None


@functools.cache
def machine(
    link_mbps: int = 100,
    system: System = System(),
    cpu: CpuConfig = CpuConfig(),
    liteeth_slots: int = 2,
    bootargs: str = "",
) -> Machine:
    """The SoC with two MACs; its device tree has `link_mbps`.

    Takes minutes the first time. `cpu`: everything but the number of harts. `liteeth_slots`: for each
    direction; 2 is LiteX's default. The kernel determines the amount of RAM. `bootargs`: in addition to
    those of the kernel.
    """
    # Imported here: LiteX takes a second to import, and wrong commands do not need it.
    from moderato.sim.sim_soc import SimConfig, soc_verilog

    verilog = soc_verilog(
        SimConfig(
            macs=2,
            nic=LITEETH if system.nic == LITEETH else MODERATO,
            offloads=system.nic == OFFLOAD,
            flows=system.nic == FLOWS,
            time=system.nic == TIME,
            liteeth_slots=liteeth_slots,
            cpu=dataclasses.replace(cpu, harts=system.harts),
            sys_clk_hz=system.clock_mhz * 1_000_000,
            dram=DRAM_BOARD if system.memory == DRAM else "",
            ram_bytes=KERNELS[system.kernel.name].ram_bytes,
        )
    )
    return around(verilog, link_mbps, system, bootargs)


def around(
    verilog: Path, link_mbps: int = 100, system: System = System(), bootargs: str = ""
) -> Machine:
    """The machine around any SoC. `verilog`: a folder from sim/sim_soc.py's `write`, for `system`."""
    from moderato.sim.harness.build import simulator
    from moderato.soc.linux.driver import driver, liteeth
    from moderato.soc.linux.memory_map import memory_map

    soc = json.loads((verilog / "soc.json").read_text())
    images = boot_images(soc, link_mbps, system.kernel, bootargs)
    binary = simulator(verilog, images)
    module = (
        liteeth(system.harts, system.kernel)
        if system.nic == LITEETH
        else driver(system.harts, system.kernel)
    )
    return Machine(
        simulator=binary,
        build_id=binary.parent.name,
        soc=soc,
        images=images,
        mailbox=memory_map(soc).mailbox,
        driver=module,
        system=system,
        verilog=verilog,
    )


def traced(of: Machine) -> Machine:
    """The same machine with a simulator that can trace signals. Its checkpoints are different."""
    from moderato.sim.harness.traced import traced as simulator

    binary = simulator(of.verilog)
    return dataclasses.replace(of, simulator=binary, build_id=binary.parent.name)


def boot_images(
    soc: dict, link_mbps: int, kernel: Choice = NORMAL, bootargs: str = ""
) -> list[tuple[Path, int]]:
    """Boot ROM, SBI, kernel, device tree and root file system, each with its address."""
    from moderato.soc.firmware.firmware import firmware
    from moderato.soc.linux.devicetree import BOOTARGS, Options, dtb
    from moderato.soc.linux.kernel import kernel as build
    from moderato.soc.linux.memory_map import memory_map
    from moderato.soc.linux.rootfs import rootfs

    where = memory_map(soc)
    built = build(soc["cpu"]["harts"], kernel)
    if where.kernel + built.size > where.dtb:
        raise cache.BuildError(
            f"the {kernel.name} kernel takes {built.size:#x} bytes, the memory map "
            f"has {where.dtb - where.kernel:#x}; leave something out of it"
        )
    boot, files = firmware(soc), rootfs(soc["cpu"]["harts"], kernel)
    arguments = " ".join(filter(None, (BOOTARGS, KERNELS[kernel.name].bootargs, bootargs)))
    tree = dtb(soc, Options(bootargs=arguments, initrd_size=files.stat().st_size, link_mbps=link_mbps))
    return [
        (boot.rom, boot.rom_base),
        (boot.sbi, boot.sbi_base),
        (built.image, where.kernel),
        (tree, where.dtb),
        (files, where.initrd),
    ]
