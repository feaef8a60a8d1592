# SPDX-License-Identifier: BSD-2-Clause
"""The SoC's images: boot ROM, Debian's OpenSBI, kernel, device tree, and an initramfs of one program."""

import json
import stat
from pathlib import Path

from litex.tools.litex_json2dts_linux import generate_dts

from moderato.soc.firmware import firmware
from moderato.soc.linux import kernel, userspace
from moderato.soc.linux.devicetree import RNG_SEED, Options, mac_node
from moderato.soc.linux.driver import driver
from moderato.soc.linux.rootfs import Entry, archive
from moderato.toolchain import debian
from moderato.toolchain.cache import artifact, run

HERE = Path(__file__).parent
OPENSBI = Path("/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin")

# Offsets from the start of RAM. LiteX reserves the first 2 MiB for OpenSBI.
KERNEL, DTB, INITRD = 2 << 20, 20 << 20, 21 << 20


def images(verilog: Path) -> list[tuple[Path, int]]:
    """Files and their addresses, for the SoC that rocket_soc.py wrote to the folder `verilog`."""
    soc = json.loads((verilog / "soc.json").read_text())
    ram, reset = soc["memory"]["base"], soc["rom"]["base"]
    linux, files = kernel.kernel(choice=kernel.RV64), initramfs()
    if KERNEL + linux.size > DTB:
        raise ValueError(f"the kernel takes {linux.size:#x} bytes: put DTB further away")
    tree = device_tree(soc, json.loads((verilog / "csr.json").read_text()), files.stat().st_size)
    return [
        (rom(reset, ram), reset),
        (opensbi(), ram),
        (linux.image, ram + KERNEL),
        (tree, ram + DTB),
        (files, ram + INITRD),
    ]


def opensbi() -> Path:
    debian.version("opensbi")  # raises an error that names the package if it is missing
    return OPENSBI


def rom(base: int, ram: int) -> Path:
    """The boot ROM, which starts OpenSBI after reset."""
    source, script = HERE / "start.S", Path(firmware.__file__).with_name("boot.ld")
    defines = [
        f"-DOPENSBI_BASE={ram:#x}",
        f"-DKERNEL_BASE={ram + KERNEL:#x}",
        f"-DDTB_BASE={ram + DTB:#x}",
    ]

    def build(directory: Path):
        elf = directory / "rom.elf"
        run(
            [
                f"{firmware.CROSS}gcc",
                "-march=rv64imac_zicsr",
                "-mabi=lp64",
                "-nostdlib",
                *defines,
                f"-Wl,--defsym=BASE={base:#x}",
                f"-Wl,-T,{script}",
                "-o",
                elf,
                source,
            ]
        )
        run([f"{firmware.CROSS}objcopy", "-O", "binary", elf, directory / "rom.bin"])

    inputs = [source, script, " ".join(defines), hex(base), debian.version(firmware.COMPILER)]
    return artifact("rocket-rom", inputs, build) / "rom.bin"


def initramfs() -> Path:
    """An archive of /init, the driver, and the files that both need."""
    files = {
        "init": userspace.compiled("init", HERE / "init.c", userspace.toolchain(userspace.RV64)),
        "moderato.ko": driver(choice=kernel.RV64),
    }

    def build(directory: Path):
        entries = [Entry(name, stat.S_IFDIR | 0o755) for name in ("dev", "proc")]
        entries.append(Entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1)))
        entries += [Entry(name, stat.S_IFREG | 0o755, file.read_bytes()) for name, file in files.items()]
        (directory / "initramfs.cpio").write_bytes(archive(entries))

    return artifact("rocket-rootfs", [*files.values(), Path(__file__)], build) / "initramfs.cpio"


def device_tree(soc: dict, csr: dict, initrd_size: int) -> Path:
    """LiteX's own device tree with our MACs and Rocket's timebase, which LiteX's tool does not support.

    OpenSBI itself adds the memory that it reserves.
    """
    macs = "".join(mac_node(mac, port, Options()) for port, mac in enumerate(soc["macs"]))
    source = (
        generate_dts(csr, initrd_start=INITRD, initrd_size=initrd_size)
        + f"""
&{{/chosen}} {{
    bootargs = "console=liteuart quiet";
    rng-seed = [{RNG_SEED.hex()}];
}};

&{{/cpus}} {{
    timebase-frequency = <{soc["timebase_hz"]}>;
}};

/delete-node/ &{{/reserved-memory}};

&{{/soc}} {{
{macs}}};
"""
    )

    def build(directory: Path):
        (directory / "soc.dts").write_text(source)
        run(["dtc", "-q", "-o", directory / "soc.dtb", directory / "soc.dts"])

    return (
        artifact("rocket-devicetree", [source, debian.version("device-tree-compiler")], build)
        / "soc.dtb"
    )
