# SPDX-License-Identifier: BSD-2-Clause
"""A board's boot images, and boot.json, which gives their addresses to LiteX's BIOS and litex_term.

Both execute the last image. For Linux that is `boot.bin`, which replaces the simulation's ROM. On a
board with too little memory for Linux, it is `forward.bin`, which forwards frames between two ports.
"""

import json
import shutil
import stat
from pathlib import Path

from moderato.soc.firmware.firmware import firmware
from moderato.soc.firmware.forward import forwarder
from moderato.soc.firmware.selftest import selftest
from moderato.soc.linux import devicetree
from moderato.soc.linux.driver import driver, liteeth, mdio
from moderato.soc.linux.kernel import NORMAL, PHY, TIME, XDP, Choice, Kernel, kernel
from moderato.soc.linux.memory_map import MIN_MEMORY, SBI_SIZE, memory_map
from moderato.soc.linux.rootfs import Entry, archive, rootfs
from moderato.toolchain.cache import BuildError

BOOT_SIZE = 4096
LINK_MBPS = 1000  # the only speed of LiteEthPHYRGMII
MODULES = "lib/modules"
UART_PAGE, PHY_PAGE = 2, 5  # of BoardSoC.csr_map


def inputs(soc: dict) -> list[Path]:
    """Inputs of the images, for the build cache."""
    return [files(soc), linux(soc).image, *modules(soc), firmware(soc).sbi]


def files(soc: dict) -> Path:
    """The root file system with the kernel's programs, but without the drivers' modules."""
    return rootfs(soc["cpu"]["harts"], choice(soc))


def linux(soc: dict) -> Kernel:
    """The kernel for the SoC's harts, PHYs and MACs."""
    return kernel(soc["cpu"]["harts"], choice(soc))


def choice(soc: dict) -> Choice:
    """The kernel with Linux' flow table if MACs have peers, with qdiscs of times if frames leave at
    their times, with PHY drivers if links are negotiated."""
    if any("peer" in mac for mac in soc["macs"]):
        return Choice(XDP)
    if soc.get("time"):
        return Choice(TIME)
    return PHY if soc["link"] == "negotiated" else NORMAL


def modules(soc: dict) -> list[Path]:
    """The drivers of the SoC's MACs and PHYs, in the order of loading."""
    harts = soc["cpu"]["harts"]
    if soc["nic"] == "liteeth":
        return [liteeth(harts)]
    return [*([mdio(harts)] if choice(soc) == PHY else []), driver(harts, choice(soc))]


def has_linux(soc: dict) -> bool:
    """Whether the memory is large enough for Linux."""
    return soc["memory"]["size"] >= MIN_MEMORY


def write(soc: dict, directory: Path):
    """Write boot.json and its files to `directory`: Linux and its device tree, or forward.bin. Next to
    them, write the self-test and selftest.json, which has its address."""
    (write_linux if has_linux(soc) else write_forwarder)(soc, directory)
    images = {"selftest.bin": (soc["memory"]["base"], self_test(soc))}
    _write(images, directory, "selftest.json")


def write_linux(soc: dict, directory: Path):
    """Write boot.json, its files and the device tree's source to `directory`."""
    where = memory_map(soc)
    built = linux(soc)
    if where.kernel + built.size > where.dtb:
        raise BuildError(
            f"the kernel takes {built.size:#x} bytes, the memory map has "
            f"{where.dtb - where.kernel:#x}; leave something out of the kernel"
        )
    start = boot_address(soc)
    code = firmware(soc, start)
    loaded = modules(soc)

    # The kernel unpacks concatenated archives.
    initrd = files(soc).read_bytes() + archive(
        [
            Entry("lib", stat.S_IFDIR | 0o755),
            Entry(MODULES, stat.S_IFDIR | 0o755),
            *(
                Entry(f"{MODULES}/{module.name}", stat.S_IFREG | 0o644, module.read_bytes())
                for module in loaded
            ),
        ]
    )
    options = devicetree.Options(
        initrd_size=len(initrd),
        rng_seed=b"",
        phys=tuple(phy(soc, port) for port in range(len(soc["macs"]))),
    )
    tree = devicetree.dtb(soc, options)
    images = {
        "Image": (where.kernel, built.image),
        "moderato.dtb": (where.dtb, tree),
        "initramfs.cpio": (where.initrd, initrd),
        "sbi.bin": (where.sbi, code.sbi),
        "boot.bin": (start, code.rom),
    }
    (directory / "moderato.dts").write_text(devicetree.dts(soc, options))
    _write(images, directory)


def write_forwarder(soc: dict, directory: Path):
    """Write boot.json and forward.bin to `directory`."""
    _write({"forward.bin": (boot_address(soc), forward(soc))}, directory)


def forward(soc: dict) -> Path:
    """The program that forwards frames without Linux."""
    return forwarder(soc, boot_address(soc))


def self_test(soc: dict) -> Path:
    """The program that tests the board without Linux."""
    return selftest(soc, mdio_registers(soc))


def boot_address(soc: dict) -> int:
    """Address of the executed image: the end of the memory reserved for the SBI, which needs far less.
    Without Linux, the start of RAM."""
    if not has_linux(soc):
        return soc["memory"]["base"]
    return memory_map(soc).sbi + SBI_SIZE - BOOT_SIZE


def mdio_registers(soc: dict) -> list[int]:
    """Address of the MDIO registers of each port's PHY, or 0: LiteEth's PHYs have them after their reset
    register, in the pages of BoardSoC.csr_map, if the board's port has these pins."""
    page = (soc["uart"]["base"] - soc["soc_controller"]["base"]) // UART_PAGE
    if soc["nic"] != "moderato":
        return []
    return [
        soc["soc_controller"]["base"] + page * (PHY_PAGE + 2 * port) + 4
        for port in range(len(soc["macs"]))
    ]


def _write(images: dict, directory: Path, index: str = "boot.json"):
    for name, (_address, content) in images.items():
        if isinstance(content, Path):
            shutil.copyfile(content, directory / name)
        else:
            (directory / name).write_bytes(content)
    addresses = {name: f"{address:#010x}" for name, (address, _content) in images.items()}
    (directory / index).write_text(json.dumps(addresses, indent=4) + "\n")


def phy(soc: dict, port: int) -> str:
    """Properties of a MAC's PHY. The chip negotiates by itself; with a fixed link, Linux does not read
    the result."""
    if soc["nic"] == "liteeth":
        return ""  # LiteEth's driver accepts any rate
    if soc["link"] == "negotiated":
        return f"""phy-mode = "{soc["phy_mode"]}";
            phy-handle = <&phy{port}>;"""
    return f"""phy-mode = "{soc["phy_mode"]}";

            fixed-link {{
                speed = <{LINK_MBPS}>;
                full-duplex;
            }};"""
