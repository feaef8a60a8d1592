# SPDX-License-Identifier: BSD-2-Clause
"""What the memories of a simulated board hold at the start, as files for $readmemh.

The images of boot.json are in DRAM, as after a serial boot.
"""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from moderato.boards import images
from moderato.boards.gateware import TOP, board_class
from moderato.soc.firmware.firmware import firmware
from moderato.soc.linux import devicetree
from moderato.soc.toolchain.cache import BuildError, artifact

# A function that writes the images, and one that tells what they are made from.
IMAGES = {
    "linux":   (images.write, lambda soc: [
        *images.inputs(soc), firmware(soc, images.boot_address(soc)).rom]),
    "forward": (images.write_forwarder, lambda soc: [images.forward(soc)]),
}

DRAM_WIDTH = 16  # wires
WORD       = 16  # bytes that they move with a command, and in a word of the model


def memories(board: str, start: str, source: Path) -> Path:
    """A folder for the simulator to run in. `source`: the Verilog's, which knows BIOS and banks."""
    soc  = json.loads((source / "soc.json").read_text())
    kind = board_class(board)
    write_images, made_from = IMAGES[start]

    def build(directory: Path):
        for file in source.glob("*.init"):
            shutil.copy(file, directory)
        write_images(soc, directory)
        fill(directory, kind, banks(source, kind), soc["memory"]["base"])

    inputs = [start, source.name, Path(__file__), Path(images.__file__), Path(devicetree.__file__)]
    return artifact("board-memory", [*inputs, *made_from(soc)], build, "10 s")


def banks(source: Path, kind: type) -> list[str]:
    """The files of the DRAM's banks, in their order."""
    found  = re.findall(r'"(\w+\.init)", mem_\d+\);', (source / f"{TOP}.v").read_text())
    wanted = 2 ** geometry(kind).bankbits
    if len(found) != wanted:
        raise BuildError(f"{source / TOP}.v has {len(found)} memories that look like banks of the "
                         f"DRAM, not {wanted}: does LiteDRAM's model name them otherwise now?")
    return found


def geometry(kind: type):
    return kind.dram_module(kind.sys_clk_freq, "1:2").geom_settings


def fill(directory: Path, kind: type, files: list[str], base: int):
    """Write the images in `directory` into the files of the banks."""
    texts = {file: [] for file in files}
    for bank, place, word in words(directory, kind, base):
        texts[files[bank]].append(f"@{place:x} {word:032x}\n")
    for file, text in texts.items():
        (directory / file).write_text("".join(text))


def words(directory: Path, kind: type, base: int) -> Iterator[tuple[int, int, int]]:
    """Bank, index in the model's memory for it, and content of each word of the images.

    The controller goes on to the next bank after a row. Every other word of the model is a hole.
    """
    count = 2 ** geometry(kind).bankbits
    row   = 2 ** geometry(kind).colbits * DRAM_WIDTH // 8
    for name, address in json.loads((directory / "boot.json").read_text()).items():
        content = (directory / name).read_bytes()
        offset  = int(address, 16) - base
        for at in range(0, len(content), WORD):
            number, column = divmod(offset + at, row)
            place = (number // count * row + column) // WORD * 2
            yield number % count, place, int.from_bytes(content[at:at + WORD], "little")
