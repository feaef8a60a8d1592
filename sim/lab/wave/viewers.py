# SPDX-License-Identifier: BSD-2-Clause
"""Files for viewers of a wave: groups of signals by room, formats, a marker.

GTKWave reads a save file, Surfer a file of its commands.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .signals import Signal

DERIVED = "derived."
HEX, DECIMAL, BIT, ASCII = "@22", "@24", "@28", "@820"  # formats of GTKWave
KINDS = ("cpu", "mac")  # kinds of rooms that come first
STAGES = (  # a MAC's rooms, in the order of frames
    "wire",
    "rx",
    "flows",
    "queueN.rx",
    "dma",
    "queueN.moderation",
    "interrupts",
    "registers",
    "queueN.tx",
    "tx",
)
NAMED = 26  # markers of GTKWave
GROUP, GROUP_END = "@800200", "@1000200"


@dataclass(frozen=True)
class View:
    """An FST file's content. Times in ps."""

    file: Path
    texts: dict[str, int]  # names of derived signals, and their widths in bits; none: no cycle, either
    signals: Sequence[Signal]
    begin: int
    end: int
    markers: Sequence[int]

    def groups(self) -> Iterator[tuple[str, list[Signal]]]:
        """Rooms with their signals: the CPU, then each MAC in the order in which frames pass it."""
        order = sorted(self.signals, key=lambda signal: _place(signal.room))
        for room, signals in itertools.groupby(order, lambda signal: signal.room):
            yield room, list(signals)


def _place(room: str) -> tuple[int, str, int, str]:
    first, _, stage = room.partition(".")
    kind, general = first.rstrip("0123456789"), re.sub(r"\d", "N", stage)
    return (
        KINDS.index(kind) if kind in KINDS else len(KINDS),
        first,
        STAGES.index(general) if general in STAGES else len(STAGES),
        stage,
    )


def gtkwave(view: View) -> str:
    """The content of a save file."""
    lines = [
        "[*] Made by moderato wave",
        f'[dumpfile] "{view.file}"',
        f"[timestart] {view.begin}",
        "[size] 1600 1000",
        "[sst_expanded] 0",
        "[signals_width] 450",
        # The zoom is the exponent of two of the time of 200 pixels; -1: a named marker is not used.
        f"*{-_zoom(view)}.0 {view.markers[0]}" + _named(view.markers),
    ]
    if view.texts:
        lines += [
            GROUP,
            "-derived",
            DECIMAL,
            f"{DERIVED}cycle[63:0]",
            ASCII,
            *(_ranged(f"{DERIVED}{name}", bits) for name, bits in view.texts.items()),
            GROUP_END,
            "-derived",
        ]
    for room, signals in view.groups():
        lines += [GROUP, f"-{room}"]
        for signal in signals:
            lines += [
                _format(signal),
                _ranged(signal.path, signal.bits),
            ]
        lines += [GROUP_END, f"-{room}"]
    return "\n".join(lines) + "\n"


def _named(markers: Sequence[int]) -> str:
    """Markers A to Z, if there are several."""
    shown = markers[:NAMED] if len(markers) > 1 else []
    return "".join(f" {marker}" for marker in shown) + " -1" * (NAMED - len(shown))


def _format(signal: Signal) -> str:
    if signal.is_text:
        return ASCII
    return HEX if signal.hexadecimal else DECIMAL if signal.bits > 1 else BIT


def _ranged(path: str, bits: int) -> str:
    return path + f"[{bits - 1}:0]" * (bits > 1)


def _zoom(view: View) -> int:
    """The zoom at which a thousand pixels show the whole wave."""
    return ((view.end - view.begin) // 5).bit_length()


def surfer(view: View) -> str:
    """The content of a file of Surfer's commands."""
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

    if view.texts:
        divide("derived")
        add(f"{DERIVED}cycle", "Unsigned")
    for name in view.texts:
        add(f"{DERIVED}{name}", "ASCII")
    for room, signals in view.groups():
        divide(room)
        for signal in signals:
            decimal = not signal.hexadecimal and signal.bits > 1
            add(signal.path, "ASCII" if signal.is_text else "Unsigned" if decimal else "")
    # An item's number is written with the letters a to p as digits.
    width = len(f"{len(added):x}")
    for number, how in formats:
        letters = "".join(chr(ord("a") + int(digit, 16)) for digit in f"{number:0{width}x}")
        lines += [f"item_focus {letters}_", f"item_set_format {how}"]
    lines += ["item_unfocus", f"cursor_set {view.markers[0]}", "zoom_fit"]
    return "\n".join(lines) + "\n"
