# SPDX-License-Identifier: BSD-2-Clause
"""The style of figures, and their output as SVG and PNG.

An SVG takes the colour of its text from the page around it, or from the reader's light or dark setting.
Its content is the same each time. In the page, data points have tooltips, and lines the names of their
variants. A file has neither, because other pages show it as an image.
"""

import functools
import io
import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator
from matplotlib.transforms import Bbox

from ..show import outputs

INK = "#010203"  # placeholder for the colour of text; occurs nowhere else
STYLE: dict = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "grid.color": "#888888",
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "svg.fonttype": "none",
    "svg.id": None,
}
# Okabe and Ito's colours, which colour-blind readers can distinguish; each also has a marker. Among the
# six, those without NAPI for reception have warm colours, the others cold ones.
LOOKS = {
    "original": ("#D55E00", "o"),
    "tx-128": ("#E69F00", "s"),
    "tx-off": ("#CC79A7", "^"),
    "napi": ("#56B4E9", "v"),
    "napi-tx-128": ("#0072B2", "D"),
    "napi-tx-off": ("#009E73", "P"),
    "napi-full": ("#7A5195", "<"),
    "napi-timer": ("#4E79A7", "X"),
    "hw-moderated": ("#9C755F", "h"),
    "adaptive-dim": ("#B8B000", ">"),
    "adaptive-hw": ("#D6006D", "*"),
}
MORE_LOOKS = (("#808080", "X"), ("#6B8E23", "p"), ("#008B8B", "d"), ("#B22222", "8"))
HIT_SIZE = 11  # points: the area around a data point that shows its tooltip
TIP = "_tip "  # prefix of such a point's label; the underscore keeps it out of legends
DPI = 160
WIDTH = 9  # inches: a figure as wide as the page,
NARROW = 5.4  # and one that fits a telephone
LEGEND_COLUMNS = {WIDTH: 7, NARROW: 3}
MARK = 3  # pixels from the centre of a data point to its edge
LABEL_SIZE = 7  # points
# Possible positions of a word: offset in points from its data point, and alignment.
LABEL_PLACES = (
    (4, 2, "left", "bottom"),
    (4, -2, "left", "top"),
    (-4, 2, "right", "bottom"),
    (-4, -2, "right", "top"),
    (0, 5, "center", "bottom"),
    (0, -5, "center", "top"),
    (0, 12, "center", "bottom"),
    (0, -12, "center", "top"),
)

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
ADAPT = "svg{color:#1b1f24}@media(prefers-color-scheme:dark){svg{color:#d7dde4}}"


@dataclass(frozen=True)
class Plot:
    """A figure with its caption; `note`: what it shows. name: of its files."""

    name: str
    caption: str
    figure: Figure
    note: str = ""

    def html(self) -> str:
        note = f'<p class="note">{escape(self.note)}</p>' if self.note else ""
        kind = "plot narrow" if self.figure.get_figwidth() == NARROW else "plot"
        return (
            f'<figure id="{self.name}">\n<div class="{kind}">{self.svg(live=True)}</div>'
            f"<figcaption>{escape(self.caption)}</figcaption>\n{note}</figure>\n"
        )

    def svg(self, live: bool = False) -> str:
        """The drawing; its ids start with `name`. live: with tooltips and names of variants."""
        buffer = io.StringIO()
        owners = _name_lines(self.figure) if live else {}
        for line in _tips(self.figure):
            line.set_visible(live)
        with matplotlib.rc_context({**STYLE, "svg.hashsalt": self.name}):
            self.figure.savefig(
                buffer,
                format="svg",
                transparent=True,
                metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")),
            )
        root = ElementTree.fromstring(buffer.getvalue())
        if live:
            _tooltips(root, self.figure)
        for group in root.iter(f"{{{SVG}}}g"):
            if owner := owners.get(group.get("id", "")):
                group.set("data-variant", owner)
        _slim(root)
        _accessible(root, self.caption)
        ElementTree.register_namespace("", SVG)
        ElementTree.register_namespace("xlink", XLINK)
        text = ElementTree.tostring(root, encoding="unicode").replace(INK, "currentColor")
        return with_ids(text, self.name) + "\n"

    def save(self, folder: Path):
        """NAME.svg and NAME.png in `folder`."""
        with outputs.replacing(folder / f"{self.name}.svg") as file:
            file.write_text(self.svg(), encoding="utf-8")
        with outputs.replacing(folder / f"{self.name}.png") as file, matplotlib.rc_context(STYLE):
            FigureCanvasAgg(self.figure)
            self.figure.savefig(
                file, format="png", dpi=DPI, facecolor="white", metadata={"Software": None}
            )


def _name_lines(figure: Figure) -> dict[str, str]:
    """Give ids to lines, tooltips and words. Returns the variant of each line's id; a line without
    markers has no variant."""
    owners, number = {}, itertools.count()
    for axes in figure.axes:
        owner = None
        for line in axes.lines:
            label = str(line.get_label())
            if not label.startswith(TIP):
                owner = label if line.get_marker() != "None" else None
            line.set_gid(f"line{next(number)}")
            if owner and not owner.startswith("_"):
                owners[line.get_gid()] = owner
        for text in axes.texts:
            if text.get_label():
                text.set_gid(f"text{next(number)}")
                owners[text.get_gid()] = text.get_label()
    return owners


