# SPDX-License-Identifier: BSD-2-Clause
"""What tests change of the driver's source is there, once: else they are slow to say that it is not."""

import ast

from driver_sources import DRIVER


def changes() -> list[tuple[str, str, str]]:
    """The test, and what it looks for in which file: the tuples that modified.change() takes."""
    found = []
    for test in sorted((DRIVER / "tests").glob("*.py")):
        for node in ast.walk(ast.parse(test.read_text())):
            if isinstance(node, ast.Tuple) and len(node.elts) == 3:
                words = [getattr(part, "value", None) for part in node.elts[:2]]
                if all(isinstance(word, str) for word in words) and words[0].endswith((".c", ".h")):
                    found.append((test.name, *words))
    return found


def test_texts_are_there_once():
    # A text of the series' form of a file is not in ours, which has another name.
    ours = [change for change in changes() if (DRIVER / change[1]).is_file()]
    assert len(ours) > 20
    assert [change for change in ours if (DRIVER / change[1]).read_text().count(change[2]) != 1] == []
