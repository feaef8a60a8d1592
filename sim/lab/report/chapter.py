# SPDX-License-Identifier: BSD-2-Clause
"""The parts of a chapter of the report."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from .plot import Plot
from .table import Table


@dataclass(frozen=True)
class Cards:
    """Headline figures, each with its meaning."""

    cards: Sequence[tuple[str, str]]

    def html(self) -> str:
        cards = "".join(
            f"<li><strong>{escape(figure)}</strong> {escape(says)}</li>\n" for figure, says in self.cards
        )
        return f'<ul class="cards">\n{cards}</ul>\n'

    def markdown(self) -> str:
        return "".join(f"- **{figure}** {says}\n" for figure, says in self.cards)


@dataclass(frozen=True)
class Terms:
    """A list of names and their meanings."""

    terms: Sequence[tuple[str, str]]

    def html(self) -> str:
        terms = "".join(
            f"<dt>{escape(term)}</dt><dd>{escape(meaning)}</dd>\n" for term, meaning in self.terms
        )
        return f"<dl>\n{terms}</dl>\n"

    def markdown(self) -> str:
        return "".join(f"- **{term}**: {meaning}\n" for term, meaning in self.terms)


@dataclass(frozen=True)
class Html:
    """A part that exists only in the page; a Markdown file omits it."""

    text: str

    def html(self) -> str:
        return self.text

    def markdown(self) -> str:
        return ""


Part = Table | Plot | Cards | Terms | Html


@dataclass(frozen=True)
class Chapter:
    """A chapter: parts in the order in which they are shown. None is a missing part."""

    name: str
    title: str
    parts: Sequence[Part | None]
    missing: str = ""  # text for a chapter without parts: the command to run

    @property
    def present(self) -> list[Part]:
        return [part for part in self.parts if part is not None]
