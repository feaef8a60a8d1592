# SPDX-License-Identifier: BSD-2-Clause
"""Kernels that the driver also builds against, out of their trees: those of the machine's release.

None of these kernels runs here. Each has its architecture's usual configuration, and is prepared for
modules. No such kernel is linked, so the exported functions come from its source.
"""

import functools
import os
import re
from dataclasses import dataclass
from pathlib import Path

from moderato.soc.linux import kernel
from moderato.toolchain import debian
from moderato.toolchain.cache import BuildError, artifact, run
from moderato.toolchain.packages import names
from moderato.toolchain.project import settings
from moderato.toolchain.sources import local

# Drivers that select the options that our driver needs, and dependencies of those options.
OPTIONS = """\
CONFIG_COMPILE_TEST=y
CONFIG_MODULES=y
CONFIG_NET=y
CONFIG_NETDEVICES=y
CONFIG_ETHERNET=y
CONFIG_MDIO_BITBANG=m
CONFIG_NETCONSOLE=m
CONFIG_NET_VENDOR_ENGLEDER=y
CONFIG_TSNEP=m
CONFIG_NET_VENDOR_STMICRO=y
CONFIG_STMMAC_ETH=m
CONFIG_NET_VENDOR_BROADCOM=y
CONFIG_BCMGENET=m
"""
SELECTED = ("PHYLINK", "PAGE_POOL", "DIMLIB", "NET_POLL_CONTROLLER", "SMP")


# Patterns of exported names in sources, and the prefix that such a name has in an object file.
EXPORTS = {
    r"\bEXPORT_\w*SYMBOL\w*\(\s*(\w+)": "",
    r"\bEXPORT_STATIC_CALL\w*\((\w+)": "__SCT__",
    r"\bdefine_(?:dev|netdev)_printk_level\((\w+)": "",
}
X86_REGISTERS = "rax rbx rcx rdx rsi rdi rbp r8 r9 r10 r11 r12 r13 r14 r15"


@dataclass(frozen=True)
class Target:
    """An architecture: `arch` is the kernel's name for it, `config` its users' configuration."""

    arch: str
    config: str
    cross: str
    compiler: str  # its Debian package


TARGETS = {
    "rv32": Target("riscv", "rv32_defconfig", kernel.CROSS, kernel.COMPILER),
    "rv64": Target("riscv", "defconfig", kernel.CROSS, kernel.COMPILER),
    "x86-64": Target("x86", "x86_64_defconfig", "", "gcc"),
}


@dataclass(frozen=True)
class Tree:
    """The folder that modules are compiled against."""

    target: Target
    source: Path
    build: Path

    def make(self, *arguments) -> list:
        return make(self.source, self.build, self.target, *arguments)

    @property
    def release(self) -> str:
        """As `uname -r` prints it."""
        return (self.build / "include/config/kernel.release").read_text().strip()


def packages() -> list[str]:
    """Debian's packages of kernels' sources that this release or the user has."""
    offered = names(["kernels"])
    return [
        name
        for name in settings()["debian"]["kernels"]
        if name.startswith("linux-source-") and (name in offered or local(f"{name}.tar.xz"))
    ]


def make(source: Path, build: Path, target: Target, *arguments) -> list:
    return [
        "make",
        "-C",
        source,
        f"O={build}",
        f"ARCH={target.arch}",
        f"CROSS_COMPILE={target.cross}",
        *arguments,
    ]


def tree(package: str, target: Target) -> Tree:
    """A kernel of `packages()`, configured and made ready for modules."""
    source = kernel.source(package)

    def build(directory: Path):
        run(make(source, directory, target, target.config))
        with open(directory / ".config", "a") as config:
            config.write(OPTIONS)
        run(make(source, directory, target, "olddefconfig"))
        check(directory / ".config")
        run(
            make(source, directory, target, f"-j{os.cpu_count()}", "modules_prepare"),
            env=kernel.REPRODUCIBLE,
        )

    directory = artifact(
        "linux-tree",
        [source.name, OPTIONS, *vars(target).values(), debian.version(target.compiler)],
        build,
        "2 minutes",
    )
    return Tree(target, source, directory)


def check(config: Path):
    """Raise BuildError if the configuration lacks an option that the driver needs."""
    text = config.read_text()
    lost = [name for name in SELECTED if not re.search(f"^CONFIG_{name}=[ym]$", text, re.MULTILINE)]
    if lost:
        raise BuildError(
            f"the configuration has no {', '.join(lost)}; name a driver that selects "
            "it in OPTIONS of soc/linux/kernels.py"
        )


@functools.cache
def exported(source: Path) -> frozenset[str]:
    """Functions and variables that a kernel of this source exports to modules."""
    names = set()
    for folder in (
        "arch/riscv",
        "arch/x86",
        "block",
        "drivers",
        "fs",
        "include",
        "kernel",
        "lib",
        "mm",
        "net",
        "security",
    ):
        for path in (source / folder).rglob("*.[chS]"):
            text = path.read_text(errors="replace")
            if "EXPORT_" in text or "printk_level" in text:
                for pattern, prefix in EXPORTS.items():
                    names |= {prefix + name for name in re.findall(pattern, text)}
    return frozenset(names | {f"__x86_indirect_thunk_{name}" for name in X86_REGISTERS.split()})
