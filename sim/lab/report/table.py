# SPDX-License-Identifier: BSD-2-Clause
"""A table that can be written as Markdown and as HTML."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

MISSING = "–"  # not measured, or missing in the paper
LONG = 30  # rows: a longer table can be folded away
FIGURE = re.compile(rf"{MISSING}$|(\*\*)?[≥+-]?\d[\d.]*( –| \(|[*]*$)")


@dataclass(frozen=True)
class Table:
    """Cells are plain text; text between two `**` is bold. The first `heads` cells of a row are its
    head.

    Columns of figures are aligned to the right. A long table can be folded away.
    """

    name: str
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    heads: int = 1

    def markdown(self) -> str:
        rule = ["---:" if figures else "---" for figures in self._figures()]
        lines = [f"**{self.caption}**", "", *map(_line, [self.head, rule, *self.rows])]
        for note in self.notes:
            lines += ["", note]
        if self._long():
            lines = [
                "<details>",
                f"<summary>{escape(self.caption)}</summary>",
                "",
                *lines[2:],
                "",
                "</details>",
            ]
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        classes = [' class="figures"' if figures else "" for figures in self._figures()]
        head = "".join(
            f'<th scope="col"{style}>{escape(cell)}</th>' for cell, style in zip(self.head, classes)
        )
        rows = "\n".join(f"<tr>{self._row(row, classes)}</tr>" for row in self.rows)
        notes = "".join(f'<p class="note">{escape(note)}</p>' for note in self.notes)
        table = (
            f'<div class="table" id="{self.name}"><table>\n'
            f"<caption>{escape(self.caption)}</caption>\n"
            f"<thead><tr>{head}</tr></thead>\n"
            f"<tbody>\n{rows}\n</tbody></table>{notes}</div>\n"
        )
        if self._long():
            return f"<details><summary>{escape(self.caption)}</summary>\n{table}</details>\n"
        return table

    def _long(self) -> bool:
        return len(self.rows) > LONG

    def _row(self, row: Sequence[str], classes: Sequence[str]) -> str:
        return "".join(
            f'<th scope="row"{style}>{_text(cell)}</th>'
            if column < self.heads
            else f"<td{style}>{_text(cell)}</td>"
            for column, (cell, style) in enumerate(zip(row, classes))
        )

    def _figures(self) -> list[bool]:
        """For each column, whether it holds figures."""
        return [all(FIGURE.match(row[column]) for row in self.rows) for column in range(len(self.head))]


def number(value: float | None, digits: int, mark: str = "") -> str:
    return MISSING if value is None else f"{value:.{digits}f}{mark}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _text(cell: str) -> str:
    if len(cell) > 4 and cell.startswith("**") and cell.endswith("**"):
        return f"<strong>{escape(cell[2:-2])}</strong>"
    return escape(cell)
