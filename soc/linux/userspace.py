# SPDX-License-Identifier: BSD-2-Clause
"""The guest's static rv32ima programs, and a C library and compiler for them.

Debian has no C library for rv32, but all its parts: musl's source (rv32 since 1.2.5), a RISC-V
cross compiler that can emit rv32, and a bare-metal compiler with a libgcc for rv32im. The same parts
make a C library for rv64 without an FPU; Debian's needs an FPU.
"""

import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from moderato.soc.linux import kernel
from moderato.toolchain import debian, sources
from moderato.toolchain.cache import BuildError, artifact, run
from moderato.toolchain.packages import how_to_install
from moderato.toolchain.project import settings

HERE = Path(__file__).parent
CROSS = "riscv64-linux-gnu-"
CLANG = settings()["debian"]["simulation"][0]
LIBGCC = "/usr/lib/gcc/riscv64-unknown-elf/*/{}/libgcc.a"
JOBS = f"-j{os.cpu_count()}"
DATE = {"SOURCE_DATE_EPOCH": "1767225600"}  # busybox prints it; see kernel.REPRODUCIBLE
DROP_UNUSED = "LDFLAGS=-Wl,--gc-sections"
SMALL = "-Os -ffunction-sections -fdata-sections -include sys/types.h"


@dataclass(frozen=True)
class Target:
    """A compilation target: musl's name, the compiler's flags, the folder of its libgcc."""

    name: str
    flags: tuple[str, ...]
    libgcc: str


RV32 = Target("riscv32", ("-march=rv32ima", "-mabi=ilp32"), "rv32im/ilp32")
RV64 = Target("riscv64", ("-march=rv64imac", "-mabi=lp64"), "rv64imac/lp64")


def wrapper(target: Target) -> str:
    """bin/cc: links programs with the musl next to it instead of the compiler's glibc."""
    return f"""\
#!/bin/sh
root=$(dirname "$(dirname "$(readlink -f "$0")")")
cc="{CROSS}gcc {" ".join(target.flags)} -fno-pie -nostdinc -isystem $root/include"
cc="$cc -isystem $({CROSS}gcc -print-file-name=include)"
for word; do
    case $word in
    -c | -S | -E | -M | -MM | -r | -Wl,-r) exec $cc "$@" ;;
    esac
done
exec $cc -nostdlib -static -no-pie $root/lib/crt1.o $root/lib/crti.o "$@" -L$root/lib \\
    -Wl,--start-group -lc $root/lib/libgcc.a -Wl,--end-group $root/lib/crtn.o
"""


@dataclass(frozen=True)
class Toolchain:
    """A C compiler for static programs, with musl and the kernel's headers."""

    root: Path

    @property
    def cc(self) -> Path:
        return self.root / "bin/cc"


def toolchain(target: Target = RV32) -> Toolchain:
    """musl 1.2.5, the kernel's user-space headers, libgcc, and bin/cc that puts them together."""
    tree, script = kernel.source(), wrapper(target)

    def build(directory: Path):
        pattern = LIBGCC.format(target.libgcc)
        libgcc = sorted(Path("/").glob(pattern[1:]))
        if not libgcc:
            raise BuildError(f"{pattern} is missing: {how_to_install()}")
        work = directory / "work"
        work.mkdir()
        sources.unpack("musl", work)
        run(
            ["./configure", f"--target={target.name}-linux-musl", "--prefix=/", "--disable-shared"],
            cwd=work,
            env={
                "CC": shlex.join([f"{CROSS}gcc", *target.flags]),
                "AR": f"{CROSS}ar",
                "RANLIB": f"{CROSS}ranlib",
                "LIBCC": str(libgcc[-1]),
            },
        )
        run(["make", JOBS, f"DESTDIR={directory}", "install"], cwd=work)
        run(kernel.make(tree, work / "headers", f"INSTALL_HDR_PATH={directory}", "headers_install"))
        shutil.copy(libgcc[-1], directory / "lib/libgcc.a")
        shutil.rmtree(work)
        cc = directory / "bin/cc"
        cc.parent.mkdir(exist_ok=True)
        cc.write_text(script)
        cc.chmod(0o755)

    made = artifact(
        "musl",
        [
            sources.tarball("musl"),
            tree.name,
            script,
            debian.version("gcc-riscv64-linux-gnu"),
            debian.version("gcc-riscv64-unknown-elf"),
        ],
        build,
        "half a minute",
    )
    return Toolchain(made)


