# SPDX-License-Identifier: BSD-2-Clause
"""Two results, and two commits, compared."""

import copy
import json
import os
import signal
import subprocess
import sys
from random import Random

import psutil
import pytest
import test_attribution
from damaged import damaged

from moderato.sim.lab import cli
from moderato.sim.lab.compare import commits, difference_tables, figures, sides
from moderato.sim.lab.explain import attribution
from moderato.sim.lab.measure.results import LATENCY, Port, Result, Trial


def trial(variant: str, frame_bytes: int = 64, received: int = 100, **more) -> dict:
    port = Port(
        offered=1000,
        answers=0,
        received=received,
        forwarded=90,
        dropped_at_ring=10,
        dropped_at_fifo=0,
        dropped_damaged=0,
        dropped_filtered=0,
        corrupted=0,
        reordered=0,
        rx_interrupts=7,
        tx_interrupts=0,
        rx_withdrawn=0,
        tx_withdrawn=0,
        fps=1000.0,
        mbps=0.5,
    )
    result = Result(
        Trial(variant, frame_bytes, 100, 1000, 100),
        100_000_000,
        1000,
        [port, port],
        dict.fromkeys(LATENCY, 1000),
        12.5,
        0,
        0,
        1.0,
        [],
        conditions={"version": "abc", "nic": "moderato", **more},
    )
    return result.as_json()


@pytest.fixture
def compare(tmp_path, capsys):
    """Compare two lists of results, by their files; returns the printed lines without their padding."""

    def run(a, b, *words):
        for name, results in (("a", a), ("b", b)):
            (tmp_path / name).write_text(json.dumps(results))
        status = cli.main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), *words])
        output = capsys.readouterr()
        assert status == 0, output.err
        return [" ".join(line.split()) for line in output.out.splitlines()]

    return run


def test_a_board_stands_next_to_the_simulation(compare, tmp_path):
    """Each with its own clock and link; the simulated memory is none of the board's."""
    board = trial("napi", received=110) | {"on": "hardware", "sys_clk_hz": 84_375_000, "link_mbps": 1000}
    lines = compare([trial("napi"), trial("tx-off")], [board], "--json", str(tmp_path / "out.json"))
    for line in (
        "on: A simulation, B hardware",
        "sys clk hz: A 100000000, B 84375000",
        "link mbps: A 100, B 1000",
        "memory: A ideal, B none",
        "received 200 220 +20 +10.0 %",
        "Only in A: tx-off.",
    ):
        assert line in lines
    [pair] = json.loads((tmp_path / "out.json").read_text())
    assert pair["figures"]["forwarded"] == [180, 180]


def test_only_differences_are_shown(compare):
    lines = compare(
        [trial("napi"), trial("tx-off"), trial("napi", 512)],
        [trial("tx-off"), trial("napi", received=110, version="def")],
    )
    assert "napi, 64 bytes" in lines and "received 200 220 +20 +10.0 %" in lines
    assert not any(line.startswith(("forwarded", "lost", "latency")) for line in lines)
    assert "No figure is different: tx-off, 64 bytes." in lines
    assert "Only in A: napi, 512 bytes." in lines and "version: A abc, B def" in lines


def test_equal_results_have_no_difference(compare):
    assert compare([trial("napi")], [trial("napi")])[-1] == "No figure is different."


def test_setting_with_one_value_in_each_file_is_compared(compare):
    """It may be the variant, or a user's setting: results are paired by all other settings."""
    lines = compare(
        [trial("napi"), trial("napi", 512)],
        [
            trial("tx-off", received=90, ethtool=["-C rx-usecs 50"]),
            trial("tx-off", 512, ethtool=["-C rx-usecs 50"]),
        ],
    )
    assert "variant: A napi, B tx-off" in lines
    assert "ethtool: A none, B -C rx-usecs 50" in lines
    assert "64 bytes" in lines and "received 200 180 -20 -10.0 %" in lines


def test_other_clock_or_memory_is_shown(compare):
    slow = trial("napi", memory="dram", received=60) | {"sys_clk_hz": 84_000_000}
    lines = compare([trial("napi")], [slow])
    assert "memory: A ideal, B dram" in lines
    assert "sys clk hz: A 100000000, B 84000000" in lines
    assert "received 200 120 -80 -40.0 %" in lines


