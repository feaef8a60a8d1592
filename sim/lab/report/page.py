# SPDX-License-Identifier: BSD-2-Clause
"""The report as one HTML file without external references.

Its policy allows only the script that the file contains.
"""

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ..explain import flame_graph
from .chapter import Chapter

TITLE = "RFC 2544 with Moderato, compared with Spanos et al. (2008)"
STYLE = Path(__file__).with_name("report.css")
SCRIPT = Path(__file__).with_name("report.js")


def render(chapters: Sequence[Chapter], notes: Sequence[str]) -> str:
    contents = "\n".join(
        f'<li><a href="#section-{chapter.name}">{escape(chapter.title)}</a></li>' for chapter in chapters
    )
    warnings = "".join(f'<p class="warning">{escape(note)}</p>\n' for note in notes)
    script = f"\n{flame_graph.SCRIPT.read_text()}\n{SCRIPT.read_text()}"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src blob:; script-src 'sha256-{digest}'"
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape(TITLE)}</title>
<style>
{STYLE.read_text()}</style>
</head>
<body>
<header><h1>{escape(TITLE)}</h1>
<p>Linux on a simulated SoC forwards frames between two ports, with each interrupt strategy of its
Ethernet driver. “Theirs” are figures of an MPC8250 at 200 MHz with Linux 2.6.9, from S. Spanos,
A. Meliones, G. Stassinopoulos, <cite>The internals of advanced interrupt handling techniques:
Performance optimization of an embedded Linux network interface</cite>, 2008. Point at a mark in a
figure, or touch it, for its values.</p>
{warnings}</header>
<nav aria-label="Contents"><h2>Contents</h2><ul>
{contents}
</ul></nav>
<main>
{"".join(map(_chapter, chapters))}</main>
<script>{script}</script>
</body>
</html>
"""


def _chapter(chapter: Chapter) -> str:
    body = "".join(part.html() for part in chapter.present)
    name = f"section-{chapter.name}"
    return (
        f'<section id="{name}" aria-labelledby="{name}-title">\n'
        f'<h2 id="{name}-title">{escape(chapter.title)}</h2>\n'
        f"{body or f'<p>Not measured. {escape(chapter.missing)}</p>'}</section>\n"
    )


def download(name: str, content: bytes, kind: str) -> str:
    """A link to content that is embedded in the page."""
    data = base64.b64encode(content).decode()
    return (
        f'<a download="{escape(name)}" href="data:{kind};base64,{data}">{escape(name)}</a> '
        f"({len(content) / 1000:.0f} kB)"
    )