# Programs -----------------------------------------------------------------------------------------


def busybox(console: bool = False) -> Path:
    """The shell and small tools of busybox.config. `console` adds those of busybox-console.config."""
    wanted = (HERE / "busybox.config").read_text()
    if console:
        wanted += (HERE / "busybox-console.config").read_text()

    def build(cc: Path, work: Path) -> Path:
        make = [
            "make",
            JOBS,
            "ARCH=riscv",
            f"CC={cc}",
            f"AR={CROSS}ar",
            f"STRIP={CROSS}strip",
            "SKIP_STRIP=y",
        ]
        config = work / ".config"
        run([*make, "allnoconfig"], cwd=work, env=DATE)
        # busybox's old kconfig keeps the first of two assignments, so ours go before its own.
        config.write_text(wanted + config.read_text())
        defaults = ["sh", "-c", 'yes "" | "$@"', "sh"]  # an empty answer takes the default
        run([*defaults, *make, "oldconfig"], cwd=work, env=DATE)
        kernel.check(wanted, config.read_text())
        run([*make, "busybox"], cwd=work, env=DATE)
        return work / "busybox"

    return program("busybox", build, [wanted])


def ip() -> Path:
    """iproute2's ip."""
    return _iproute2("ip")


def _iproute2(name: str, *variables: str) -> Path:
    def build(cc: Path, work: Path) -> Path:
        # In place of ./configure, which checks the build machine for libraries of the target.
        (work / "config.mk").write_text(
            "IP_CONFIG_SETNS := y\nCFLAGS += -DHAVE_SETNS -DHAVE_HANDLE_AT\n"
        )
        run(
            [
                "make",
                JOBS,
                f"CC={cc}",
                "HOSTCC=gcc",
                f"AR={CROSS}ar",
                "SHARED_LIBS=n",
                f"SUBDIRS=lib {name}",
                f"CCOPTS={SMALL} -include libgen.h",
                DROP_UNUSED,
                *variables,
            ],
            cwd=work,
        )
        return work / name / name

    return program("iproute2", build, [name, *variables])


def tc() -> Path:
    """iproute2's tc, with the qdiscs of kernel-time.config."""
    qdiscs = " ".join(f"q_{name}.o" for name in ("mqprio", "etf", "taprio", "cbs"))
    return _iproute2("tc", "TC_CONFIG_NO_XT=y", f"TCMODULES={qdiscs}")


def ethtool() -> Path:
    """ethtool over ioctl; its netlink part needs libmnl, which is not built here."""

    def build(cc: Path, work: Path) -> Path:
        run(
            [
                "./configure",
                "--host=riscv32-linux-musl",
                "--disable-netlink",
                "--disable-pretty-dump",
                f"CC={cc}",
                f"CFLAGS={SMALL} -D_GNU_SOURCE",
                DROP_UNUSED,
            ],
            cwd=work,
        )
        run(["make", JOBS, "ethtool"], cwd=work)
        return work / "ethtool"

    return program("ethtool", build)


def nuttcp() -> Path:
    """nuttcp: throughput between two hosts, for TCP and UDP."""

    def build(cc: Path, work: Path) -> Path:
        (source,) = work.glob("nuttcp-*.c")
        run([cc, "-Os", "-w", "-D_GNU_SOURCE", "-o", work / "nuttcp", source])
        return work / "nuttcp"

    return program("nuttcp", build)


