# SPDX-License-Identifier: BSD-2-Clause
"""All files that contain the version agree with pyproject.toml."""

import importlib.metadata
import re

from moderato.sim.lab.report import doc_numbers, placeholders
from moderato.toolchain import project
from moderato.toolchain.project import ROOT

MOST = 15  # unreleased entries; with more, it is time for a release


def headings(text: str) -> list[str]:
    return re.findall(r"^## (.*)$", text, re.MULTILINE)


def entries(text: str, heading: str) -> int:
    """The number of entries of a chapter of CHANGELOG.md."""
    chapter = re.split(r"^## .*$", text, flags=re.MULTILINE)[1 + headings(text).index(heading)]
    return len(re.findall(r"^- ", chapter, re.MULTILINE))


def test_changelog_begins_with_this_release():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert headings(text)[:2] == ["Unreleased", project.release()]
    assert entries(text, "Unreleased") <= MOST < entries(text, project.release())


def test_installed_package_has_this_release():
    assert importlib.metadata.version("moderato") == project.release()


def test_release_fills_every_placeholder():
    """Every placeholder of a version is in a file that a release fills."""
    values = {**doc_numbers.values(), "release": "9.8.7"}
    changed = {
        path.relative_to(ROOT).as_posix(): text
        for path, text in placeholders.files(doc_numbers.measured(values), values)
        if text != path.read_text()
    }
    assert set(changed) == {"CITATION.cff", "linux-driver/dkms.conf", "docs/upstream.md"}
    assert all(project.release() not in text for text in changed.values())
