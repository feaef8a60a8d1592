# SPDX-License-Identifier: BSD-2-Clause
"""`moderato check`, and quotes in pages: outputs of commands equal those of this clone."""

import contextlib
import os
import re
import shlex
import subprocess
import sys
import threading
import time

import pytest

from moderato.sim.lab import cli
from moderato.sim.lab.compare import kept
from moderato.sim.lab.report import doc_numbers, quotes
from moderato.sim.lab.report.quotes import Quote
from moderato.sim.lab.show.errors import LabError
from moderato.toolchain import project
from moderato.toolchain.project import ROOT

HALF_HOUR = ROOT / "docs/first-half-hour.md"
# Commands that the tests cannot repeat: sessions depend on hosts and users, and `check` is this test.
UNREPEATABLE = (
    "./moderato live ",
    "./moderato check",
    "./moderato replay --variant napi --in0 mine.pcapng ",
    "./moderato wave ",  # its page names the commit of its cycles
    "./moderato forward --variant napi --frame-size 64,68 ",  # of a changed MAC
)


def test_this_clone_prints_the_kept_figures(capsys):
    """With the same versions of the inputs, they are equal to the digit."""
    made, here = kept.read()["made"], kept.here()
    if made["versions"] != here["versions"]:
        pytest.skip(" ".join(kept.differences(made, here)))
    status = cli.main(["check"])
    said = capsys.readouterr().out
    assert status == 0, said
    assert said.splitlines() == [f"equal    {command}" for chain in kept.SHORT for command in chain] + [
        "everything equal"
    ]


def test_all_commands_are_kept():
    """The kept commands are the right ones; one of them is a row in README and the first half hour."""
    commands = {command for chain in (*kept.SHORT, *kept.LONG) for command in chain}
    printed = kept.read()["printed"]
    assert printed.keys() == commands - {"cat table.json"}
    numbers = [
        re.findall(r"^napi-tx-off (.*)$", "\n".join(printed[command]), re.MULTILINE)
        for command in (kept.SHORT[0][0], kept.WHOLE)
    ]
    figures = [{number for row in each for number in row.split()} for each in numbers]
    assert (
        figures[1]
        >= figures[0]
        >= {doc_numbers.values()[f"napi-tx-off {name}"] for name in ("received", "forwarded", "fps")}
    )  # it only lacks columns of zeros


# Quotes -------------------------------------------------------------------------------------------


def test_every_quote_is_up_to_date(tmp_path, monkeypatch, capfd):
    """Those that are not kept take no time, and are compared here."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "captures").mkdir()
    printed = kept.read()["printed"]
    found = []
    for page in quotes.pages():
        for quote in quotes.quotes(page.read_text()):
            command = quotes.SAME.get(quote.command, quote.command)
            if (
                quote.lines
                and command.startswith(("./moderato", "make"))
                and command not in printed
                and not command.startswith(UNREPEATABLE)
            ):
                assert re.fullmatch(pattern(quote), printed_at_once(command, capfd)), quote.command
                found.append(command.split()[1:2])
    assert found == [[], ["--help"], ["forwrad"], ["forward"], ["forward"], ["replay"]]


def printed_at_once(command: str, capfd) -> str:
    if command == "make":
        # Like in a shell: below `make test`, make would print the directories that it enters.
        shell = {
            name: value for name, value in os.environ.items() if name not in ("MAKELEVEL", "MAKEFLAGS")
        }
        return subprocess.run(
            ["make"], cwd=ROOT, env=shell, text=True, capture_output=True, check=True
        ).stdout
    with contextlib.suppress(SystemExit):  # of help
        cli.main(shlex.split(command)[1:])
    return "".join(capfd.readouterr())


def pattern(quote: Quote) -> str:
    return "".join(
        r"(?:.*\n)*"
        if line.strip() == quotes.GAP
        else ".*".join(map(re.escape, line.split(quotes.GAP))) + r"\n"
        for line in quote.lines
    )


PAGE = """\
Text.

    $ ./moderato forward --load 2 \\
                         --frames 9
    moderato: 1 of 1 trials, 3 s
    64-byte frames, 2 %

    napi  1  2.0
    …
    sum  3
    …
    last  4
    moderato: wrote x

More text, and a block that is no command:

    napi  1  2.0

    $ ls
    a
    $ cat a
