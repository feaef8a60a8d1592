# SPDX-License-Identifier: BSD-2-Clause
"""Builds the boot ROM and the SBI for a SoC's description (the content of soc.json).

The project has its own SBI, because OpenSBI 1.6 costs 6.9 M cycles of every boot (12 M instructions,
270 kB instead of 2 kB). OpenSBI also needs a patch: it accesses mstatush, which VexRiscv lacks.
"""

from dataclasses import dataclass
from pathlib import Path

from moderato.soc.linux import memory_map
from moderato.toolchain import debian
from moderato.toolchain.cache import artifact, run

HERE = Path(__file__).parent
COMPILER = "gcc-riscv64-unknown-elf"
CROSS = "riscv64-unknown-elf-"


@dataclass(frozen=True)
class Firmware:
    """Flat binaries and their link addresses."""

    rom: Path
    rom_base: int
    sbi: Path
    sbi_base: int


def firmware(soc: dict, rom_base: int | None = None) -> Firmware:
    """Build boot.bin and sbi.bin for the SoC described by `soc`.

    A board has LiteX's BIOS in its ROM, so its boot.bin is an image for `rom_base` in RAM.
    """
    where = memory_map.memory_map(soc)
    symbols = {
        "HARTS": soc["cpu"]["harts"],
        "CLINT_BASE": soc["clint"]["base"],
        "UART_BASE": soc["uart"]["base"],
        "SOC_CONTROLLER_BASE": soc["soc_controller"]["base"],
        "POWERED_OFF": soc["soc_controller"]["powered_off"],
        "KERNEL_BASE": where.kernel,
        "DTB_BASE": where.dtb,
        "SBI_BASE": where.sbi,
    }
    defines = [f"-D{name}={value:#x}" for name, value in symbols.items()]
    base = soc["rom"]["base"] if rom_base is None else rom_base
    if rom_base is not None:
        defines.append("-DAFTER_BIOS")

    def build(directory: Path):
        link(directory / "boot", HERE / "boot.ld", base, defines, [HERE / "boot.S"])
        link(directory / "sbi", HERE / "sbi.ld", where.sbi, defines, [HERE / "sbi.S", HERE / "sbi.c"])

    sources = [HERE / name for name in ("boot.S", "boot.ld", "sbi.S", "sbi.c", "sbi.ld")]
    made = artifact(
        "firmware", [*sources, " ".join(defines), f"rom {base:#x}", debian.version(COMPILER)], build
    )
    return Firmware(rom=made / "boot.bin", rom_base=base, sbi=made / "sbi.bin", sbi_base=where.sbi)


def link(target: Path, script: Path, base: int, defines: list[str], sources: list[Path]):
    """Compile and link `sources` at `base` into target.elf and the flat target.bin."""
    elf, flat = target.with_suffix(".elf"), target.with_suffix(".bin")
    run(
        [
            f"{CROSS}gcc",
            "-march=rv32ima_zicsr_zifencei",
            "-mabi=ilp32",
            "-mcmodel=medany",
            "-Os",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-ffreestanding",
            "-fno-pic",
            "-nostdlib",
            "-nostartfiles",
            *defines,
            f"-Wl,--defsym=BASE={base:#x}",
            f"-Wl,-T,{script}",
            "-o",
            elf,
            *sources,
        ]
    )
    run([f"{CROSS}objcopy", "-O", "binary", elf, flat])
