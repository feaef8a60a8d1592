# SPDX-License-Identifier: BSD-2-Clause
"""picolibc, the C library of the boards' BIOS. Compiling it is nearly all of a BIOS' build, and the
result is the same for all boards.
"""

import re
import shutil
from pathlib import Path

from litex.soc.integration.builder import soc_directory

from moderato.toolchain.cache import artifact, run

MAKEFILE = Path(soc_directory) / "software/libc/Makefile"
LIBRARY, HEADER = "__libc.a", "picolibc.h"  # its targets
# The settings in LiteX's variables.mak that affect the library; the others are paths.
VARIABLES = r"(?:TRIPLE|CPU|CPUFAMILY|CPUFLAGS|CPUENDIANNESS|CLANG|PICOLIBC_FORMAT|LTO) ?\+?=.*"


def place(software: Path, tools: list[str]):
    """Put the library into `software`, where LiteX compiles the BIOS, so that make finds it up to date.

    `tools`: versions of the tools, for the build cache. Raises BuildError.
    """
    variables = (software / "include/generated/variables.mak").read_text()
    folder = software / "libc"

    def build(made: Path):
        run(["make", "-C", folder, "-f", MAKEFILE, LIBRARY])
        for name in LIBRARY, HEADER:
            shutil.copy(folder / name, made)

    made = artifact("board-libc", [*re.findall(rf"^{VARIABLES}$", variables, re.M), *tools], build)
    (folder / "cross.txt").touch()  # a prerequisite of the library, which must be older
    for name in LIBRARY, HEADER:
        shutil.copy(made / name, folder)
