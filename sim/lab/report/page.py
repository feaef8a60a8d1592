# SPDX-License-Identifier: BSD-2-Clause
"""The report as one HTML file that needs nothing else: no script, no request."""

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from .plot import Plot, with_ids
from .profiles import Profiles
from .records import Records
from .table import Table

TITLE = "RFC 2544 with Moderato, beside Spanos et al. (2008)"
STYLE = Path(__file__).with_name("report.css")


@dataclass(frozen=True)
class Section:
    """Of the report; parts are shown in their order, Nones among them are missing."""
    name:    str
    title:   str
    parts:   Sequence[Table | Plot | str | None]
    missing: str = ""  # said if there are no parts at all: what to run

    @property
    def present(self) -> list[Table | Plot | str]:
        return [part for part in self.parts if part is not None]


def render(sections: Sequence[Section], notes: Sequence[str]) -> str:
    contents = "\n".join(f'<li><a href="#section-{section.name}">{escape(section.title)}</a></li>'
                         for section in sections)
    warnings = "".join(f'<p class="warning">{escape(note)}</p>\n' for note in notes)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(TITLE)}</title>
<style>
{STYLE.read_text()}</style>
</head>
<body>
<header><h1>{escape(TITLE)}</h1>
<p>Linux on a simulated SoC forwards frames between two ports, with each interrupt strategy of its
Ethernet driver. “Theirs” are figures of S. Spanos, A. Meliones, G. Stassinopoulos, <cite>The
internals of advanced interrupt handling techniques: Performance optimization of an embedded Linux
network interface</cite>, 2008: an MPC8250 at 200 MHz with Linux 2.6.9. Point at a mark in a figure
for its values.</p>
{warnings}</header>
<nav aria-label="Contents"><h2>Contents</h2><ul>
{contents}
</ul></nav>
<main>
{"".join(map(_section, sections))}</main>
</body>
</html>
"""


def _section(section: Section) -> str:
    parts = section.present
    body = "".join(map(_part, parts)) or f"<p>Not measured. {escape(section.missing)}</p>"
    name = f"section-{section.name}"
    return (f'<section id="{name}" aria-labelledby="{name}-title">\n'
            f'<h2 id="{name}-title">{escape(section.title)}</h2>\n{body}</section>\n')


def _part(part: Table | Plot | str) -> str:
    if isinstance(part, Table):
        return part.html()
    if isinstance(part, Plot):
        return (f'<figure id="{part.name}">\n{part.svg()}'
                f"<figcaption>{escape(part.caption)}</figcaption>\n"
                f'<p class="note">{escape(part.note)}</p></figure>\n')
    return part


# Parts that are neither tables nor figures --------------------------------------------------------

def flame_graphs(profiles: Profiles) -> list[str]:
    """Each in a block that can be folded away."""
    return [f'<details open><summary>Flame graph: {escape(name)}</summary>\n<div class="flame" '
            f'role="img" aria-label="Flame graph of {escape(name)}">{_inline(svg, name)}</div>'
            "</details>\n" for name, svg in profiles.graphs.items()]


def _inline(svg: str, name: str) -> str:
    """Without what only a file of its own may begin with."""
    return with_ids(svg[svg.index("<svg"):], "".join(filter(str.isalnum, name)))


def traces(profiles: Profiles) -> list[str]:
    """Links to timelines."""
    return [f'<p>Timeline: {_download(name, content, "application/octet-stream")}, to be opened '
            "with Perfetto's viewer.</p>\n" for name, content in profiles.traces.items()]


def raw(records: Records) -> str:
    """Every record, as a file that `moderato report --results` reads."""
    lines = "".join(json.dumps(trial, separators=(",", ":")) + "\n" for trial in records.trials)
    link = _download("trials.jsonl.gz", gzip.compress(lines.encode(), mtime=0), "application/gzip")
    return (f"<p>All {len(records.trials)} trials, a line of JSON each: {link}. "
            "<code>./moderato report --results trials.jsonl.gz</code> makes this report again."
            "</p>\n")


def commands(lines: Sequence[str]) -> str:
    text = "\n".join(lines)
    return f"<p>The same trials, made again:</p>\n<pre>{escape(text)}</pre>\n"


def _download(name: str, content: bytes, kind: str) -> str:
    data = base64.b64encode(content).decode()
    return (f'<a download="{escape(name)}" href="data:{kind};base64,{data}">{escape(name)}</a> '
            f"({len(content) / 1000:.0f} kB)")
