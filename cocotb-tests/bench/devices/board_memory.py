# SPDX-License-Identifier: BSD-2-Clause
"""Initial contents of a simulated board's memories, as files for $readmemh.

The images of boot.json are in DRAM, as after a serial boot.
"""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from moderato.boards import images
from moderato.boards.gateware import TOP
from moderato.soc.firmware.firmware import firmware
from moderato.soc.linux import devicetree, memory_map
from moderato.toolchain.cache import BuildError, artifact

# A function that writes the images, and one that returns their inputs.
IMAGES = {
    "linux":   (images.write_linux, lambda soc: [
        *images.inputs(soc), firmware(soc, images.boot_address(soc)).rom]),
    "forward": (images.write_forwarder, lambda soc: [images.forward(soc)]),
}


def memories(start: str, source: Path) -> Path:
    """Makes a folder in which the simulator runs. `source` is the folder of the Verilog, which has
    the BIOS and the banks."""
    soc = json.loads((source / "soc.json").read_text())
    write_images, made_from = IMAGES[start]

    def build(directory: Path):
        for file in source.glob("*.init"):
            shutil.copy(file, directory)
        write_images(soc, directory)
        fill(directory, soc, banks(source, soc["dram"]["banks"]))

    inputs = [start, source.name, Path(__file__), *(
        Path(module.__file__) for module in (images, devicetree, memory_map))]
    return artifact("board-memory", [*inputs, *made_from(soc)], build, "10 s")


def banks(source: Path, wanted: int) -> list[str]:
    """The files of the DRAM's banks, in order."""
    found = re.findall(r'"(\w+\.init)", mem_\d+\);', (source / f"{TOP}.v").read_text())
    if len(found) != wanted:
        raise BuildError(f"{source / TOP}.v has {len(found)} memories that look like banks of the "
                         f"DRAM, not {wanted}: has LiteDRAM's model other names now?")
    return found


def fill(directory: Path, soc: dict, files: list[str]):
    """Writes the images in `directory` into the files of the banks."""
    texts = {file: [] for file in files}
    for bank, place, word in words(directory, soc):
        texts[files[bank]].append(f"@{place:x} {word:0{2 * soc['dram']['word']}x}\n")
    for file, text in texts.items():
        (directory / file).write_text("".join(text))


def words(directory: Path, soc: dict) -> Iterator[tuple[int, int, int]]:
    """Yields the bank, the index in the model's memory of that bank, and the content of each word
    of the images.

    After a row, the controller continues in the next bank. Only every `stride`th word of the model
    is used (board_soc.py).
    """
    count, row, size, stride = (soc["dram"][name] for name in ("banks", "row", "word", "stride"))
    for name, address in json.loads((directory / "boot.json").read_text()).items():
        content = (directory / name).read_bytes()
        offset  = int(address, 16) - soc["memory"]["base"]
        for at in range(0, len(content), size):
            number, column = divmod(offset + at, row)
            place = (number // count * row + column) // size * stride
            yield number % count, place, int.from_bytes(content[at:at + size], "little")
