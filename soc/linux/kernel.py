# SPDX-License-Identifier: BSD-2-Clause
"""Debian's Linux 6.12 with our patches, configured by kernel.config, for rv32ima.

`KERNELS` has the lab's configurations by name, with their additions to kernel.config. `FRAGMENTS` also
has those of boards with negotiated links and of tests. `TICKS` has the rates of the tick, in Hz, for
each. `STOCK` is Debian's unpatched source; all other kernels have `PATCHES` (docs/soc.md).
"""

import os
import re
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from moderato.toolchain import debian, sources
from moderato.toolchain.cache import BuildError, artifact, key, run
from moderato.toolchain.packages import how_to_install

HERE = Path(__file__).parent
PACKAGE = "linux-source-6.12"
TARBALLS = Path("/usr/src")
COMPILER = "gcc-riscv64-linux-gnu"
CROSS = "riscv64-linux-gnu-"
PATCHES = tuple(sorted((HERE / "patches").glob("*.patch")))
STOCK, TIME, XDP = "stock", "time", "xdp"
KERNELS = {
    "normal": [],
    "debug": ["kernel-xdp.config", "kernel-debug.config"],
    "netfilter": ["kernel-netfilter.config"],
    "conntrack": ["kernel-netfilter.config"],
    "traced": ["kernel-traced.config"],
    "vlan": ["kernel-vlan.config"],
    "ptp": ["kernel-ptp.config"],
    TIME: ["kernel-time.config"],
    XDP: ["kernel-xdp.config"],
    "router": ["kernel-xdp.config", "kernel-router.config"],
    STOCK: ["kernel-stock.config"],
}
FRAGMENTS = {
    **KERNELS,
    "phy": ["kernel-phy.config"],
    "rv64": ["kernel-rv64.config"],
    "pagealloc": ["kernel-pagealloc.config"],
    "strict": ["kernel-strict.config"],
}
TICKS = (100, 250, 1000)  # the first one is kernel.config's

# Source files that no build here uses: 1.2 of the tree's 1.7 GB. Kconfig files and Makefiles stay.
UNUSED = [
    *(
        f"arch/{arch}"
        for arch in (
            "alpha arc arm arm64 csky hexagon loongarch m68k microblaze mips nios2 openrisc parisc "
            "powerpc s390 sh sparc xtensa"
        ).split()
    ),
    "Documentation",
    "samples",
    "sound",
    "tools/perf",
    "tools/testing/selftests",
    *(
        f"drivers/{name}"
        for name in ("accel comedi gpu hwmon iio infiniband isdn media mtd scsi staging usb").split()
    ),
    *(f"drivers/net/{name}" for name in "dsa wireless".split()),
    *(
        f"drivers/net/ethernet/{name}"
        for name in (
            "amd broadcom chelsio cisco freescale hisilicon huawei intel marvell mellanox microchip "
            "netronome pensando qlogic sfc ti"
        ).split()
    ),
    *(
        f"fs/{name}"
        for name in (
            "afs bcachefs btrfs ceph ext4 f2fs gfs2 jfs nfs nfsd ntfs3 ocfs2 smb ubifs xfs"
        ).split()
    ),
]


@dataclass(frozen=True)
class Choice:
    """A kernel: `name` of FRAGMENTS, `hz` of TICKS."""

    name: str = "normal"
    hz: int = TICKS[0]

    @property
    def xdp(self) -> bool:
        """Whether the kernel has XDP and the flow table."""
        return "kernel-xdp.config" in FRAGMENTS[self.name]

    def options(self) -> str:
        """The options that this kernel adds or changes."""
        if self.hz == TICKS[0]:
            return ""
        return (
            f"# CONFIG_HZ_{TICKS[0]} is not set\nCONFIG_HZ_{self.hz}=y\n"
            f'CONFIG_LOCALVERSION="-moderato-{self.name}-{self.hz}hz"\n'
        )


NORMAL, DEBUG, PHY, RV64 = Choice(), Choice("debug"), Choice("phy"), Choice("rv64")


@dataclass(frozen=True)
class Kernel:
    """A built kernel, and the folder that out-of-tree modules are built against."""

    image: Path  # flat binary, loaded at the start of RAM
    vmlinux: Path  # ELF with symbols
    system_map: Path
    source: Path  # make -C source O=build M=... modules
    build: Path

    @property
    def size(self) -> int:
        """Bytes of RAM from the kernel's start on: `image_size` in the image's header."""
        return struct.unpack_from("<Q", self.image.read_bytes(), 16)[0]


def make(source: Path, build: Path, *arguments) -> list:
    """The kernel's make for this target. CROSS_COMPILE matters at the configuration step too."""
    return ["make", "-C", source, f"O={build}", "ARCH=riscv", f"CROSS_COMPILE={CROSS}", *arguments]


# A build makes the same bytes on every machine, so that cycle counts are comparable.
REPRODUCIBLE = {
    "KBUILD_BUILD_TIMESTAMP": "2026-01-01 00:00:00 UTC",
    "KBUILD_BUILD_VERSION": "1",
    "KBUILD_BUILD_USER": "moderato",
    "KBUILD_BUILD_HOST": "moderato",
    "LC_ALL": "C",
}


