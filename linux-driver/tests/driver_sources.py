# SPDX-License-Identifier: BSD-2-Clause
"""The driver's files, and how the tests copy them to where a build may write."""

import shutil
from pathlib import Path

DRIVER = Path(__file__).resolve().parents[1]
BINDING = DRIVER / "moderato,mac.yaml"
MDIO_BINDING = DRIVER / "litex,liteeth-mdio.yaml"
KBUILD = DRIVER / "Kbuild"
SOURCES = sorted([*DRIVER.glob("*.c"), *DRIVER.glob("*.h")])
GENERATED = DRIVER / "moderato_regs.h"
COMPAT = DRIVER / "compat.h"  # about other kernels, which is what no kernel's own source may be


def copy(directory: Path) -> Path:
    """The sources and Kbuild in `directory`, without what a build in the clone left behind."""
    for path in [*SOURCES, KBUILD]:
        if not path.name.endswith(".mod.c"):
            shutil.copy(path, directory)
    return directory
