# SPDX-License-Identifier: BSD-2-Clause
"""Tables and sentences as text that fits its destination.

The width is COLUMNS, else the terminal's. Files and pipes have no limit. A table that is too wide first
omits columns that contain only 0; a line after the table names them. If it is still too wide, it
continues below, and each part repeats the first column.
"""

import os
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import TextIO

GAP = "  "
ZERO = re.compile(r"[0.]+( %)?")


def width(stream: TextIO | None = None) -> int | None:
    """Characters in a line of a stream, by default standard output; None: unlimited."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    try:
        return os.get_terminal_size((stream or sys.stdout).fileno()).columns or None
    except (OSError, ValueError):  # not a terminal, or no file
        return None


def sentence(text: str, indent: int = 0) -> str:
    """A sentence, wrapped to as many lines as it needs; lines after the first are indented."""
    limit = width()
    if limit is None:
        return text
    return textwrap.fill(
        text,
        max(limit, indent + 20),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def counted(number: int, noun: str) -> str:
    """`1 trial`, `2 trials`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def columns(
    rows: Sequence[Sequence[str]], group: Mapping[str, range] = {}, left: bool = False
) -> list[str]:
    """Rows as lines of aligned text; the first row is the head.

    `group` has titles for ranges of columns. All columns but the first are aligned to the right; with
    `left`, also not the last.
    """
    table = _Table([list(map(str, row)) for row in rows], group, left)
    every, limit = list(range(1, len(rows[0]))), width()
    if limit is None or table.width(every) <= limit:
        return table.lines(every)
    table.fold((limit - len(GAP)) // 2)
    shown = [column for column in every if not table.is_zero(column)] or every
    parts = [table.lines(part) for part in table.parts(shown, limit)]
    lines = [line for part in parts for line in (*part, "")][:-1]
    zero = table.names([column for column in every if column not in shown])
    return lines + ["", *sentence(f"All 0: {zero}.").splitlines()] * bool(zero)


class _Table:
    """Columns are numbered; column 0 is the key, which each part of the table repeats."""

    def __init__(self, rows: list[list[str]], group: Mapping[str, range], left: bool):
        self.rows, self.group = rows, group
        self.left = len(rows[0]) - 1 if left else None

    def fold(self, limit: int):
        """Continue cells that are too wide in additional rows."""
        folded = []
        for row in self.rows:
            cells = [textwrap.wrap(cell, max(limit, 1)) or [""] for cell in row]
            height = max(map(len, cells))
            folded.append(["\n".join(cell + [""] * (height - len(cell))) for cell in cells])
        self.rows = folded

    def is_zero(self, column: int) -> bool:
        return all(ZERO.fullmatch(row[column].strip()) for row in self.rows[1:])

    def names(self, shown: list[int]) -> str:
        """Columns with their groups: `dropped at FIFO, driver Tx; corrupted`."""
        found = []
        for together in self._together(shown):
            above = [title.rstrip(":") for title, of in self.group.items() if together[0] in of]
            heads = [self.rows[0][column].replace("\n", " ").strip() for column in together]
            found.append(" ".join([*above, ", ".join(heads)]))
        return "; ".join(found)

    def parts(self, shown: list[int], limit: int) -> list[list[int]]:
        """Groups of columns that fit next to each other; a group's columns stay together if possible."""
        parts = [[]]
        for together in self._together(shown):
            if self.width(parts[-1] + together) <= limit:
                parts[-1] += together
                continue
            if parts[-1] and self.width(together) <= limit:
                parts.append(together)
                continue
            for column in together:
                if parts[-1] and self.width(parts[-1] + [column]) > limit:
                    parts.append([])
                parts[-1].append(column)
        return parts

    def _together(self, shown: list[int]) -> list[list[int]]:
        found, last = [], None
        for column in shown:
            title = next((title for title, of in self.group.items() if column in of), None)
            if title and title == last:
                found[-1].append(column)
            else:
                found.append([column])
            last = title
        return found

    def width(self, part: list[int]) -> int:
        widths = self._widths([0, *part], self._titles(part))
        return sum(widths) + len(GAP) * (len(widths) - 1)

    def _titles(self, part: list[int]) -> dict[range, str]:
        """Titles above a part, by range of columns; the key is column 0."""
        places = {}
        for title, of in self.group.items():
            there = [place for place, column in enumerate(part, 1) if column in of]
            if there:
                places[range(there[0], there[-1] + 1)] = title
        return places

    def _widths(self, part: list[int], titles: dict[range, str]) -> list[int]:
        widths = [
            max(len(line) for row in self.rows for line in row[column].split("\n")) for column in part
        ]
        for places, title in titles.items():  # a title must fit above its columns
            there = sum(widths[place] for place in places) + len(GAP) * (len(places) - 1)
            widths[places[-1]] += max(0, len(title) - there)
        return widths

    def lines(self, part: list[int]) -> list[str]:
        titles = self._titles(part)
        part = [0, *part]
        widths = self._widths(part, titles)
        above = ""
        for places, title in titles.items():
            above = above.ljust(sum(widths[: places[0]]) + len(GAP) * places[0]) + title
        head, *body = (
            [
                self._line(cells, part, widths)
                for cells in zip(*(row[column].split("\n") for column in part))
            ]
            for row in self.rows
        )
        lines = [
            *([above] if titles else []),
            *head,
            "-" * len(head[0]),
            *(line for row in body for line in row),
        ]
        return [line.rstrip() for line in lines]

    def _line(self, cells: Sequence[str], part: list[int], widths: list[int]) -> str:
        placed = [
            cell.ljust(size) if column == 0 else cell if column == self.left else cell.rjust(size)
            for cell, column, size in zip(cells, part, widths)
        ]
        return GAP.join(placed)
