# SPDX-License-Identifier: BSD-2-Clause
"""lwIP, from Debian's source package, as a static library for the simulator."""

import shutil
from pathlib import Path

from moderato.toolchain import sources
from moderato.toolchain.cache import artifact, run

HERE = Path(__file__).parent
SETTINGS = [HERE / "lwipopts.h", HERE / "arch/cc.h"]
FILES = [
    "def.c",
    "inet_chksum.c",
    "ip.c",
    "mem.c",
    "memp.c",
    "netif.c",
    "pbuf.c",
    "tcp.c",
    "tcp_in.c",
    "tcp_out.c",
    "timeouts.c",
    "ipv4/ip4.c",
    "ipv4/ip4_addr.c",
]


def library(compiler: str) -> Path:
    """A folder with liblwip.a and include/. compiler: of C, with its version."""

    def build(directory: Path):
        work = directory / "work"
        work.mkdir()
        sources.unpack("lwip", work)
        shutil.copytree(work / "src/include", directory / "include")
        run(
            [
                compiler,
                "-O2",
                "-w",
                f"-I{HERE}",
                f"-I{directory / 'include'}",
                "-c",
                *(work / "src/core" / file for file in FILES),
            ],
            cwd=work,
        )
        run(["ar", "rcsD", directory / "liblwip.a", *sorted(work.glob("*.o"))])
        shutil.rmtree(work)

    return artifact("lwip", [sources.tarball("lwip"), *SETTINGS, compiler, *FILES], build)