def ptp4l() -> Path:
    """linuxptp's daemon of IEEE 1588. musl lacks one header, which is the same in all C libraries."""

    def build(cc: Path, work: Path) -> Path:
        queue = next(Path("/usr/include").glob("*/sys/queue.h"))
        (work / "sys").mkdir()
        shutil.copy(queue, work / "sys")
        # In place of incdefs.sh, which looks into the build machine's headers.
        has = "CLOCK_ADJTIME POSIX_SPAWN ONESTEP_SYNC ONESTEP_P2P"
        defined = " ".join(f"-DHAVE_{name}" for name in has.split())
        version = settings()["source"]["linuxptp"]["version"]
        run(
            [
                "make",
                JOBS,
                f"CC={cc}",
                f"incdefs=-D_GNU_SOURCE -I{work} {defined}",
                f"version={version}",
                f"EXTRA_CFLAGS={SMALL}",
                "ptp4l",
            ],
            cwd=work,
        )
        return work / "ptp4l"

    return program("linuxptp", build)


def program(name: str, build_one, inputs: Sequence = ()) -> Path:
    """The stripped program that `build_one(cc, work)` makes from the source package `name`."""
    tools = toolchain()

    def build(directory: Path):
        work = directory / "work"
        work.mkdir()
        sources.unpack(name, work)
        built = build_one(tools.cc, work)
        run([f"{CROSS}strip", "-o", directory / name, built])
        shutil.rmtree(work)

    return (
        artifact(name, [sources.tarball(name), tools.root.name, *inputs], build, "up to half a minute")
        / name
    )


def own(name: str, *macros: str) -> Path:
    """One of our own programs: soc/linux/<name>/<name>.c, and the headers in its folder.

    macros: defined for the compiler; some programs have a second variant.
    """
    return compiled(name, HERE / name / f"{name}.c", toolchain(), macros)


def xdp_programs() -> list[Path]:
    """XDP programs, which process frames before Linux's stack: soc/linux/xdp/*.bpf.c."""
    return [xdp_program(source) for source in sorted((HERE / "xdp").glob("*.bpf.c"))]


def xdp_program(source: Path) -> Path:
    """A program for the kernel's BPF, from a file NAME.bpf.c: NAME.o."""
    folder, name = HERE / "xdp", source.name.removesuffix(".bpf.c") + ".o"

    def build(directory: Path):
        compile_bpf(
            source, directory / name, folder, "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"
        )

    return artifact("xdp-program", [source, *sorted(folder.glob("*.h")), *bpf_compiler()], build) / name


def bpf_compiler() -> tuple[Path | str, ...]:
    """The part of a key for compile_bpf() and its tools."""
    return Path(__file__), toolchain().root.name, debian.version(CLANG)


def compile_bpf(source: Path, to: Path, headers: Path, *options: str):
    """Compile a program for the kernel's BPF. headers: a folder of its own.

    BPF's third instruction set has operations of 32 bits, which are one instruction on rv32, too.
    """
    run(
        [
            CLANG,
            "--target=bpfel",
            "-mcpu=v3",
            "-O2",
            *options,
            "-fno-strict-aliasing",
            "-nostdinc",
            "-isystem",
            toolchain().root / "include",
            "-I",
            headers,
            "-c",
            source,
            "-o",
            to,
        ]
    )


def compiled(name: str, source: Path, tools: Toolchain, macros: Sequence[str] = ()) -> Path:
    """The program `name` from one source file, and the headers in its folder."""
    headers = sorted(source.parent.glob("*.h"))

    def build(directory: Path):
        run(
            [
                tools.cc,
                "-Os",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-s",
                *map("-D{}".format, macros),
                "-o",
                directory / name,
                source,
            ]
        )

    return artifact(name, [source, *headers, tools.root.name, *macros], build) / name
