# SPDX-License-Identifier: BSD-2-Clause
"""Pages, comments and messages use the words of docs/glossary.md, and none that it says to avoid."""

import io
import re
import subprocess
import tokenize

import pytest

from moderato.toolchain.project import ROOT

GLOSSARY = ROOT / "docs/glossary.md"
# Files and folders that follow the glossary; in code, their comments and strings.
COVERED = (
    "CONTRIBUTING.md",
    "README.md",
    "cocotb-tests/README.md",
    "docs",
    "sim/harness/README.md",
    "soc/cpu/README.md",
    "toolchain/pages.py",
)
# The glossary itself, and what is made from tables of other folders.
EXCEPT = ("docs/glossary.md", "docs/options.md", "docs/registers.md", "docs/tables.md")
PAGE_CODE = re.compile(r"```.*?```|`[^`]*`|^(?: {4}|\t)[^\n]*$|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
C_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
FINE = re.compile(r"\bstands for\b")


def avoided() -> list[str]:
    """The second column of the glossary's last table; words with capitals are patterns for people."""
    table = GLOSSARY.read_text().partition("## Words to avoid")[2]
    cells = [row.split("|")[2] for row in re.findall(r"^\|.*\|$", table, re.MULTILINE)[2:]]
    words = [word.strip() for cell in cells for word in cell.split(",")]
    return [word for word in words if word.islower()]


def prose(name: str, text: str) -> str:
    """What people read of a file."""
    if name.endswith(".md"):
        return PAGE_CODE.sub(" ", text)
    if name.endswith(".py"):
        kinds = (tokenize.COMMENT, tokenize.STRING)
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return "\n".join(token.string for token in tokens if token.type in kinds)
    if name.endswith((".c", ".cpp", ".h", ".scala")):
        return "\n".join(C_TEXT.findall(text))
    return ""


def wrong(name: str, text: str) -> list[str]:
    """The words to avoid in a file."""
    words = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in avoided())
    found = re.findall(rf"\b(?:{words})\b", FINE.sub(" ", prose(name, text)), re.IGNORECASE)
    return [" ".join(word.split()) for word in found]


def test_the_glossarys_words():
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "--", *COVERED], capture_output=True, text=True, check=True
    )
    names = [
        name for name in listed.stdout.splitlines() if name not in EXCEPT and (ROOT / name).is_file()
    ]
    texts = {name: (ROOT / name).read_text() for name in names if name.endswith((".md", ".py"))}
    assert len(texts) > 25
    assert {name: words for name, text in texts.items() if (words := wrong(name, text))} == {}


@pytest.mark.parametrize(
    "name, text",
    [
        ("page.md", "It is\nunder way. `anew` [x](behind.md) HZ stands for ticks.\n\n    beside\n"),
        ("code.py", "beside = 1  # under way\n"),
        ("code.py", 'print("under way")\n'),
        ("code.h", "int beside; /* under\n way */\n"),
        ("code.cpp", 'say("under way");\n'),
    ],
)
def test_a_word_to_avoid_is_found(name, text):
    assert wrong(name, text) == ["under way"]
