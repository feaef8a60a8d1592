# SPDX-License-Identifier: BSD-2-Clause
"""Every link of a page to another page, a file or a heading has a target."""

import re
import subprocess
from pathlib import Path

from moderato.toolchain.project import ROOT

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def pages() -> list[Path]:
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        capture_output=True,
        text=True,
    )
    return [ROOT / name for name in listed.stdout.splitlines()]


def anchor(heading: str) -> str:
    """GitHub's anchor: words in lower case, joined by hyphens, without punctuation."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def broken(page: Path) -> list[str]:
    """Links of a page without a target."""
    found = []
    for target in LINK.findall(CODE.sub("", page.read_text())):
        if re.match(r"\w+:", target):
            continue
        name, _, chapter = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists():
            found.append(target)
        elif chapter and chapter not in map(anchor, HEADING.findall(file.read_text())):
            found.append(target)
    return found


def test_links():
    lost = {str(page.relative_to(ROOT)): links for page in pages() if (links := broken(page))}
    assert len(pages()) > 30 and not lost


def test_finds_broken_links(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A chapter, of two\n[right](#a-chapter-of-two) [wrong](#another) "
        "[gone](no.md) `[code](no.md)` [far](https://example.org/)\n"
    )
    assert broken(page) == ["#another", "no.md"]
