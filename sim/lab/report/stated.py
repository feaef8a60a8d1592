# SPDX-License-Identifier: BSD-2-Clause
"""What pages and files state that stands elsewhere: `./moderato export` writes it into them.

A place is a phrase of a file with a hole for each thing that is stated, `{}`; so the file itself shows
no sign of it. A phrase is found across the ends of lines, and has to be there exactly once.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from moderato.soc.toolchain.project import ROOT, release

from ..show.errors import LabError

HOLE = r"(\d(?:[\d.\s]*\d)?)"  # a number, a version


@dataclass(frozen=True)
class Place:
    """Where things stand: a file by its name in the clone, a phrase, and the names of what fills it."""
    file:   str
    phrase: str
    names:  tuple[str, ...]

    def fill(self, text: str, values: dict[str, str]) -> str:
        """The text of the file with values in this place. A LabError says what is wrong with it."""
        pattern = HOLE.join(r"\s+".join(map(re.escape, part.split(" ")))
                            for part in self.phrase.split("{}"))
        [*found] = re.finditer(pattern, text)
        if len(found) != 1:
            raise LabError(f"{self.file} has {len(found)} times {self.phrase!r}, and once is needed; "
                           f"mend the phrase in {Path(__file__).relative_to(ROOT)}")
        for group in range(len(self.names), 0, -1):
            begin, end = found[0].span(group)
            text = text[:begin] + values[self.names[group - 1]] + text[end:]
        return text


PLACES = (
    Place("linux-driver/dkms.conf", 'PACKAGE_VERSION="{}"', ("release",)),
    Place("linux-driver/dkms.conf", "dkms install moderato/{}", ("release",)),
    Place("docs/upstream.md", "dkms install moderato/{}", ("release",)),
)


def values() -> dict[str, str]:
    """What is stated, by name."""
    return {"release": release()}


def files(places: tuple[Place, ...] = PLACES) -> Iterator[tuple[Path, str]]:
    """Each file, and its text as it has to be."""
    for name in dict.fromkeys(place.file for place in places):
        text = (ROOT / name).read_text()
        for place in places:
            if place.file == name:
                text = place.fill(text, values())
        yield ROOT / name, text


def stale() -> list[str]:
    """Files that state something else, by their names in the clone."""
    return [str(path.relative_to(ROOT)) for path, text in files() if path.read_text() != text]


def write():
    """Makes them state what is."""
    for path, text in files():
        path.write_text(text)
