# SPDX-License-Identifier: BSD-2-Clause
"""The files of a board's SoC: Verilog, constraints, the BIOS in its ROM, soc.json."""

import importlib
import inspect
import json
import os
import shutil
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import litex.soc.cores.cpu.vexriscv_smp as vexriscv_smp
from litex.soc.integration.builder import Builder
from litex.soc.integration.soc import SoCRegion

from moderato.boards import libc
from moderato.soc import verilog
from moderato.soc.cpu.netlist import cluster
from moderato.soc.soc import plic_sources
from moderato.toolchain import debian
from moderato.toolchain.cache import BuildError, artifact, run
from moderato.toolchain.project import ROOT, VENV

TOP = "top"  # the Verilog module, and the name of files
COMPILER = "gcc-riscv64-unknown-elf"
FIRMWARE = ROOT / "soc" / "firmware"
NETBOOT = FIRMWARE / "netboot"  # network boot for the BIOS
FLUSH = "\t.word 0x500f  /* forget what the data cache holds */"
CPU_SOFTWARE = Path(inspect.getfile(vexriscv_smp)).parent
PACKAGES = (
    "litex",
    "litex-boards",
    "litedram",
    "liteeth",
    "migen",
    "pythondata-software-picolibc",
    "pythondata-software-compiler-rt",
)


def gateware(board: str, nic: str, harts: int = 1, link: str = "fixed") -> Path:
    """A folder with top.v, top.lpf, the Verilog files of the CPU, soc.json and bios.bin."""
    options = json.dumps({"nic": nic, "harts": harts, "link": link})

    # A separate process, because names in Verilog depend on the call stack.
    def build(directory: Path):
        run(
            [sys.executable, "-m", "moderato.boards.gateware", board, options, directory],
            cwd=directory,
            env=environment(),
        )

    return artifact("board-gateware", [options, *sources(board, nic, harts)], build, "1 minute")


def board_class(board: str) -> type:
    """The class of the board named `board` in BOARDS."""
    return importlib.import_module(f"moderato.boards.{board}").Board


def sources(board: str, nic: str, harts: int = 1) -> list:
    """Inputs of a board's Verilog and BIOS, for the build cache."""
    kind = board_class(board)
    shared = [ROOT / "boards" / name for name in ("board.py", "die.py", "ecp5.py", "gateware.py")]
    queues = {"offload": harts, "time": 2}.get(nic, 1)
    netlist = cluster(
        replace(kind.cpu_config, harts=harts),
        0 if nic == "liteeth" else kind.ports,
        plic_sources(kind.ports, queues),
    )
    bios = [NETBOOT, FIRMWARE / "include", ROOT / "linux-driver" / "moderato_regs.h"]
    return [
        netlist,
        *verilog.sources(),
        *shared,
        *bios,
        ROOT / "boards" / f"{board}.py",
        Path(libc.__file__),
        *tools(),
    ]


def tools() -> list[str]:
    """Versions of the tools that make Verilog and BIOS."""
    return [debian.version(COMPILER), *(f"{package}={version(package)}" for package in PACKAGES)]


def environment() -> dict[str, str]:
    """LiteX calls meson and ninja by name, and uses the first RISC-V compiler that it finds. It also
    writes the commit of the enclosing git folder into the BIOS. That would be our commit; without it,
    equal sources give equal bitstreams."""
    return {
        "PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "LITEX_ENV_CC_TRIPLE": COMPILER.removeprefix("gcc-"),
        "GIT_CEILING_DIRECTORIES": str(VENV),
    }


class BoardBuilder(Builder):
    """The BIOS uses LiteX's own start code for VexRiscv clusters, which have the same PLIC and cache
    instructions. It boots from the network with the first MAC: ours through soc/firmware/netboot,
    LiteEth's under the name that LiteX uses for a single MAC.
    """

    def __init__(self, soc, **kwargs):
        # No history or completion, because the BIOS has to fit into 32 KiB.
        Builder.__init__(self, soc, bios_console="lite", **kwargs)
        if soc.nic == "moderato":
            self.add_software_package("libnetboot", str(NETBOOT))
            self.add_software_library("libnetboot")

    def _get_variables_contents(self):
        lines = [
            super()._get_variables_contents(),
            f"CPU_DIRECTORY={CPU_SOFTWARE}",
            "CPUFLAGS += -ffunction-sections -fdata-sections",
        ]  # the linker drops unused functions
        if self.soc.nic == "moderato":
            lines.append("bios.elf: LDFLAGS += -Wl,--wrap=netboot,--wrap=boot_helper")
        return "\n".join(lines) + "\n"

    def _generate_rom_software(self, **kwargs):
        libc.place(Path(self.software_dir), tools())
        if self.soc.cpu.config.harts > 1:
            (Path(self.software_dir) / "bios" / "crt0.S").write_text(start_of_several_harts())
        Builder._generate_rom_software(self, **kwargs)

    def _generate_includes(self, **kwargs):
        if self.soc.nic == "liteeth":
            self._name_ethmac()
        Builder._generate_includes(self, **kwargs)
        if self.soc.nic == "moderato":
            header = NETBOOT / "ethmac.h"
            shutil.copy(header, self.generated_dir)
            with (Path(self.generated_dir) / "csr.h").open("a") as file:
                file.write(f"#include <generated/{header.name}>\n")

    def _name_ethmac(self):
        soc = self.soc
        where = soc.describe()["macs"][0]
        soc.csr_regions["ethmac"] = soc.csr_regions["mac0"]
        soc.mem_regions["ethmac"] = SoCRegion(
            origin=where["buffer"]["base"], size=where["buffer"]["size"], cached=False
        )
        soc.add_constant("ETHMAC_RX_SLOTS", where["rx_slots"])
        soc.add_constant("ETHMAC_TX_SLOTS", where["tx_slots"])
        soc.add_constant("ETHMAC_SLOT_SIZE", where["slot_size"])


def start_of_several_harts() -> str:
    """LiteX's crt0.S, changed so that the second hart sees the first hart's start signal. The signal is
    a word in the BIOS' SRAM, which LiteX's cluster keeps coherent; ours caches it without coherency."""
    text = (CPU_SOFTWARE / "crt0.S").read_text()
    for place in "smp_slave:\n", "  fence r, r\n":
        if text.count(place) != 1:
            raise BuildError(
                f"LiteX's crt0.S has no line {place.strip()!r}: has its start of a second hart changed?"
            )
        text = text.replace(place, f"{place}{FLUSH}\n")
    return text


def write(soc, directory: Path):
    """Write top.v, top.lpf, the other Verilog files, soc.json and bios.bin."""
    work = directory / "work"
    builder = BoardBuilder(soc, output_dir=str(work), compile_gateware=False)
    builder.build(build_name=TOP)
    gateware = Path(builder.gateware_dir)
    for pattern in "*.v", "*.init", "*.lpf":
        for file in gateware.glob(pattern):
            shutil.move(file, directory)
    verilog.normalise(directory / f"{TOP}.v")
    for source, _language, _library, *_ in soc.platform.sources:
        if Path(source).name != f"{TOP}.v":
            shutil.copy(source, directory)
    shutil.copy(builder.get_bios_filename(), directory)
    (directory / "soc.json").write_text(json.dumps(soc.describe(), indent=2) + "\n")
    shutil.rmtree(work)


def main(board: str, options: str, directory: str):
    soc = board_class(board)(**json.loads(options))
    write(soc, Path(directory))


if __name__ == "__main__":
    main(*sys.argv[1:])
