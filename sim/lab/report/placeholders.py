# SPDX-License-Identifier: BSD-2-Clause
"""Writes numbers from their source into the files that repeat them.

A place is a phrase in a file with a hole `{}` for each number. So the file itself needs no markers. The
phrase may extend over several lines, and must occur exactly once.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from moderato.toolchain.project import ROOT

from ..show.errors import LabError

HOLE = r"(lost|\d(?:[\d.\s]*\d)?)"  # a number, a version, or "lost"


@dataclass(frozen=True)
class Place:
    """Where to write numbers: a file by its name in the clone, a phrase, and the names of the
    numbers."""

    file: str
    phrase: str
    names: Sequence[str]
    spaced: bool = False  # group digits by thousands, as in sentences

    def fill(self, text: str, values: Mapping[str, str]) -> str:
        """The text of the file with the numbers. Raises a LabError if the place is not there exactly
        once."""
        pattern = HOLE.join(
            r"\s+".join(map(re.escape, part.split(" "))) for part in self.phrase.split("{}")
        )
        found = [*re.finditer(pattern, text)]
        if len(found) != 1:
            raise LabError(
                f"{self.file} has {self.phrase!r} {len(found)} times instead of once; "
                "fix the phrase in sim/lab/report/doc_numbers.py"
            )
        for group in range(len(self.names), 0, -1):
            begin, end = found[0].span(group)
            value = values[self.names[group - 1]]
            text = text[:begin] + (spaced(value) if self.spaced else value) + text[end:]
        return text


def spaced(value: str) -> str:
    """`19 676`: numbers of five digits and more."""
    return re.sub(r"(?<=\d)(?=(\d{3})+$)", " ", value) if len(value) > 4 and value.isdecimal() else value


def files(places: Sequence[Place], values: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Each file with places, and its text with the numbers."""
    for name in dict.fromkeys(place.file for place in places):
        text = (ROOT / name).read_text()
        for place in places:
            if place.file == name:
                text = place.fill(text, values)
        yield ROOT / name, text
