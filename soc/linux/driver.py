# SPDX-License-Identifier: BSD-2-Clause
"""The drivers' modules: ours, built against our kernel, and the kernel's own of LiteEth."""

import os
import shutil
from pathlib import Path

from moderato.soc.linux import kernel
from moderato.toolchain.cache import artifact, run
from moderato.toolchain.project import ROOT

FOLDER = ROOT / "linux-driver"


def driver(harts: int = 1, choice: kernel.Choice = kernel.NORMAL) -> Path:
    """Build moderato.ko from linux-driver/ for the chosen kernel that runs on `harts` harts."""
    built = kernel.kernel(harts, choice)
    sources = sorted(
        path
        for path in FOLDER.iterdir()
        if path.suffix in (".c", ".h")
        and not path.name.endswith(".mod.c")
        or path.name in ("Kbuild", "Makefile")
    )

    def build(directory: Path):
        work = directory / "work"
        work.mkdir()
        for path in sources:
            shutil.copy(path, work)
        # The map keeps this folder's name out of WARN's text: the module is the same everywhere.
        run(
            kernel.make(
                built.source,
                built.build,
                f"M={work}",
                f"-j{os.cpu_count()}",
                f"KCFLAGS=-fmacro-prefix-map={work}/=",
                "modules",
            ),
            env=kernel.REPRODUCIBLE,
        )
        for module in work.glob("*.ko"):
            shutil.move(module, directory)
        shutil.rmtree(work)

    return artifact("driver", [built.build.name, *sources], build, "a few seconds") / "moderato.ko"


def mdio(harts: int = 1) -> Path:
    """mdio_litex.ko, by which the kernel reaches PHY chips; made for the kernel PHY only."""
    return driver(harts, kernel.PHY).with_name("mdio_litex.ko")


def liteeth(harts: int = 1, choice: kernel.Choice = kernel.NORMAL) -> Path:
    """litex_liteeth.ko, which is built with the kernel, unpatched."""
    return kernel.kernel(harts, choice).build / "drivers/net/ethernet/litex/litex_liteeth.ko"
