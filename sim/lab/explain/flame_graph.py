# SPDX-License-Identifier: BSD-2-Clause
"""Profiles as one flame graph (Gregg 2016) in SVG: width is cycles, colour is the term.

Variants are columns of the same width; the outermost function is at the bottom. Hovering over a function
shows its cost. In a browser, the graph is as wide as the window, a click zooms, and functions can be
searched.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .attribution import frames
from .stacks import Profile
from .terms import IDLE, OTHER, TERMS, term_of

WIDTH, ROW, TOP, LETTER = 1600, 17, 60, 6.6  # pixels; LETTER: a letter's mean width
NARROWEST = 0.3  # pixels: narrower functions are not drawn
SCRIPT = Path(__file__).with_name("flame_graph.js")  # also part of the report
TOOLS = Path(__file__).with_name("flame_tools.js")
BEGIN, END = "<!-- tools -->", "<!-- end of tools -->"
COLOURS = dict(
    zip(
        [term.name for term in TERMS],
        (
            "#e4572e",
            "#2e86ab",
            "#8d6a9f",
            "#76b041",
            "#17bebb",
            "#ffc914",
            "#f08a4b",
            "#b0a8b9",
            "#c9b79c",
            "#d3d3d3",
            "#f2f2f2",
            "#9a9a9a",
        ),
        strict=True,
    )
)


@dataclass
class Node:
    """A function with all its callers; `cycles` include those of its callees."""

    term: str
    cycles: int = 0
    below: dict[str, "Node"] = field(default_factory=dict)

    def add(self, path: Sequence[str], terms: Sequence[str], cycles: int):
        self.cycles += cycles
        if path:
            node = self.below.setdefault(path[0], Node(terms[0]))
            node.add(path[1:], terms[1:], cycles)

    def depth(self) -> int:
        return 1 + max((node.depth() for node in self.below.values()), default=0)


def tree(profile: Profile) -> Node:
    root = Node(OTHER)
    for stack in profile.stacks:
        path = stack.functions
        terms = [term_of(path[: depth + 1]) for depth in range(len(path))]
        idle = stack.causes[IDLE]
        if stack.cycles > idle:
            root.add(path, terms, stack.cycles - idle)
        if idle:
            root.add([*path, "[idle]"], [*terms, IDLE], idle)
    return root


def render(profiles: Sequence[Profile]) -> str:
    """One SVG document without external references; without its scripts it shows the same."""
    trees = [tree(each) for each in profiles]
    height = TOP + ROW * max(root.depth() for root in trees) + 8
    width = WIDTH / len(profiles)
    boxes = []
    for number, (each, root) in enumerate(zip(profiles, trees)):
        variant, divisor = each.result.trial.variant, frames(each)
        boxes += _boxes(
            variant, root, root.cycles or 1, divisor, number * width + 1, width - 2, height - ROW - 4
        )
    trial = profiles[0].result.trial
    title = (
        f"{trial.frame_bytes}-byte frames, {trial.load_percent:g} % of {trial.link_mbps} Mb/s "
        "offered to each port: the CPU's cycles in the window"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" font-family="Verdana, sans-serif" font-size="11">',
            f'<rect class="paper" width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            f'<text class="title" x="4" y="18" font-size="14">{html.escape(title)}</text>',
            *_legend(),
            *boxes,
            BEGIN,
            _tools(),
            END,
            "</svg>",
            "",
        ]
    )


def _tools() -> str:
    """A search field and the scripts."""
    return f'''<style>.hit rect {{ fill: #d0f; }} input, button {{ font: inherit; }}</style>
<foreignObject class="tools" x="{WIDTH - 500}" y="2" width="500" height="26">
<div xmlns="http://www.w3.org/1999/xhtml"><input type="search" placeholder="Find functions"/>
<button type="button">Whole graph</button><output></output></div>
</foreignObject>
<script><![CDATA[
{SCRIPT.read_text()}
{TOOLS.read_text()}]]></script>'''


def without_tools(svg: str) -> str:
    """The graph for a page that has its own search field and scripts."""
    return re.sub(f"{BEGIN}.*{END}\n?", "", svg, flags=re.DOTALL)


def _legend() -> list[str]:
    step = WIDTH / len(TERMS)
    return [
        f'<rect class="legend" x="{number * step + 4:.0f}" y="30" width="12" height="12" '
        f'fill="{COLOURS[term.name]}" stroke="#999999" stroke-width="0.5"/>'
        f'<text class="legend" x="{number * step + 20:.0f}" y="40">{term.name}'
        f"<title>{html.escape(term.meaning)}</title></text>"
        for number, term in enumerate(TERMS)
    ]


def _boxes(
    name: str, node: Node, total: int, divisor: tuple[int, str], x: float, width: float, y: int
) -> Iterator[str]:
    """The function's box, then those of its callees above it, by name."""
    if width < NARROWEST:
        return
    about = html.escape(
        f"{name}: {node.cycles} cycles, {100 * node.cycles / total:.2f} %, "
        f"{node.cycles / divisor[0]:.0f} per frame {divisor[1]}"
    )
    letters = int((width - 4) / LETTER)
    text = name if len(name) <= letters else name[: letters - 2] + ".." if letters > 4 else ""
    yield (
        f'<g><title>{about}</title><rect x="{x:.2f}" y="{y}" width="{width:.2f}" '
        f'height="{ROW - 1}" fill="{COLOURS[node.term]}"/>'
        + (f'<text x="{x + 2:.2f}" y="{y + 12}">{html.escape(text)}</text>' if text else "")
        + "</g>"
    )
    for function, below in sorted(node.below.items()):
        part = width * below.cycles / node.cycles
        yield from _boxes(function, below, total, divisor, x, part, y - ROW)
        x += part
