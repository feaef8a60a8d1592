# SPDX-License-Identifier: BSD-2-Clause
"""The driver's files, for tests."""

from pathlib import Path

from moderato.soc.linux.driver import FOLDER, sources

BINDING = FOLDER / "moderato,mac.yaml"
MDIO_BINDING = FOLDER / "litex,liteeth-mdio.yaml"
SOURCES = [path for path in sources() if path.name != "Kbuild"]
GENERATED = FOLDER / "moderato_regs.h"
COMPAT = FOLDER / "compat.h"  # the only file that may depend on the kernel's version


def find(name: str, folder: Path) -> Path:
    """The only file of this name in the driver, or in a copy of it."""
    (path,) = folder.rglob(name)
    return path
