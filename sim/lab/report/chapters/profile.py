# SPDX-License-Identifier: BSD-2-Clause
"""Table 5, flame graphs, timelines."""

from html import escape

from ...explain import flame_graph
from .. import profiles
from ..chapter import Chapter, Html
from ..inputs import Inputs
from ..page import download
from ..plot import with_ids


def chapter(inputs: Inputs) -> Chapter:
    found = inputs.profiles
    parts = (
        [
            *profiles.tables5(found.profiles),
            profiles.table5_theirs(),
            *flame_graphs(found),
            *traces(found),
        ]
        if found != profiles.NONE
        else []
    )
    return Chapter(
        "profile",
        "Where a frame's time goes: table 5",
        parts,
        "Run `./moderato profile` for it, and name its folder with --profiles.",
    )


def flame_graphs(found: profiles.Profiles) -> list[Html]:
    """Each one in a block that can be folded away."""
    return [
        Html(
            f'<details open><summary>Flame graph: {escape(name)}</summary>\n<div class="flame" '
            f'role="img" aria-label="Flame graph of {escape(name)}">{_inline(svg, name)}'
            "</div></details>\n"
        )
        for name, svg in found.graphs.items()
    ]


def _inline(svg: str, name: str) -> str:
    """The SVG without its header and tools: the page has its own tools."""
    svg = flame_graph.without_tools(svg[svg.index("<svg") :])
    return with_ids(svg, "".join(filter(str.isalnum, name)))


def traces(found: profiles.Profiles) -> list[Html]:
    """Links to timelines."""
    return [
        Html(
            f"<p>Timeline: {download(name, content, 'application/octet-stream')}, to be "
            "opened with Perfetto's viewer.</p>\n"
        )
        for name, content in found.traces.items()
    ]
