# SPDX-License-Identifier: BSD-2-Clause
"""The fields of the files that --json writes, as docs/lab.md lists them."""

import re

from moderato.toolchain.project import ROOT

TOKEN = re.compile(r"(\w+)(?:\[\])?|([{}])")


def fields(chapter: str) -> dict:
    """The fields in a chapter's first list; each name with the fields of its object, or {}."""
    text = (ROOT / "docs" / "lab.md").read_text().partition(f"\n## {chapter}\n")[2]
    block = re.search(r"(?<=\n\n)    \w+, (?:.+\n)+", text).group()
    lines = (re.sub(r" {2,}.*", "", line.strip()) for line in block.splitlines())
    inside, name = [{}], None
    for word, brace in TOKEN.findall(" ".join(lines)):
        if word:
            name, inside[-1][word] = word, {}
        elif brace == "{":
            inside.append(inside[-1][name])
        else:
            inside.pop()
    return inside[0]


def shape(value) -> dict:
    """The same for written JSON; for a list, from its first object."""
    if isinstance(value, list):
        return shape(value[0]) if value else {}
    return {name: shape(each) for name, each in value.items()} if isinstance(value, dict) else {}