"""
PRINTED = {
    "./moderato forward --load 2 --frames 9": [
        "64-byte frames, 2 %",
        "",
        "napi  7  8.9",
        "left out 1",
        "sum  33",
        "left out 2",
        "last  44",
        "new",
    ]
}


def test_quotes_of_a_page():
    assert [(quote.command, len(quote.lines)) for quote in quotes.quotes(PAGE)] == [
        ("./moderato forward --load 2 --frames 9", 9),
        ("ls", 1),
        ("cat a", 0),
    ]


def test_a_quote_is_filled():
    """Omitted lines stay omitted; the last lines of the quote are the last of the output."""
    expected = PAGE.replace("napi  1  2.0\n    …", "napi  7  8.9\n    …")
    expected = expected.replace("sum  3", "sum  33").replace("last  4\n", "last  44\n    new\n")
    assert quotes.fill(PAGE, PRINTED) == expected
    assert quotes.fill(PAGE, {}) == PAGE


def test_a_quote_keeps_its_end():
    """It ends with the same line as before, even if lines were added or removed, else has as many."""
    for printed, made in (
        (["title 7", "row 8", "new 9", "end 1", "x"], 4),
        (["title 7", "end 1", "x"], 2),
        (["title 7", "row 8", "row 9", "x"], 3),
    ):
        quote = Quote("a", 0, ["title 1", "row 1", "end 2", "…"])
        assert quotes.filled(quote, printed) == [*printed[:made], "…"]


def test_a_quote_that_does_not_fit():
    with pytest.raises(LabError, match="prints no line like 'sum  3' any more; fix the page"):
        quotes.fill(PAGE, {"./moderato forward --load 2 --frames 9": ["64-byte frames", "", "napi"]})


def test_a_stale_quote_is_found(monkeypatch):
    """A kept figure changes: `export --check` names the page."""
    there = kept.read()
    command = kept.SHORT[2][0]
    there["printed"][command] = [line.replace("T_TX ", "T_TX 9") for line in there["printed"][command]]
    monkeypatch.setattr(kept, "read", lambda: there)
    assert doc_numbers.stale() == ["docs/first-half-hour.md"]


# The command --------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A file of its own for kept output, and commands that take no time."""
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    monkeypatch.setattr(kept, "FILE", tmp_path / "check.json")
    monkeypatch.setattr(kept, "TABLE", tmp_path / "lab.json")
    monkeypatch.setattr(
        kept,
        "SHORT",
        (("echo 5 frames; echo ------; echo moderato: 3 s >&2; echo > made", "ls"), ("echo $COLUMNS",)),
    )
    monkeypatch.setattr(kept, "LONG", (("cat table.json",),))
    monkeypatch.setattr(kept, "here", lambda: MADE)
    monkeypatch.setattr(kept, "prepare", lambda: None)  # nothing is simulated
    monkeypatch.setattr(doc_numbers, "write", lambda: None)
    return tmp_path / "check.json"


MADE = {
    "commit": None,
    "parts": {"driver": "1", "Image": "2"},
    "versions": {"Linux": "6.12", "cc": "12"},
}


def update(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(kept, "LONG", (("echo [] > table.json", "cat table.json"),))
        assert cli.main(["check", "--update"]) == 0


def test_equal_and_different(store, monkeypatch, capsys):
    update(monkeypatch)
    assert kept.read()["printed"] == {
        kept.SHORT[0][0]: ["5 frames", "------"],
        "ls": ["made", "moderato"],
        "echo $COLUMNS": ["80"],
        "echo [] > table.json": [],
    }
    assert (store.parent / "lab.json").read_text() == "[]\n"
    capsys.readouterr()
    assert cli.main(["check"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["equal    echo $COLUMNS", "everything equal"]

    text = store.read_text()
    for now, other in ('"5 frames"', '"6 frames"'), ('"------"', '"-----"'), ('"80"', '"80", "81"'):
        text = text.replace(now, other)
    store.write_text(text)
    monkeypatch.setattr(
        kept,
        "here",
        lambda: (
            MADE | {"parts": {"driver": "3", "Image": "2"}, "versions": {"Linux": "6.12", "cc": "14"}}
        ),
    )
    assert cli.main(["check"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"differs  {kept.SHORT[0][0]}",
        "  - 6 frames",
        "  - -----",
        "  + 5 frames",
        "  + ------",
        "equal    ls",
        "differs  echo $COLUMNS",
        "  - 81",
        "2 of 3 differ: - is what check.json has, + what was printed now.",
        "cc: 12 there, 14 here.",
        "Of what runs in the simulation, these parts differ: driver.",
        "Commit None is not in this clone, so the changed files are unknown.",
    ]


def test_equal_parts():
    said, _ = kept.differences(MADE, MADE)
    assert said.startswith("What runs in the simulation is the same to the bit")


def test_changed_files(tmp_path, monkeypatch):
    """Files that affect a simulation, committed or not."""
    monkeypatch.setattr(project, "ROOT", tmp_path)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@x"]
    for folder in ("linux-driver/tests", "docs", "cocotb-tests"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "x.c").touch()
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], check=True)
    commit = project.git("rev-parse", "HEAD")
    assert kept.changed(commit) == f"Files changed since commit {commit[:10]}: none."
    for name in ("linux-driver/tests/x.c", "docs/x.c", "cocotb-tests/x.c", "linux-driver/new.c"):
        (tmp_path / name).write_text("changed")
    assert kept.changed(commit) == f"Files changed since commit {commit[:10]}: linux-driver/new.c."
    for number in range(11):
        (tmp_path / f"{number}.c").touch()
    assert kept.changed(commit).endswith("7.c, 8.c and 2 more.")
    assert "is not in this clone" in kept.changed("0" * 40)


def test_a_command_that_fails(store, monkeypatch, capsys):
    update(monkeypatch)
    monkeypatch.setattr(kept, "SHORT", (("echo 'moderato: no room'; exit 3", "ls"), ("sleep 100",)))
    begin = time.monotonic()
    assert cli.main(["check"]) == 1
    assert "`echo 'moderato: no room'; exit 3` ended with status 3: no room" in capsys.readouterr().err
    assert time.monotonic() - begin < 50  # the others are ended


def test_stopped_check_leaves_no_process(store):
    """And starts no other."""
    started = kept._Processes()
    process = started("sleep 100 & sleep 100", store.parent)
    threading.Timer(0.1, started.end).start()
    output, _ = process.communicate()
    assert output == "" and process.returncode < 0
    with pytest.raises(LabError, match="no command is wanted any more"):
        started("true", store.parent)


def test_the_launcher_of_the_commands(tmp_path, monkeypatch):
    """The commands run this clone's own code."""
    assert kept.run([("./moderato --version", f"{shlex.quote(sys.executable)} --version")])[
        "./moderato --version"
    ] == [f"moderato {project.title()}"]
