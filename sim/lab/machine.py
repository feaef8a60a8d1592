# SPDX-License-Identifier: BSD-2-Clause
"""All that a simulation is made of: simulator, firmware, Linux, driver; built, or from the cache."""

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path

from moderato.soc.cpu import CpuConfig
from moderato.soc.toolchain import cache, project

# With the tick on an idle CPU, too. Else it starts when a device gets busy enough for its softirqs
# to move to their daemon, tenths of a second into a trial, and takes 1.5 % of the CPU from then on.
BENCH_BOOTARGS = "nohz=off"


@dataclass(frozen=True)
class Machine:
    simulator: Path                    # moderato-sim
    build_id:  str                     # what its checkpoints are bound to
    soc:       dict                    # soc.json
    images:    list[tuple[Path, int]]  # loaded before reset, with their addresses
    mailbox:   int                     # address
    driver:    Path                    # the NIC's module

    @property
    def sys_clk_hz(self) -> int:
        return self.soc["sys_clk_hz"]

    @functools.cached_property
    def conditions(self) -> dict:
        """What it is; `machine` stands for the content of all that runs."""
        content = [self.build_id, self.driver]
        for file, address in self.images:
            content += [file, hex(address)]
        return {"machine": cache.key("machine", content)[:12], "version": project.version(),
                "nic": self.soc.get("nic", "moderato"), "kernel": self._kernel(),
                "cpu": self.soc.get("cpu"), "memory_bytes": self.soc.get("memory", {}).get("size")}

    def _kernel(self) -> str | None:
        """The release, as the kernel's own banner has it."""
        for file, _ in self.images:
            found = re.search(rb"Linux version (\S+)", file.read_bytes())
            if found:
                return found[1].decode()
        return None


@functools.cache
def machine(link_mbps: int = 100, cpu: CpuConfig = CpuConfig(), nic: str = "moderato",
            liteeth_slots: int = 2) -> Machine:
    """The SoC with two MACs of the kind `nic`, whose device tree says `link_mbps`.

    Takes minutes the first time. `liteeth_slots`: of each direction; LiteX's default.
    """
    # Here, because LiteX takes a second to import, and wrong commands need none of it.
    from moderato.sim.harness.build import simulator
    from moderato.sim.soc import SimConfig, soc_verilog
    from moderato.soc.linux.driver import driver, liteeth
    from moderato.soc.linux.memory_map import memory_map

    verilog = soc_verilog(SimConfig(macs=2, nic=nic, liteeth_slots=liteeth_slots, cpu=cpu))
    soc = json.loads((verilog / "soc.json").read_text())
    images = boot_images(soc, link_mbps)
    binary = simulator(verilog, images)
    module = {"moderato": driver, "liteeth": liteeth}[nic](soc["cpu"]["harts"])
    return Machine(simulator=binary, build_id=binary.parent.name, soc=soc, images=images,
                   mailbox=memory_map(soc).mailbox, driver=module)


def boot_images(soc: dict, link_mbps: int) -> list[tuple[Path, int]]:
    """Boot ROM, SBI, kernel, device tree and root file system, each with its address."""
    from moderato.soc.firmware.firmware import firmware
    from moderato.soc.linux.devicetree import BOOTARGS, Options, dtb
    from moderato.soc.linux.kernel import kernel
    from moderato.soc.linux.memory_map import memory_map
    from moderato.soc.linux.rootfs import rootfs

    where = memory_map(soc)
    image = kernel(soc["cpu"]["harts"]).image
    boot, files = firmware(soc), rootfs()
    tree = dtb(soc, Options(bootargs=f"{BOOTARGS} {BENCH_BOOTARGS}",
                            initrd_size=files.stat().st_size, link_mbps=link_mbps))
    return [(boot.rom, boot.rom_base), (boot.sbi, boot.sbi_base), (image, where.kernel),
            (tree, where.dtb), (files, where.initrd)]