def test_functions_with_different_cycles(compare, tmp_path):
    a = attribution.as_json(test_attribution.profile())
    b = copy.deepcopy(a)
    b["functions"] |= {"nobody": 8, "new": 3, "hardly": 0.2}
    b["terms"]["other"]["cycles"] += 6
    lines = compare([a], [b], "--json", str(tmp_path / "out"))
    # Per frame, of two frames; the largest difference is first.
    assert lines[-2:] == ["nobody 1.0 4.0 +3.0", "new 0.0 1.5 +1.5"]
    assert "other, cycles 1 4 +3 +300.0 %" in lines
    (written,) = json.loads((tmp_path / "out").read_text())
    assert written["functions"]["nobody"] == [1, 4]
    assert written["figures"]["cycles/frame"][0] == 34


def test_profiles_of_two_harts_are_paired(compare):
    """The figures of each hart are not settings."""
    a = attribution.as_json(test_attribution.profile()) | {"harts": [{"terms": {"T_CS": 1}}, {}]}
    assert (
        compare([a], [a | {"harts": [{"terms": {"T_CS": 2}}, {}]}])[-1]
        == "no function moved by 0.5 cycles per frame or more."
    )


TRANSFER = {
    "goodput_mbps": 50.5,
    "segments": 10,
    "direction": "in",
    "cpu_idle_percent": 1.5,
    "off": ["tso"],
    "round_trip_us": {"median": 20},
    "profile": {"layers": {"driver": 50}, "functions": {"memcpy": 25}},
}


def test_transfers_have_their_own_figures():
    assert figures.kind(TRANSFER) == "transfer"
    assert figures.figures(TRANSFER)["driver, cycles"] == 5
    assert figures.functions(TRANSFER) == {"memcpy": 2.5}


