# SPDX-License-Identifier: BSD-2-Clause
"""The C library of the boards' BIOS, picolibc: nearly all that a BIOS takes to compile, and the same
for all boards.
"""

import re
import shutil
from pathlib import Path

from litex.soc.integration.builder import soc_directory

from moderato.toolchain.cache import artifact, run

MAKEFILE = Path(soc_directory) / "software/libc/Makefile"
LIBRARY, HEADER = "__libc.a", "picolibc.h"  # as that has them
# What they depend on, of LiteX's variables.mak: the rest of it says where files are.
VARIABLES = r"(?:TRIPLE|CPU|CPUFAMILY|CPUFLAGS|CPUENDIANNESS|CLANG|PICOLIBC_FORMAT|LTO) ?\+?=.*"


def place(software: Path, tools: list[str]):
    """Puts it into `software`, where LiteX compiles the BIOS, so that make finds it up to date.

    `tools`: versions of what it is made with, for the build cache. Raises BuildError.
    """
    variables = (software / "include/generated/variables.mak").read_text()
    folder = software / "libc"

    def build(made: Path):
        run(["make", "-C", folder, "-f", MAKEFILE, LIBRARY])
        for name in LIBRARY, HEADER:
            shutil.copy(folder / name, made)

    made = artifact("board-libc", [*re.findall(rf"^{VARIABLES}$", variables, re.M), *tools], build)
    (folder / "cross.txt").touch()  # what make makes the library from: it must not be younger
    for name in LIBRARY, HEADER:
        shutil.copy(made / name, folder)
