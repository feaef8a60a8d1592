# SPDX-License-Identifier: BSD-2-Clause
"""The report's texts, tables and, if they are files, figures as a Markdown page."""

import os
from collections.abc import Sequence
from pathlib import Path

from .chapter import Chapter
from .plot import Plot


def render(chapters: Sequence[Chapter], file: Path, figures: Path | None) -> str:
    """The page for `file`; figures: the folder with the SVG files."""
    blocks = [
        "# Tables and figures\n\nMade by `./moderato report`, from trials of `./moderato rfc2544`.\n"
    ]
    for chapter in chapters:
        parts = [
            part.markdown()
            if not isinstance(part, Plot)
            else _image(part, file, figures)
            if figures
            else ""
            for part in chapter.present
        ]
        if any(parts):
            blocks += [f"## {chapter.title}\n", *filter(None, parts)]
    return "\n".join(blocks)


def _image(plot: Plot, file: Path, figures: Path) -> str:
    path = os.path.relpath(figures / f"{plot.name}.svg", file.parent)
    note = f"\n\n{plot.note}" if plot.note else ""
    return f"![{plot.caption}]({path})\n\n*{plot.caption}*{note}\n"