@pytest.mark.parametrize(
    "content, says",
    [
        (b"\xff", "is no JSON"),
        (b"{}", "has no results"),
        (b"[]", "has no results"),
        (b"[1]", "has no results"),
        (b'[{"key": 1}]', "has no results"),
        (b"[" * 100_000, "is no JSON"),
        (json.dumps([trial("napi") | {"ports": None}]).encode(), "result 1 of "),
    ],
)
def test_files_without_results(content, says, tmp_path, capsys):
    (tmp_path / "a").write_bytes(content)
    (tmp_path / "b").write_text(json.dumps([trial("napi")]))
    assert cli.main(["compare", str(tmp_path / "b"), str(tmp_path / "a")]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", ["trial", "transfer", "profile"])
def test_damaged_results(kind, seed, tmp_path, capsys):
    """The error names the file; or the damage has no effect."""
    results = {
        "trial": [trial("napi"), trial("napi", 512)],
        "transfer": [TRANSFER],
        "profile": [attribution.as_json(test_attribution.profile())],
    }[kind]
    random = Random(seed)
    for _ in range(20):
        bad = damaged(results, random)
        for name, content in (("good", results), ("bad", bad)):
            (tmp_path / name).write_text(json.dumps(content))
        for pair in (("good", "bad"), ("bad", "bad")):
            status = cli.main(
                [
                    "compare",
                    *(str(tmp_path / side) for side in pair),
                    "--json",
                    str(tmp_path / "out.json"),
                ]
            )
            said = capsys.readouterr()
            assert status in (0, 2), bad
            assert (
                status == 0
                or len(said.err.splitlines()) == 1
                and "bad" in said.err
                or "A has" in said.err
            ), bad


def test_results_of_different_commands(tmp_path, capsys):
    (tmp_path / "a").write_text(json.dumps([trial("napi")]))
    (tmp_path / "b").write_text(json.dumps([attribution.as_json(test_attribution.profile())]))
    assert cli.main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 2
    assert "A has figures of a trial, B of a profile" in capsys.readouterr().err


def test_table_without_results():
    pairs = figures.Pairs([trial("napi"), trial("tx-off")], [trial("original")])
    assert "No result of A has the settings of one of B." in difference_tables.render(["a", "b"], pairs)


# Commits ------------------------------------------------------------------------------------------

COMMAND = """\
import json, sys, time
from pathlib import Path
print("moderato: begun", file=sys.stderr, flush=True)
if "wait" in {says!r}:
    time.sleep(1000)
Path(sys.argv[sys.argv.index("--json") + 1]).write_text(json.dumps([{result}]))
"""


def git(repository, *words) -> str:
    return subprocess.run(
        ["git", "-C", repository, "-c", "user.name=A", "-c", "user.email=a@example.org", *words],
        text=True,
        capture_output=True,
        check=True,
    ).stdout


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A clone of three commits. The first needs other Python packages, the last one waits."""
    root = tmp_path / "clone"
    for folder in ("top", "sim/lab"):
        (root / folder).mkdir(parents=True)
    (root / "top/__init__.py").touch()
    git(tmp_path, "init", "-q", root)
    for number, says in ((1, "first"), (2, "second"), (3, "wait")):
        (root / "pyproject.toml").write_text(
            f"project = {{dependencies = {['other'] * (number == 1)}}}\nbuild-system = {{}}\n"
            '[tool.setuptools.package-dir]\nmoderato = "top"\n"moderato.sim" = "sim"\n'
        )
        program = COMMAND.format(says=says, result=trial("napi", received=100 * number))
        (root / "sim/lab/cli.py").write_text(program)
        (root / "moderato").write_text(f"#!{sys.executable}\n{program}")
        (root / "moderato").chmod(0o755)
        git(root, "add", "-A")
        git(root, "commit", "-qm", says)
        git(root, "tag", says)
    for module in (commits, sides):
        monkeypatch.setattr(module, "ROOT", root)
    return root


def test_commits_run_the_same_command(repository, capsys):
    """One commit uses packages of its own, one those of this clone; nothing remains afterwards."""
    assert cli.main(["compare", "first", "second", "--run", "forward --variant napi"]) == 0
    output = capsys.readouterr()
    lines = [" ".join(line.split()) for line in output.out.splitlines()]
    assert "received 200 400 +200 +100.0 %" in lines
    assert lines[0].startswith("A: first: ") and lines[0].endswith(" first")
    assert {"moderato: A: begun", "moderato: B: begun"} <= set(output.err.splitlines())
    assert len(git(repository, "worktree", "list").splitlines()) == 1


def test_a_commit_whose_command_fails(repository, capsys):
    (repository / "moderato").write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    assert cli.main(["compare", "second", str(repository)]) == 1
    assert (
        f"{repository}: `profile --variant napi-tx-off` ended with status 1" in capsys.readouterr().err
    )
    assert len(git(repository, "worktree", "list").splitlines()) == 1


@pytest.mark.parametrize(
    "words, says",
    [
        ("nonsense second", "nonsense is no file, and no commit of this clone"),
        ("{file} second", "file is a file, and second is not; name two files, or two commits"),
        ("second {file}", "file is a file, and second is not; name two files, or two commits"),
        ("{file} {file} --run profile", "--run is for commits"),
        ("first second --run shell", "'shell' is not among what commits are compared by"),
        ("first second --run 'profile --json x'", "leave --json"),
        ("first second --run 'profile --json=x'", "leave --json"),
        ("first second --run 'forward --variant napy'", "did you mean napi?"),
        ("first second --run '", "is not among"),
    ],
)
def test_wrong_comparison(words, says, repository, tmp_path, capsys):
    (tmp_path / "file").write_text(json.dumps([trial("napi")]))
    words, _, run = words.format(file=tmp_path / "file").partition(" --run ")
    assert cli.main(["compare", *words.split(), *(["--run", run.strip("'")] if run else [])]) == 2
    output = capsys.readouterr()
    assert says in output.err and output.out == ""


def test_ctrl_c_leaves_no_worktree_and_no_process(repository, tmp_path):
    program = (
        "import sys; from pathlib import Path; from moderato.sim.lab import cli\n"
        "from moderato.sim.lab.compare import commits, sides\n"
        "commits.ROOT = sides.ROOT = Path(sys.argv[1])\n"
        "sys.exit(cli.main(['compare', 'second', 'wait']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, repository],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    while "moderato: B: begun" not in process.stderr.readline():
        assert process.poll() is None
    assert len(git(repository, "worktree", "list").splitlines()) == 3
    process.send_signal(signal.SIGINT)
    assert "moderato: stopped" in process.stderr.read()
    assert process.wait() == 130
    assert len(git(repository, "worktree", "list").splitlines()) == 1
    assert not list(tmp_path.glob("moderato-compare-*"))
    running = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
    assert not any(str(tmp_path / "moderato-compare-") in line for line in running)
