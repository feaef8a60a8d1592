# SPDX-License-Identifier: BSD-2-Clause
"""The version stands in pyproject.toml; all else that names it agrees."""

import importlib.metadata
import re

from moderato.sim.lab.report import doc_numbers, placeholders
from moderato.toolchain import project
from moderato.toolchain.project import ROOT

MOST = 15  # entries that are not released: more, and it is time for a release


def headings(text: str) -> list[str]:
    return re.findall(r"^## (.*)$", text, re.MULTILINE)


def entries(text: str, heading: str) -> int:
    """Of a chapter of the list of changes."""
    chapter = re.split(r"^## .*$", text, flags=re.MULTILINE)[1 + headings(text).index(heading)]
    return len(re.findall(r"^- ", chapter, re.MULTILINE))


def test_the_list_of_changes_begins_with_this_release():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert headings(text)[:2] == ["Unreleased", project.release()]
    assert entries(text, "Unreleased") <= MOST < entries(text, project.release())


def test_what_is_installed_is_this_release():
    assert importlib.metadata.version("moderato") == project.release()


def test_a_release_is_written_everywhere():
    """Wherever the name of a version stands, it is a place that is filled."""
    values = {**doc_numbers.values(), "release": "9.8.7"}
    changed = {
        path.relative_to(ROOT).as_posix(): text
        for path, text in placeholders.files(doc_numbers.measured(values), values)
        if text != path.read_text()
    }
    assert set(changed) == {"CITATION.cff", "linux-driver/dkms.conf", "docs/upstream.md"}
    assert all(project.release() not in text for text in changed.values())
