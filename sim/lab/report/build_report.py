# SPDX-License-Identifier: BSD-2-Clause
"""`moderato report`: makes tables, figures and one HTML file from records of trials."""

import contextlib
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from moderato.toolchain.project import ROOT

from ..run import store
from ..show import outputs
from ..show.columns import counted
from ..show.errors import LabError, reason
from . import profiles, records
from .chapter import Chapter
from .chapters import contents
from .inputs import Inputs
from .markdown import render as as_markdown
from .page import render
from .plot import Plot
from .table import Table

PUBLISHED = ROOT / "docs" / "data"
KEPT = ("trials", "strategies", "tcp")  # files in the build cache


def report(
    files: Sequence[Path] | None,
    output: Path,
    figure_folder: Path | None,
    markdown: Path | None,
    profile_folder: Path | None,
) -> int:
    """Write the files that were asked for; returns the exit status."""
    files, notes = (files, []) if files else defaults()
    if notes:  # the published trials
        profile_folder = profile_folder or PUBLISHED / "profiles"
    profiled = profiles.load(profile_folder)
    with damage_said(files):
        trials = records.load(files)
        notes += trials.notes
        for note in notes:
            print(f"moderato: {note}", file=sys.stderr)
        chapters = contents(Inputs(trials, profiled))
        page = render(chapters, notes)
    with outputs.replacing(output) as file:
        file.write_text(page, encoding="utf-8")
    if figure_folder:
        figure_folder.mkdir(exist_ok=True)
        for plot in _parts(chapters, Plot):
            plot.save(figure_folder)
    if markdown:
        with outputs.replacing(markdown) as file:
            file.write_text(as_markdown(chapters, markdown, figure_folder), encoding="utf-8")
    print(
        f"{output}: "
        + ", ".join(
            counted(len(parts), noun)
            for parts, noun in (
                (trials.all, "trial"),
                (_parts(chapters, Table), "table"),
                (_parts(chapters, Plot), "figure"),
            )
        )
    )
    outputs.name(figure_folder, markdown)
    return 0


@contextlib.contextmanager
def damage_said(files: Sequence[Path]) -> Iterator[None]:
    """Raises a LabError if a record of the files is malformed: a dictionary instead of a number, …"""
    try:
        yield
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise LabError(
            f"no report can be made of {', '.join(map(str, files))}: a record in there is "
            f"damaged ({reason(error)}, in line {place.lineno} of "
            f"{Path(place.filename).name}); make it again, or leave that file out"
        ) from error


def defaults() -> tuple[list[Path], list[str]]:
    """The trials in the build cache; if there are none, the published ones, with a message."""
    kept = [path for path in map(store.default, KEPT) if path.exists()]
    published = sorted(PUBLISHED.glob("*.jsonl.gz"))
    if kept:
        print(
            f"moderato: these are the trials in the build cache, {', '.join(map(str, kept))}; for the "
            f"published ones: --results {','.join(map(os.path.relpath, published))}",
            file=sys.stderr,
        )
        return kept, []
    return published, [
        "nothing was measured here yet: these are the published trials, those of "
        "docs/data; `./moderato rfc2544`, `strategies` and `tcp` make your own"
    ]


def _parts(chapters: Sequence[Chapter], kind: type) -> list:
    return [part for chapter in chapters for part in chapter.present if isinstance(part, kind)]
