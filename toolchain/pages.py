# SPDX-License-Identifier: BSD-2-Clause
"""Hooks of mkdocs: pages outside docs/, links to files that are no pages, and artefacts of commands."""

import os
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
OUTSIDE = {
    "README.md": "overview.md",  # docs/README.md is the site's first page
    **{
        name: name
        for name in (
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "cocotb-tests/README.md",
            "linux-driver/README.md",
            "sim/harness/README.md",
            "soc/cpu/README.md",
        )
    },
}
ARTEFACTS = {"report.html": "Report", "mutation.md": "Mutation testing"}  # of build/, if they are there
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def made() -> list[str]:
    return [name for name in ARTEFACTS if (ROOT / "build" / name).exists()]


def on_config(config):
    config.nav += [{ARTEFACTS[name]: name} for name in made()]


def on_files(files, config):
    sources = {place: ROOT / name for name, place in OUTSIDE.items()}
    sources |= {name: ROOT / "build" / name for name in made()}
    for place, source in sources.items():
        files.append(File.generated(config, place, abs_src_path=str(source)))


def on_page_markdown(markdown, page, config, files):
    """Links as the site needs them; the repository has them relative to the file."""
    folder = Path(page.file.abs_src_path).parent

    def follow(link: re.Match) -> str:
        text, name, chapter = link[1], link[2], link[3] or ""
        path = Path(os.path.normpath(folder / name))
        if re.match(r"\w+:", name) or not path.is_relative_to(ROOT):
            return link[0]
        inside = path.relative_to(ROOT).as_posix()
        if path.is_relative_to(DOCS):
            place = path.relative_to(DOCS).as_posix()
        elif inside in OUTSIDE:
            place = OUTSIDE[inside]
        elif config.repo_url:
            return f"[{text}]({config.repo_url}/blob/HEAD/{inside}{chapter})"
        else:
            return text
        here = Path(page.file.src_uri).parent
        return f"[{text}]({os.path.relpath(place, here)}{chapter})"

    return LINK.sub(follow, markdown)
