# SPDX-License-Identifier: BSD-2-Clause
"""What a viewer shows when it opens a wave: groups of signals by rooms, their formats, a marker.

GTKWave reads a save file, Surfer a file of its commands.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .signals import Signal

DERIVED = "derived."
HEX, DECIMAL, BIT, ASCII, COMMENT = "@22", "@24", "@28", "@820", "@200"  # of GTKWave
GROUP, GROUP_END = "@800200", "@1000200"


@dataclass(frozen=True)
class View:
    """Of an FST file. Times in ps."""

    file: Path
    texts: Sequence[str]  # names of derived signals
    signals: Sequence[Signal]
    begin: int
    end: int
    marker: int

    def groups(self) -> Iterator[tuple[str, list[Signal]]]:
        """Rooms with their signals, the MACs' first."""
        order = sorted(self.signals, key=lambda signal: (not signal.room.startswith("mac"), signal.room))
        for room, signals in itertools.groupby(order, lambda signal: signal.room):
            yield room, list(signals)


def gtkwave(view: View) -> str:
    """The content of a save file."""
    lines = [
        "[*] Made by moderato wave",
        f'[dumpfile] "{view.file}"',
        f"[timestart] {view.begin}",
        "[sst_expanded] 0",
        # The zoom is the exponent of two of a pixel's time; -1 for each named marker that is not used.
        f"*{-_zoom(view)}.0 {view.marker}" + " -1" * 26,
        GROUP,
        "-what happens",
        DECIMAL,
        f"{DERIVED}cycle[63:0]",
        ASCII,
        *(f"{DERIVED}{name}" for name in view.texts),
        GROUP_END,
        "-what happens",
    ]
    for room, signals in view.groups():
        lines += [GROUP, f"-{room}"]
        for signal in signals:
            lines += [
                HEX if signal.hexadecimal else DECIMAL if signal.bits > 1 else BIT,
                _ranged(signal),
            ]
        lines += [GROUP_END, f"-{room}"]
    return "\n".join(lines) + "\n"


def _ranged(signal: Signal) -> str:
    return signal.path + f"[{signal.bits - 1}:0]" * (signal.bits > 1)


def _zoom(view: View) -> int:
    """So that a thousand pixels show the whole wave."""
    return max(0, ((view.end - view.begin) // 1000).bit_length())


def surfer(view: View) -> str:
    """A file of commands."""
    lines, formats = [], []

    def add(path: str, how: str = ""):
        if how:
            formats.append((len(added), how))
        added.append(path)
        lines.append(f"variable_add {path}")

    added: list[str] = []

    def divide(name: str):
        added.append("")
        lines.append(f"divider_add {name}")

    divide("what happens")
    add(f"{DERIVED}cycle", "Unsigned")
    for name in view.texts:
        add(f"{DERIVED}{name}", "ASCII")
    for room, signals in view.groups():
        divide(room)
        for signal in signals:
            add(signal.path, "" if signal.hexadecimal or signal.bits == 1 else "Unsigned")
    # The letters a to p are the digits of an item's number.
    width = len(f"{len(added):x}")
    for number, how in formats:
        letters = "".join(chr(ord("a") + int(digit, 16)) for digit in f"{number:0{width}x}")
        lines += [f"item_focus {letters}_", f"item_set_format {how}"]
    lines += ["item_unfocus", f"cursor_set {view.marker}", "zoom_fit"]
    return "\n".join(lines) + "\n"
