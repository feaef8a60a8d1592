# SPDX-License-Identifier: BSD-2-Clause
"""Driver modules: ours, built against our kernel, and the kernel's own for LiteEth."""

import os
import shutil
from pathlib import Path

from moderato.soc.linux import kernel
from moderato.toolchain.cache import artifact, run
from moderato.toolchain.project import ROOT

FOLDER = ROOT / "linux-driver"
FOLDERS = ("core", "strategies", "offload", "xdp", "kunit")


def sources() -> list[Path]:
    """C files, headers and Kbuild files of the driver, without what a build in the clone left."""
    files = [
        file for folder in (FOLDER, *map(FOLDER.joinpath, FOLDERS)) for file in sorted(folder.iterdir())
    ]
    return [
        file
        for file in files
        if file.name == "Kbuild" or file.suffix in (".c", ".h") and not file.name.endswith(".mod.c")
    ]


def copy(directory: Path) -> Path:
    """Copy `sources()` to `directory`, each into its folder."""
    for file in sources():
        target = directory / file.relative_to(FOLDER)
        target.parent.mkdir(exist_ok=True)
        shutil.copy(file, target)
    return directory


def driver(harts: int = 1, choice: kernel.Choice = kernel.NORMAL) -> Path:
    """Build moderato.ko from linux-driver/ for the kernel of `choice` and `harts`."""
    built = kernel.kernel(harts, choice)

    def build(directory: Path):
        work = directory / "work"
        work.mkdir()
        copy(work)
        # The prefix maps remove folders' paths from WARN's text, so that builds are reproducible.
        maps = [f"-fmacro-prefix-map={folder}/=" for folder in (work, *map(work.joinpath, FOLDERS))]
        run(
            kernel.make(
                built.source,
                built.build,
                f"M={work}",
                f"-j{os.cpu_count()}",
                f"KCFLAGS={' '.join(maps)}",
                "modules",
            ),
            env=kernel.REPRODUCIBLE,
        )
        for module in work.glob("*.ko"):
            shutil.move(module, directory)
        shutil.rmtree(work)

    return artifact("driver", [built.build.name, *sources()], build, "a few seconds") / "moderato.ko"


def mdio(harts: int = 1) -> Path:
    """mdio_litex.ko, through which the kernel reaches PHY chips; for the kernel PHY only."""
    return driver(harts, kernel.PHY).with_name("mdio_litex.ko")


def liteeth(harts: int = 1, choice: kernel.Choice = kernel.NORMAL) -> Path:
    """The kernel's own litex_liteeth.ko, unpatched."""
    return kernel.kernel(harts, choice).build / "drivers/net/ethernet/litex/litex_liteeth.ko"
