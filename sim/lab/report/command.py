# SPDX-License-Identifier: BSD-2-Clause
"""`moderato report`: from records of trials to tables, figures and one HTML file."""

import sys
from collections.abc import Sequence
from pathlib import Path

from ..run import store
from ..show import outputs
from . import profiles, records
from .chapters import contents
from .markdown import render as as_markdown
from .material import Material
from .page import render
from .plot import Plot
from .section import Section
from .table import Table


def report(files: Sequence[Path] | None, output: Path, figure_folder: Path | None,
           markdown: Path | None, profile_folder: Path | None) -> int:
    """Write what was asked for; returns the exit status."""
    trials = records.load(files or defaults())
    profiled = profiles.load(profile_folder)
    for note in trials.notes:
        print(f"moderato: {note}", file=sys.stderr)
    sections = contents(Material(trials, profiled))
    with outputs.replacing(output) as file:
        file.write_text(render(sections, trials.notes), encoding="utf-8")
    if figure_folder:
        figure_folder.mkdir(exist_ok=True)
        for plot in _parts(sections, Plot):
            plot.save(figure_folder)
    if markdown:
        with outputs.replacing(markdown) as file:
            file.write_text(as_markdown(sections, markdown, figure_folder), encoding="utf-8")
    print(f"{output}: {len(trials.trials)} trials, {len(_parts(sections, Table))} tables, "
          f"{len(_parts(sections, Plot))} figures")
    outputs.name(figure_folder, markdown)
    return 0


def defaults() -> list[Path]:
    """The trials in the build cache."""
    others = [store.default("strategies"), store.default("tcp")]
    return [store.default(), *(each for each in others if each.exists())]


def _parts(sections: Sequence[Section], kind: type) -> list:
    return [part for section in sections for part in section.present if isinstance(part, kind)]
