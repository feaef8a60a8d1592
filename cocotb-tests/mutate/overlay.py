# SPDX-License-Identifier: BSD-2-Clause
"""A copy of the gateware with one change, first on the import path."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from moderato.toolchain.project import ROOT

GATEWARE = ROOT / "gateware"


@dataclass(frozen=True)
class Mutant:
    """Replaces `old`, which occurs once in gateware/`file`, by `new`; `breaks` describes the effect.

    equivalent  why no test can distinguish it from the original; "" if a test must kill it.
    """
    file:       str
    name:       str
    old:        str
    new:        str
    breaks:     str
    equivalent: str = ""

    def apply(self, text: str) -> str:
        """The file's text with the change."""
        count = text.count(self.old)
        if count != 1 or self.old == self.new:
            raise ValueError(f"mutant '{self.name}': its old text occurs {count} times in "
                             f"gateware/{self.file}, not once: {self.old!r}")
        return text.replace(self.old, self.new)


def overlay(folder: Path, mutant: Mutant | None) -> Path:
    """Makes folder/moderato/gateware, which is imported instead of the original; returns `folder`."""
    package = folder / "moderato" / "gateware"
    shutil.copytree(GATEWARE, package, ignore=shutil.ignore_patterns("__pycache__"))
    if mutant:
        file = package / mutant.file
        file.write_text(mutant.apply(file.read_text()))
    return folder
