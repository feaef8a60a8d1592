# SPDX-License-Identifier: BSD-2-Clause
"""What `moderato bitstream` made for a board: its bitstream and its boot images."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from moderato.boards import SIMULATED
from moderato.toolchain import project

from ..run.variants import INTERFACES
from ..show.errors import LabError, reason

SELF_TEST = "selftest.json"  # as boot.json, of boards/images.py


@dataclass(frozen=True)
class Built:
    """soc: the SoC's description; report: the build's; images: a path and an address each, in the order
    of loading. The last one is executed."""

    board: str
    folder: Path
    soc: dict
    report: dict
    images: list[tuple[Path, int]]

    @property
    def bitstream(self) -> Path:
        return self.folder / f"{self.board}.bit"

    @property
    def simulated(self) -> bool:
        return self.board == SIMULATED

    @property
    def interfaces(self) -> Sequence[str]:
        """Of its MACs, as Linux names them."""
        return INTERFACES[: len(self.soc.get("macs", INTERFACES))]

    @property
    def slow(self) -> int:
        """How much longer this machine waits for it than for hardware."""
        return 10 if self.simulated else 1


def simulated() -> Built:
    """The board of `moderato board simulate`, which has booted; the folder has its driver."""
    from ..run.machine import machine

    of = machine()
    soc = of.soc | {"baud_rate": 1_000_000}  # any is right for a pseudo-terminal
    return Built(SIMULATED, of.driver.parent, soc, {"commit": project.version()}, [])


def read(board: str, folder: Path | None) -> Built:
    """The folder of a board's bitstream; by default the one that `moderato bitstream` writes."""
    folder = folder or Path(f"{board}-moderato")
    build = f"`./moderato bitstream --board {board}` makes it"
    if not folder.is_dir():
        raise LabError(f"{folder}/ does not exist; {build}, or name another --folder")
    try:
        soc, report, boot = (
            json.loads((folder / name).read_text()) for name in ("soc.json", "report.json", "boot.json")
        )
        images = [(folder / name, int(address, 0)) for name, address in boot.items()]
        made_for = report["board"]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise LabError(f"{folder}/ is not a folder of a bitstream ({reason(error)}); {build}") from None
    if made_for != board:
        raise LabError(f"{folder}/ was made for {made_for}, not for {board}; name another --folder")
    built = Built(board, folder, soc, report, images)
    for path in (built.bitstream, *(path for path, _ in images)):
        if not path.is_file():
            raise LabError(f"{path} is missing; {build}")
    return built


def with_self_test(built: Built) -> Built:
    """The same with the self-test's image in place of those that are booted."""
    if built.simulated:
        from moderato.soc.firmware import selftest

        image = selftest.selftest(built.soc, size=selftest.SIMULATED)
        return replace(built, images=[(image, built.soc["memory"]["base"])])
    build = f"build it again: ./moderato bitstream --board {built.board}"
    try:
        found = json.loads((built.folder / SELF_TEST).read_text())
        images = [(built.folder / name, int(address, 0)) for name, address in found.items()]
        missing = [path for path, _ in images if not path.is_file()]
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise LabError(f"{built.folder}/ has no self-test ({reason(error)}); {build}") from None
    if missing:
        raise LabError(f"{missing[0]} is missing; {build}")
    return replace(built, images=images)


def require_commit(built: Built):
    """Raises LabError if another commit than this clone's made the folder."""
    there, here = built.report.get("commit"), project.version()
    if there != here:
        raise LabError(
            f"{built.folder}/ is of {'commit ' + there if there else 'an unknown commit'}, and this "
            f"clone is at {here}; build it again: ./moderato bitstream --board {built.board}"
        )
