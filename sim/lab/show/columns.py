# SPDX-License-Identifier: BSD-2-Clause
"""Tables as text."""


def columns(rows: list[list[str]], group: dict[int, str], left: bool = False) -> list[str]:
    """Rows as aligned text, the first being the head; `group` names the columns from there.

    Columns but the first are aligned at the right; with `left`, not the last one either.
    """
    widths = [max(map(len, column)) for column in zip(*rows)]
    for start, title in group.items():  # a group's title has to fit above its columns
        end = min((other for other in group if other > start), default=len(widths))
        missing = len(title) - sum(widths[start:end]) - 2 * (end - start - 1)
        widths[end - 1] += max(0, missing)
    lines = ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in
                                                   zip(row[1:], widths[1:]))]) for row in rows]
    if left:
        lines = [line[:len(line) - widths[-1]] + row[-1] for line, row in zip(lines, rows)]
    above = ""
    for start, title in group.items():
        above = above.ljust(sum(widths[:start]) + 2 * start) + title
    return [*([above] if group else []), lines[0], "-" * len(lines[0]), *lines[1:]]
