# SPDX-License-Identifier: BSD-2-Clause
"""Each text that a test replaces in the driver's source occurs once. Without this check, only a slow
test would fail.
"""

import ast
from pathlib import Path

from driver_sources import SOURCES


def changes() -> list[tuple[str, str, str]]:
    """The test, and of its tuples for modified.change() file and text; the text can have a name."""
    found = []
    for test in sorted(Path(__file__).parent.glob("*.py")):
        nodes = [*ast.walk(ast.parse(test.read_text()))]
        named = {
            target.id: node.value
            for node in nodes
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            if isinstance(node, ast.Tuple) and len(node.elts) == 3:
                parts = [named.get(getattr(part, "id", None), part) for part in node.elts[:2]]
                words = [getattr(part, "value", None) for part in parts]
                if all(isinstance(word, str) for word in words) and words[0].endswith((".c", ".h")):
                    found.append((test.name, *words))
    return found


def test_replaced_texts_occur_once():
    texts = {path.name: path.read_text() for path in SOURCES}
    # Some tests change the series' form of a file, which has another name there.
    ours = [change for change in changes() if change[1] in texts]
    assert len(ours) > 20
    assert [change for change in ours if texts[change[1]].count(change[2]) != 1] == []
