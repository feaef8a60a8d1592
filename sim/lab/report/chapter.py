# SPDX-License-Identifier: BSD-2-Clause
"""The parts of a chapter of the report."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from .plot import Plot
from .table import Table


@dataclass(frozen=True)
class Cards:
    """Headline figures: each with what it is."""

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
    """A part of the page only; a Markdown file omits it."""

    text: str

    def html(self) -> str:
        return self.text

    def markdown(self) -> str:
        return ""


Part = Table | Plot | Cards | Terms | Html


@dataclass(frozen=True)
class Chapter:
    """A chapter; parts are shown in their order, Nones among them are missing."""

    name: str
    title: str
    parts: Sequence[Part | None]
    missing: str = ""  # said if there are no parts at all: what to run

    @property
    def present(self) -> list[Part]:
        return [part for part in self.parts if part is not None]