def _tips(figure: Figure) -> list[Line2D]:
    return [line for axes in figure.axes for line in axes.lines if str(line.get_label()).startswith(TIP)]


def with_ids(svg: str, prefix: str) -> str:
    """The SVG with a prefix before ids and references to them, so that several SVGs can share a page."""
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)


def _tooltips(root: ElementTree.Element, figure: Figure):
    tips = {line.get_gid(): str(line.get_label()).removeprefix(TIP) for line in _tips(figure)}
    for group in root.iter(f"{{{SVG}}}g"):
        text = tips.get(group.get("id", ""))
        if text:
            title = ElementTree.Element(f"{{{SVG}}}title")
            title.text = text
            group.insert(0, title)


def _slim(root: ElementTree.Element):
    """Remove ids without references, and then groups without effect."""
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', ElementTree.tostring(root, "unicode")))
    for element in root.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)
    for element in reversed(list(root.iter())):  # leaves first
        element[:] = [part for child in element for part in (child if _says_nothing(child) else [child])]
    ElementTree.indent(root, " ")


def _says_nothing(element: ElementTree.Element) -> bool:
    return (
        element.tag == f"{{{SVG}}}g" and not element.attrib and element.find(f"{{{SVG}}}title") is None
    )


def _accessible(root: ElementTree.Element, caption: str):
    root.set("role", "img")
    root.set("aria-label", caption)
    style = ElementTree.Element(f"{{{SVG}}}style")
    style.text = ADAPT
    root.insert(0, style)


# Drawing ------------------------------------------------------------------------------------------


def styled(draw: Callable) -> Callable:
    """Decorates a function that draws a figure."""

    @functools.wraps(draw)
    def drawn(*arguments):
        with matplotlib.rc_context(STYLE):
            return draw(*arguments)

    return drawn


def panels(
    count: int, columns: int, height: float = 2.9, width: float = WIDTH, **shared
) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels in rows of `columns`. height: of one panel, width: of the figure, in
    inches."""
    rows = -(-count // columns)
    figure = Figure(figsize=(width, height * rows + 0.7))
    axes = list(figure.subplots(rows, columns, squeeze=False, **shared).flat)
    for unused in axes[count:]:
        unused.remove()
    return figure, axes[:count]


def look(variant: str, variants: Sequence[str]) -> dict:
    """Colour and marker of a variant, as keywords of Axes.plot()."""
    if variant in LOOKS:
        colour, marker = LOOKS[variant]
    else:
        others = [name for name in variants if name not in LOOKS]
        colour, marker = MORE_LOOKS[others.index(variant) % len(MORE_LOOKS)]
    return {"color": colour, "marker": marker, "label": variant}


def tip(axes: Axes, x: float, y: float, text: str):
    """A tooltip around a data point."""
    axes.plot(
        [x],
        [y],
        linestyle="none",
        marker="o",
        markersize=HIT_SIZE,
        alpha=0,
        markeredgewidth=0,
        color="#ffffff",
        zorder=10,
        label=TIP + text,
    )


def log_axis(axes: Axes, label: str, unit: float):
    """A logarithmic horizontal axis with round figures; unit: the value of 1."""
    axes.set(xscale="log", xlabel=label)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / unit:g}")
    axes.xaxis.set_minor_locator(NullLocator())


def labels(figure: Figure, points: Sequence[Sequence[tuple[float, float, str, str]]]):
    """A word next to each point of each panel, where it overlaps no other word, point or edge. Earlier
    points have precedence. points: for each panel (x, y, word, variant).

    Call it last: it uses the panels' final positions and limits.
    """
    figure.draw_without_rendering()
    for axes, here in zip(figure.axes, points):
        taken = [_around(axes.transData.transform((x, y)), MARK) for x, y, *_ in here]
        for number, (x, y, word, variant) in enumerate(here):
            for right, up, ha, va in LABEL_PLACES:
                text = axes.annotate(
                    word,
                    (x, y),
                    (right, up),
                    textcoords="offset points",
                    ha=ha,
                    va=va,
                    fontsize=LABEL_SIZE,
                    label=variant,
                )
                text.set_in_layout(False)
                box = text.get_window_extent().padded(1)
                if (
                    axes.bbox.contains(*box.min)
                    and axes.bbox.contains(*box.max)
                    and not any(box.overlaps(other) for other in taken[:number] + taken[number + 1 :])
                ):
                    taken.append(box)
                    break
                text.remove()


def _around(place: Iterable[float], radius: float) -> Bbox:
    """A square, in pixels of the canvas."""
    return Bbox([[each - radius for each in place], [each + radius for each in place]])


def legend(figure: Figure, axes: Sequence[Axes]):
    """One legend for all panels, above them, in rows of similar length."""
    handles = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    rows = -(-len(handles) // LEGEND_COLUMNS[figure.get_figwidth()])
    figure.legend(
        handles.values(), handles.keys(), loc="outside upper center", ncols=-(-len(handles) // rows)
    )
