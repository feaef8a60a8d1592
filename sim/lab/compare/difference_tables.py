# SPDX-License-Identifier: BSD-2-Clause
"""The differences as text: a line for each figure that differs."""

from collections.abc import Sequence

from ..show.columns import columns, sentence
from .figures import Pairs, figures, functions, kind, words

SHOWN = 12  # functions with the largest differences
LEAST = 0.5  # cycles per frame or segment: smaller differences are not shown
APART = (
    "version",
    "kernel",
    "kernel_source",
    "compiler",
    "cpu",
    "memory_bytes",
)  # conditions that are shown to the reader


def render(names: Sequence[str], pairs: Pairs) -> str:
    """names: of the two sides."""
    lines = [sentence(f"{side}: {name}", 3) for side, name in zip("AB", names)]
    if not pairs.pairs:
        return "\n".join([*lines, "", sentence("No result of A has the settings of one of B.")]) + "\n"
    for what, (a, b) in (_conditions(pairs) | pairs.between).items():
        lines.append(sentence(f"{what.replace('_', ' ')}: A {a}, B {b}", 3))
    alike = [
        words(name, value)
        for name, value in pairs.common.items()
        if name in ("variant", "direction", "frame_bytes", "load_percent", "link_mbps", "nic")
    ]
    lines += [sentence(f"Both: {', '.join(alike)}", 3)] * bool(alike)
    rows = [row for pair in pairs.pairs for row in _rows(*pair)]
    if rows:
        lines += ["", *columns([["", "A", "B", "B - A", ""], *rows])]
    same = [name for name, a, b in pairs.pairs if not _rows(name, a, b)]
    if len(same) == len(pairs.pairs):
        lines += ["", "No figure is different."]
    elif same:
        lines += ["", sentence(f"No figure is different: {'; '.join(same)}.")]
    for name, a, b in pairs.pairs:
        lines += _moved(name, a, b)
    for side, names in pairs.alone.items():
        said = "; ".join(name or "one more of the same settings" for name in names)
        lines += ["", sentence(f"Only in {side}: {said}.")] * bool(names)
    return "\n".join(lines) + "\n"


def _conditions(pairs: Pairs) -> dict[str, tuple]:
    """The conditions in which the first pair differs."""
    _, *both = pairs.pairs[0]
    a, b = (result.get("conditions", {}) for result in both)
    return {
        name: (a[name], b[name])
        for name in APART
        if name in a and name in b and a[name] != b[name] and name not in pairs.between
    }


def _rows(name: str, a: dict, b: dict) -> list[list[str]]:
    of_a, of_b = figures(a), figures(b)
    indent = "  " * bool(name)
    rows = [
        [indent + figure, *_values(of_a.get(figure), of_b.get(figure))]
        for figure in dict.fromkeys([*of_a, *of_b])
    ]
    rows = [row for row in rows if row[1] != row[2]]
    return [[name, "", "", "", ""]] * bool(name and rows) + rows


def _values(a: float | None, b: float | None) -> list[str]:
    """The values of A and B, their difference, and its percentage of A."""
    if a is None or b is None:
        return [*("-" if value is None else _number(value, value) for value in (a, b)), "-", ""]
    percent = f"{100 * (b - a) / a:+.1f} %" if a else ""
    return [_number(a, b), _number(b, a), ("+" if b > a else "") + _number(b - a, a), percent]


def _number(value: float, like: float) -> str:
    """A whole number for a count, else rounded to a useful precision."""
    if value == int(value) and like == int(like):
        return str(int(value))
    return f"{value:.{1 if max(abs(value), abs(like)) >= 10 else 3}f}"


def _moved(name: str, a: dict, b: dict) -> list[str]:
    """The functions with the largest differences, if both results have functions."""
    of_a, of_b = functions(a), functions(b)
    if not of_a or not of_b:
        return []
    change = {each: of_b.get(each, 0) - of_a.get(each, 0) for each in of_a | of_b}
    moved = sorted(
        (each for each in change if abs(change[each]) >= LEAST), key=lambda each: -abs(change[each])
    )
    per = "segment" if kind(a) == "transfer" else "frame"
    title = sentence(f"{f'{name}: ' * bool(name)}functions that moved, by themselves, cycles per {per}")
    if not moved:
        return [
            "",
            sentence(
                f"{f'{name}: ' * bool(name)}no function moved by {LEAST:g} cycles per {per} or more."
            ),
        ]
    rows = [
        [each, f"{of_a.get(each, 0):.1f}", f"{of_b.get(each, 0):.1f}", f"{change[each]:+.1f}"]
        for each in moved[:SHOWN]
    ]
    more = len(moved) - SHOWN
    return [
        "",
        title,
        "",
        *columns([["function", "A", "B", "B - A"], *rows]),
        *[f"and {more} more"] * (more > 0),
    ]


def as_json(names: Sequence[str], pairs: Pairs) -> list[dict]:
    """All figures of each pair, [A, B], including equal ones."""
    return [
        {
            "name": name,
            "a": names[0],
            "b": names[1],
            "between": pairs.between,
            "figures": _both(figures(a), figures(b)),
            "functions": _both(functions(a), functions(b)),
        }
        for name, a, b in pairs.pairs
    ]


def _both(a: dict, b: dict) -> dict[str, list]:
    return {name: [a.get(name), b.get(name)] for name in dict.fromkeys([*a, *b])}
