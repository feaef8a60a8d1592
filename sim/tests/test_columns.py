# SPDX-License-Identifier: BSD-2-Clause
"""Tables fit their width without losing a value; so do the tables of all commands."""

import dataclasses
import os
import pty
import random
import re
import struct
import sys
import termios
from fcntl import ioctl

import pytest
import test_attribution

from moderato.sim.lab import cli
from moderato.sim.lab.explain import attribution
from moderato.sim.lab.measure import forward, results, trial_tables
from moderato.sim.lab.rfc2544 import matrix as rfc2544
from moderato.sim.lab.show.columns import columns, sentence, width
from moderato.sim.lab.show.progress import Progress
from moderato.sim.lab.strategies import comparison as strategies
from moderato.sim.lab.tcp import transfers as tcp

ROWS = [
    ["variant", "offered", "lost", "at ring", "at FIFO", "Mb/s"],
    ["napi", "59524", "0", "56516", "0", "6.45"],
    ["napi-tx-off", "59524", "0", "55108", "0", "10.04"],
]
GROUP = {"dropped:": range(3, 5)}


def test_a_table_drops_columns_of_zeros_before_it_wraps(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    groups, heads, _, *rows = columns(ROWS, GROUP)
    assert groups.split() == ["dropped:"] and len(rows) == 2
    assert re.split(r"  +", heads) == ROWS[0]
    monkeypatch.setenv("COLUMNS", "51")
    assert len(columns(ROWS, GROUP)) == 5  # it fits
    monkeypatch.setenv("COLUMNS", "37")
    lines = columns(ROWS, GROUP)
    assert re.split(r"  +", lines[1]) == ["variant", "offered", "at ring", "Mb/s"]
    assert lines[-1] == "All 0: lost; dropped at FIFO."
    monkeypatch.setenv("COLUMNS", "24")
    assert sum(line.startswith("variant") for line in columns(ROWS, GROUP)) > 1


@pytest.mark.parametrize("seed", range(40))
def test_random_tables_keep_every_value(seed, monkeypatch):
    """Every line fits, and every cell but zeros is below its column's title, in the row of its key."""
    rng = random.Random(seed)
    count, limit = rng.randrange(1, 30), rng.randrange(30, 120)
    monkeypatch.setenv("COLUMNS", str(limit))
    heads = [f"h{number}{'x' * rng.randrange(12)}" for number in range(count)]
    rows = [
        [f"key{row}", *(rng.choice(("0", f"{rng.random():.4f}")) for _ in heads)]
        for row in range(rng.randrange(1, 5))
    ]
    start = rng.randrange(1, count + 1)
    lines = columns(
        [["", *heads], *rows], {"a group:": range(start, rng.randrange(start, count + 1) + 1)}
    )
    assert max(map(len, lines)) <= limit
    found, head = {}, []
    for line in lines[: lines.index("")] if "All 0" in lines[-1] and "" not in lines else lines:
        if re.match(r" +h\d", line):
            head = [(word.group(), word.end()) for word in re.finditer(r"\S+", line)]
        elif line.startswith("key"):
            ends = {word.end(): word.group() for word in re.finditer(r"\S+", line)}
            found |= {(line.split()[0], name): ends[end] for name, end in head}
    _, _, said = " ".join(lines).partition("All 0: ")
    zero = re.split("[,;] ", said.replace("a group ", "").rstrip("."))
    for key, *cells in rows:
        for name, cell in zip(heads, cells):
            assert found.get((key, name), "0" if name in zero else None) == cell


def test_long_words_continue_in_the_next_row(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    lines = columns(
        [
            ["", "napi-tx-off through 1000 Mb/s buffer 4096", ""],
            ["driver", "123", "the driver: rings, interrupts, and more of it"],
        ],
        left=True,
    )
    assert max(map(len, lines)) <= 40
    assert " ".join(" ".join(lines).split()).startswith("napi-tx-off through 1000 Mb/s buffer 4096")


@pytest.mark.parametrize("value", ["", "0", "wide", "-5"])
def test_invalid_columns_variable_is_ignored(value, monkeypatch):
    monkeypatch.setenv("COLUMNS", value)
    assert width() is None  # the tests' output is captured


def test_width_of_the_terminal_is_used(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    master, terminal = pty.openpty()
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 66, 0, 0))
    with os.fdopen(terminal, "w") as file, os.fdopen(master, "r"):
        monkeypatch.setattr(sys, "stdout", file)
        assert width() == 66
        assert max(map(len, sentence("word " * 40).splitlines())) <= 66


def test_progress_stays_in_its_line(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    progress = Progress("trials", 12)
    for number in range(9):
        progress.share(f"napi-tx-off {number} bytes 100 %", 0.5)
    progress.show()
    shown = capsys.readouterr().err
    assert shown.startswith("\r\033[Kmoderato: 0 of 12 trials") and len(shown) == 4 + 79


# Of the commands ----------------------------------------------------------------------------------


@pytest.fixture
def lab(machine, monkeypatch, tmp_path):
    """All commands that print tables, with the fake machine."""
    for module in (forward, rfc2544, strategies, tcp):
        monkeypatch.setattr(module, "machine", lambda *_, **__: machine)
    program = tmp_path / "stream"
    program.write_text("stream")
    monkeypatch.setattr(tcp, "program", lambda zerocopy: program)
    monkeypatch.setattr(tcp.symbols, "of_guest", lambda _: [])
    return lambda words: cli.main(words.split())


@pytest.mark.parametrize(
    "words",
    [
        "forward --frame-size 64 --frames 2000",
        "forward --frame-size 64,1518 --frames 2000 --streams 16 --variant hw-moderated",
        "tcp --direction in,through --variant napi-tx-128,hw-moderated --user-buffer 4096",
        "tcp --direction in --variant all --link 10,1000 --profile",
        "receiver",
        "strategies --strategy napi-full,hw-moderated --situation ping,50%,urgent",
        "rfc2544 --test loss,burst --variant napi-tx-128 --load 100,50 --frame-size 64",
    ],
)
def test_no_line_of_a_command_is_too_wide(words, lab, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    assert lab(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 5 and max(map(len, lines)) <= 50, max(lines, key=len)


def test_no_line_of_profiles_and_replays_is_too_wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    profiles = [test_attribution.profile()] * 9
    port = results.Port(**{field.name: 12345 for field in dataclasses.fields(results.Port)})
    replayed = results.Result(
        results.Trial("napi", None, None, 10, 100),
        100_000_000,
        1000,
        [port, port],
        {},
        1.0,
        0,
        0,
        1.0,
        [],
        delivered=0,
    )
    for text in attribution.render(profiles), trial_tables.render_replay(replayed):
        assert max(map(len, text.splitlines())) <= 80
