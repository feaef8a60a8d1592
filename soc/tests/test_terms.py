# SPDX-License-Identifier: BSD-2-Clause
"""Pages, comments and messages use the words of docs/glossary.md, and none that it says to avoid."""

import io
import re
import subprocess
import tokenize

import pytest

from moderato.toolchain.project import ROOT

GLOSSARY = ROOT / "docs/glossary.md"
# All texts of the repository, in code its comments, docstrings and sentences in strings, except data,
# generated files, the glossary, and this test of its words. `tells` is a field of gateware/options.py; a
# mutant's strings are code of the gateware.
EXCEPT = (
    "LICENSES",
    "docs/data",
    "docs/glossary.md",
    "gateware/options.py",
    "cocotb-tests/mutate/killers.txt",
    "cocotb-tests/mutate/mutants",
    "soc/tests/test_terms.py",
    "*.gz",
    "*.json",
    "*.patch",
    "*.png",
    "*.svg",
)
PAGE_CODE = re.compile(r"```.*?```|`[^`]*`|^(?: {4}|\t)[^\n]*$|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
C_LIKE = (".S", ".c", ".cpp", ".h", ".js", ".scala", ".sv", ".v")
C_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])* (?:\\.|[^"\\\n])*"', re.DOTALL)
IDENTIFIERS = re.compile(r"`[^`]*`|\{[^{}]*\}")
# The last two are a field of moderato-sim's `talk`, and a figure of the memory port.
FINE = re.compile(r"\b(?:stands (?:for|still)|connection refused|refuse:|port: behind)", re.IGNORECASE)


def avoided() -> list[str]:
    """The second column of the glossary's last table; words with capitals are patterns for people."""
    table = GLOSSARY.read_text().partition("## Words to avoid")[2]
    cells = [row.split("|")[2] for row in re.findall(r"^\|.*\|$", table, re.MULTILINE)[2:]]
    words = [word.strip() for cell in cells for word in cell.split(",")]
    return [word for word in words if word.islower()]


def prose(name: str, text: str) -> str:
    """The text of a file for readers: a page without its code; comments and sentences of code."""
    if name.endswith(".md"):
        return PAGE_CODE.sub(" ", text)
    if name.endswith(C_LIKE):
        return "\n".join(C_TEXT.findall(text))
    if not name.endswith(".py"):
        return text
    strings = (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    sentences = "\n".join(
        token.string.strip("#\"' ")
        for token in tokens
        if token.type == tokenize.COMMENT or token.type in strings and len(token.string.split()) > 1
    )
    return IDENTIFIERS.sub(" ", sentences)


def wrong(name: str, text: str) -> list[str]:
    """The words to avoid in a file."""
    words = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in avoided())
    found = re.findall(rf"\b(?:{words})\b", FINE.sub(" ", prose(name, text)), re.IGNORECASE)
    return [" ".join(word.split()) for word in found if not word.isupper()]


def test_the_glossarys_words():
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "--", ".", *(f":!{pattern}" for pattern in EXCEPT)],
        capture_output=True,
        text=True,
        check=True,
    )
    names = [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    texts = {name: (ROOT / name).read_text() for name in names}
    assert len(texts) > 1000
    assert {name: words for name, text in texts.items() if (words := wrong(name, text))} == {}


@pytest.mark.parametrize(
    "name, text",
    [
        ("page.md", "It is\nunder way. `anew` [x](behind.md) HZ stands for ticks.\n\n    beside\n"),
        ("code.py", "beside = 1  # under way\n"),
        ("code.py", 'print("under way")\n'),
        ("code.py", "# under\n# way, `tells`\n"),
        ("code.h", "int beside; /* under\n way */\n"),
        ("code.cpp", 'say("under way"); say("beside");\n'),
        ("code.v", "wire beside; // under way\n"),
        ("script", "# BEHIND is under way\n"),
    ],
)
def test_a_word_to_avoid_is_found(name, text):
    assert wrong(name, text) == ["under way"]