def source(package: str = PACKAGE, patches: tuple[Path, ...] = ()) -> Path:
    """The patched source tree of one of Debian's kernels, without files that are never built here."""
    # User space uses the headers of the unpatched tree. A copy of that tree takes less time than a
    # second unpacking.
    plain = source(package) if patches else None
    own = sources.local(f"{package}.tar.xz")

    def unpacked(directory: Path):
        tarball = own or TARBALLS / f"{package}.tar.xz"
        if not tarball.is_file():
            raise BuildError(f"{tarball} is missing: {how_to_install(package)}")
        suffixes = ("c", "h", "S", "rst", "dts", "dtsi", "json")
        excluded = [
            f"--exclude={package}/{folder}/*.{suffix}" for folder in UNUSED for suffix in suffixes
        ]
        run(["tar", "-x", "-f", tarball, "-C", directory, "--strip-components=1", *excluded])

    def patched(directory: Path):
        run(["cp", "-a", f"{plain}/.", directory])
        for patch in patches:
            apply(patch, directory)

    return artifact(
        "linux-source",
        [own or debian.version(package), " ".join(UNUSED), *map(diff, patches)],
        patched if patches else unpacked,
        "half a minute",
    )


def source_version(package: str = PACKAGE) -> str:
    """The package's name and version, or name and sum of the user's own file."""
    own = sources.local(f"{package}.tar.xz")
    return f"{own.name} {key('source', [own])[:12]}" if own else debian.version(package)


def diff(patch: Path) -> str:
    """The changes of a patch, without its message, so that editing the message makes no new kernel."""
    _message, begin, rest = patch.read_text().partition("\ndiff --git ")
    return begin + rest


def apply(patch: Path, tree: Path):
    """Patch the tree. Raises BuildError, which names the files and hunks that do not apply."""
    result = subprocess.run(
        [
            "patch",
            "--strip=1",
            "--forward",
            "--batch",
            "--fuzz=0",
            "--no-backup-if-mismatch",
            "--reject-file=-",
            f"--directory={tree}",
            f"--input={patch.absolute()}",
        ],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "LC_ALL": "C"},
    )
    if result.returncode:
        said = [f"    {line}" for line in result.stdout.splitlines() if " succeeded at " not in line]
        raise BuildError(
            "\n".join(
                [
                    f"{patch.name} of soc/linux/patches does not apply to this Linux; adapt it, or take "
                    f"`--kernel {STOCK}`, which is without it",
                    *said,
                ]
            )
        )


def kernel(harts: int = 1, choice: Choice = NORMAL) -> Kernel:
    """Build a kernel for `harts` harts (1: no SMP)."""
    fragments = ["kernel.config", *(["kernel-smp.config"] if harts > 1 else []), *FRAGMENTS[choice.name]]
    wanted = "".join((HERE / fragment).read_text() for fragment in fragments) + choice.options()
    tree = source(patches=() if choice.name == STOCK else PATCHES)

    def build(directory: Path):
        (directory / "wanted.config").write_text(wanted)
        run(
            make(tree, directory, "allnoconfig"),
            env={**REPRODUCIBLE, "KCONFIG_ALLCONFIG": str(directory / "wanted.config")},
        )
        check(wanted, (directory / ".config").read_text())
        run(make(tree, directory, f"-j{os.cpu_count()}", "Image", "modules"), env=REPRODUCIBLE)
        shrink(directory)

    directory = artifact(
        "linux", [tree.name, wanted, debian.version(COMPILER)], build, "5 minutes on 2 cores"
    )
    return Kernel(
        image=directory / "arch/riscv/boot/Image",
        vmlinux=directory / "vmlinux",
        system_map=directory / "System.map",
        source=tree,
        build=directory,
    )


def check(wanted: str, got: str):
    """Raise BuildError if an option that `wanted` sets has another value in the configuration `got`.

    If several lines set an option, the last one counts.
    """
    lines = set(got.splitlines())

    def holds(line: str) -> bool:
        unset = re.match(r"# (CONFIG_\w+) is not set", line)
        if unset:
            return not any(other.startswith(f"{unset[1]}=") for other in lines)
        return line in lines

    lines_asked = re.findall(r"^(?:CONFIG_\w+=.*|# CONFIG_\w+ is not set)$", wanted, re.MULTILINE)
    asked = {re.split("[ =]", line.removeprefix("# "))[0]: line for line in lines_asked}
    lost = [line for line in asked.values() if not holds(line)]
    if lost:
        raise BuildError(
            "the configuration ignores "
            + ", ".join(lost)
            + "; give what they depend on, or drop them, in soc/linux/*.config"
        )


def shrink(build: Path):
    """Keep the files that modules are built against. Objects are nine tenths of the tree."""
    kept = {"arch", "include", "scripts", "source", "tools"}  # `source` links to the source tree
    for folder in [entry for entry in build.iterdir() if entry.is_dir() and not entry.is_symlink()]:
        if folder.name not in kept:
            for file in folder.rglob("*"):
                if not file.is_dir() and file.suffix != ".ko":
                    file.unlink()
    for name in ("vmlinux.o", "vmlinux.a", "vmlinux.unstripped"):
        (build / name).unlink(missing_ok=True)
