# SPDX-License-Identifier: BSD-2-Clause
"""What a board boots: files, and boot.json, which tells LiteX's BIOS and litex_term where they go.

They execute the last one. For Linux that is `boot.bin`, which does what the ROM does in simulation;
where memory is too small for Linux, `forward.bin`, which forwards frames between two ports.
"""

import json
import shutil
import stat
from pathlib import Path

from moderato.soc.firmware.firmware import firmware
from moderato.soc.firmware.forward import forwarder
from moderato.soc.linux import devicetree
from moderato.soc.linux.driver import driver, liteeth, mdio
from moderato.soc.linux.kernel import NORMAL, PHY, XDP, Choice, Kernel, kernel
from moderato.soc.linux.memory_map import MIN_MEMORY, SBI_SIZE, memory_map
from moderato.soc.linux.rootfs import Entry, archive, rootfs
from moderato.toolchain.cache import BuildError

BOOT_SIZE = 4096
LINK_MBPS = 1000  # all that the PHYs' RGMII side knows
MODULES = "lib/modules"


def inputs(soc: dict) -> list[Path]:
    """What the images are made from, for the build cache."""
    return [files(soc), linux(soc).image, *modules(soc), firmware(soc).sbi]


def files(soc: dict) -> Path:
    """The root file system, with the programs for that kernel; without the drivers' modules."""
    return rootfs(soc["cpu"]["harts"], choice(soc))


def linux(soc: dict) -> Kernel:
    """The kernel that knows what there is."""
    return kernel(soc["cpu"]["harts"], choice(soc))


def choice(soc: dict) -> Choice:
    """With what asks PHY chips, or with Linux' flow table, if the SoC has a use for it."""
    if any("peer" in mac for mac in soc["macs"]):
        return Choice(XDP)
    return PHY if soc["link"] == "negotiated" else NORMAL


def modules(soc: dict) -> list[Path]:
    """The drivers of the SoC's MACs and PHYs, in the order in which they are loaded."""
    harts = soc["cpu"]["harts"]
    if soc["nic"] == "liteeth":
        return [liteeth(harts)]
    return [*([mdio(harts)] if choice(soc) == PHY else []), driver(harts, choice(soc))]


def has_linux(soc: dict) -> bool:
    """Whether the memory is large enough for it."""
    return soc["memory"]["size"] >= MIN_MEMORY


def write(soc: dict, directory: Path):
    """Put boot.json and the files that it names into `directory`: Linux and its device tree, or the
    program that forwards without them."""
    (write_linux if has_linux(soc) else write_forwarder)(soc, directory)


def write_linux(soc: dict, directory: Path):
    """Put boot.json, the files that it names and the device tree's source into `directory`."""
    where = memory_map(soc)
    built = linux(soc)
    if where.kernel + built.size > where.dtb:
        raise BuildError(
            f"the kernel takes {built.size:#x} bytes, the memory map has "
            f"{where.dtb - where.kernel:#x}; leave something out of it"
        )
    start = boot_address(soc)
    code = firmware(soc, start)
    loaded = modules(soc)

    # The kernel unpacks one archive after the other.
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
    """The same for the program that forwards frames without Linux."""
    _write({"forward.bin": (boot_address(soc), forward(soc))}, directory)


def forward(soc: dict) -> Path:
    """That program."""
    return forwarder(soc, boot_address(soc))


def boot_address(soc: dict) -> int:
    """Of what is executed: memory that is reserved for the SBI, which is far smaller. Without
    Linux the start of RAM."""
    if not has_linux(soc):
        return soc["memory"]["base"]
    return memory_map(soc).sbi + SBI_SIZE - BOOT_SIZE


def _write(images: dict, directory: Path):
    for name, (_address, content) in images.items():
        if isinstance(content, Path):
            shutil.copyfile(content, directory / name)
        else:
            (directory / name).write_bytes(content)
    addresses = {name: f"{address:#010x}" for name, (address, _content) in images.items()}
    (directory / "boot.json").write_text(json.dumps(addresses, indent=4) + "\n")


def phy(soc: dict, port: int) -> str:
    """Properties of a MAC's PHY. It negotiates by itself; who wants a fixed link never asks it what
    came of that."""
    if soc["nic"] == "liteeth":
        return ""  # its driver takes any rate
    if soc["link"] == "negotiated":
        return f"""phy-mode = "{soc["phy_mode"]}";
            phy-handle = <&phy{port}>;"""
    return f"""phy-mode = "{soc["phy_mode"]}";

            fixed-link {{
                speed = <{LINK_MBPS}>;
                full-duplex;
            }};"""
