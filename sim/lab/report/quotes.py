# SPDX-License-Identifier: BSD-2-Clause
"""Outputs of commands that pages quote, written from the outputs in docs/data/check.json.

A quote is an indented block of a page that begins with `$ COMMAND`. In it,

    …             replaces omitted lines,
    moderato: …   is a line on standard error, which has times, and is kept unchanged.

After a …, the quote continues at the printed line that differs only in numbers from the quote's next
line. Lines before a … end with the printed line that is like the last of them, or else keep their
number. Lines after the last … continue to the end of the output.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from moderato.toolchain.project import ROOT

from ..compare.kept import SAID, WHOLE
from ..show.errors import LabError

INDENT, GAP = "    ", "…"
PROMPT = f"{INDENT}$ "
SAME = {"make forward": WHOLE}  # parts of another command's output, as far as pages quote it
NUMBER = re.compile(r"\d[\d.]*")


@dataclass(frozen=True)
class Quote:
    """A command's output as a page quotes it; `lines`: from `begin` on, without the indentation."""

    command: str
    begin: int
    lines: Sequence[str]


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def quotes(text: str) -> Iterator[Quote]:
    """The quotes of a page."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].startswith(PROMPT):
            at += 1
            continue
        command = lines[at].removeprefix(PROMPT)
        while command.endswith("\\"):
            at += 1
            command = command[:-1].rstrip() + " " + lines[at].strip()
        at = begin = at + 1
        while (
            at < len(lines)
            and (lines[at].startswith(INDENT) or not lines[at])
            and not lines[at].startswith(PROMPT)
        ):
            at += 1
        while at > begin and not lines[at - 1]:  # empty lines before the following text
            at -= 1
        yield Quote(command, begin, [line.removeprefix(INDENT) for line in lines[begin:at]])


def fill(text: str, printed: Mapping[str, Sequence[str]]) -> str:
    """The page's text with the printed output. Raises a LabError that names a quote that cannot be
    filled."""
    lines = text.splitlines()
    for quote in reversed([*quotes(text)]):
        command = SAME.get(quote.command, quote.command)
        if command in printed:
            made = filled(quote, [*printed[command]])
            lines[quote.begin : quote.begin + len(quote.lines)] = [
                f"{INDENT}{line}".rstrip() for line in made
            ]
    return "\n".join(lines) + "\n"


def filled(quote: Quote, printed: Sequence[str]) -> list[str]:
    """The lines of a quote, filled from the printed lines."""
    runs = [
        (kept, [*lines])
        for kept, lines in itertools.groupby(
            quote.lines, lambda line: line == GAP or line.startswith(SAID)
        )
    ]
    made, at, gap = [], 0, False
    for number, (kept, lines) in enumerate(runs):
        if kept:
            made += lines
            gap = gap or GAP in lines
            continue
        if gap:
            at = place(quote, lines[0], printed, at)
        goes_on = any(GAP in later or not kept for kept, later in runs[number + 1 :])
        end = last(lines, printed, at) if goes_on else len(printed)
        made += printed[at:end]
        at, gap = end, False
    return made


def place(quote: Quote, line: str, printed: Sequence[str], at: int) -> int:
    """The number of the printed line that is like a line of the quote."""
    for number in range(at, len(printed)):
        if shape(printed[number]) == shape(line):
            return number
    raise LabError(
        f"`{quote.command}` prints no line like {line!r} any more; fix the page that quotes it by hand"
    )


def last(lines: Sequence[str], printed: Sequence[str], at: int) -> int:
    """The number after the last printed line of the quote's lines that begin `at`."""
    usual = at + len(lines)
    alike = [
        number + 1 for number in range(at, len(printed)) if shape(printed[number]) == shape(lines[-1])
    ]
    return min(alike, key=lambda end: abs(end - usual), default=usual)


def shape(line: str) -> str:
    """A line with numbers and their padding replaced, to compare lines."""
    return " ".join(NUMBER.sub("#", line).split())
