# SPDX-License-Identifier: BSD-2-Clause
"""Finished results are delivered: after Ctrl-C, after a failure, and if the table or a file fails."""

import json
import os
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from moderato.sim.lab import cli
from moderato.sim.lab.explain import profile
from moderato.sim.lab.measure import forward, trial_tables
from moderato.sim.lab.show import delivery
from moderato.sim.lab.show.errors import LabError

# Commands with several trials, except profile (below); FAKE_STALL; number of trials that end, of all.
COMMANDS = {
    "forward": ("forward --variant napi,original --frame-size 64,512 --frames 2000", 512, 2, 4),
    "tcp": ("tcp --variant napi --direction in,out --link 100,1000", 1000, 2, 4),
    "receiver": ("receiver --user-buffer 4096,1048576", 3 << 20, 1, 2),
    "strategies": ("strategies --strategy napi,original --situation ping,idle", 64, 2, 4),
    "rfc2544": ("rfc2544 --variant napi,original --frame-size 64,512", 512, 2, 4),
}
STARTER = """
import sys
from pathlib import Path, PosixPath
from moderato.sim.lab import cli
from moderato.sim.lab.measure import forward
from moderato.sim.lab.rfc2544 import matrix as rfc2544
from moderato.sim.lab.run.machine import Machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.strategies import comparison as strategies
from moderato.sim.lab.tcp import transfers as tcp
from moderato.soc.linux.kernel import Choice
for module in forward, rfc2544, strategies, tcp:
    module.machine = lambda *_, **__: {machine!r}
tcp.program = lambda zerocopy: Path({program!r})
tcp.symbols.of_guest = lambda _: []
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.fixture
def started(machine, tmp_path):
    """Starts a command that runs until `stall`, next to its output files."""
    program = tmp_path / "stream"
    program.write_text("stream")

    def start(words, stall: int = 0) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-c", STARTER.format(machine=machine, program=str(program)), *words],
            env={**os.environ, "FAKE_STALL": str(stall)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


@pytest.mark.parametrize(
    "name, stop", [("forward", signal.SIGTERM), *((name, signal.SIGINT) for name in COMMANDS)]
)
def test_a_stop_keeps_finished_trials(started, tmp_path, name, stop):
    """In the table, and in a file, in which each trial has a field that others are missing."""
    command, stall, finished, of = COMMANDS[name]
    file, words = tmp_path / "out.json", command.split()
    has_json = name != "rfc2544"  # its trials are in --results
    words += ["--json", str(file)] * has_json
    lab, said, done = started(words, stall), [], 0
    for line in lab.stderr:
        said.append(line)
        done += line.endswith(" done\n") and "ready" not in line
        if done == finished:
            lab.send_signal(stop)
            break
    table, rest = lab.communicate(timeout=60)
    said += rest.splitlines(keepends=True)
    assert lab.returncode == 128 + stop and said[-1] == "moderato: stopped\n"
    assert not [line for line in said if "fail" in line.lower() or "unsound" in line]
    assert f"\nPartial: {finished} of {of} had finished when it ended.\n" in table
    if not has_json:
        return
    trials = json.loads(file.read_text())
    assert [trial.pop("partial") for trial in trials] == [{"finished": finished, "of": of}] * finished
    assert f"moderato: wrote {file}\n" in said

    # The same trials as in a whole run, in their order.
    whole = started(words)
    assert whole.communicate(timeout=120)[0].count("Partial") == 0 and whole.returncode == 0
    for each in (all_of := json.loads(file.read_text())) + trials:
        del each["simulation"]
    assert len(all_of) == of and [each for each in all_of if each in trials] == trials


@pytest.mark.parametrize("folder_is_there", [False, True])
def test_a_stop_before_the_first_result_writes_nothing(started, machine, tmp_path, folder_is_there):
    """Nor does it leave a folder that it created for its results."""
    file, folder = tmp_path / "out.json", tmp_path / "captures"
    file.write_text("old")
    if folder_is_there:
        folder.mkdir()
    lab = started(
        [
            "forward",
            "--variant",
            "napi",
            "--frame-size",
            "64",
            "--frames",
            "2000",
            "--json",
            str(file),
            "--pcap",
            str(folder),
        ],
        stall=1,
    )
    for line in lab.stderr:
        if "1 of 1 variants ready" in line:
            break
    while not (folder.exists() and [*folder.iterdir()]):
        assert lab.poll() is None
        threading.Event().wait(0.05)
    lab.send_signal(signal.SIGTERM)
    table, said = lab.communicate(timeout=60)
    assert lab.returncode == 143 and (table, said) == ("", "moderato: stopped\n")
    assert file.read_text() == "old"
    assert folder.exists() == folder_is_there and [*tmp_path.glob("captures/*")] == []


@pytest.fixture
def lab(machine, monkeypatch):
    monkeypatch.setattr(forward, "machine", lambda *_, **__: machine)
    return lambda *words: cli.main(
        ["forward", "--variant", "napi", "--frame-size", "64,512", "--frames", "2000", *map(str, words)]
    )


def test_a_failing_trial_keeps_other_results(lab, monkeypatch, capsys, tmp_path):
    run, file = forward.trial.run, tmp_path / "out.json"
    first = threading.Event()

    def fail(asked, *rest):
        if asked.frame_bytes == 512:
            first.wait(30)
            raise LabError("the simulator failed: out of memory")
        try:
            return run(asked, *rest)
        finally:
            threading.Timer(0.5, first.set).start()  # when the result has been stored

    monkeypatch.setattr(forward.trial, "run", fail)
    assert lab("--json", file) == 1
    output = capsys.readouterr()
    assert output.err.splitlines()[-1] == "moderato: the simulator failed: out of memory"
    assert "\nPartial: 1 of 2 had finished when it ended.\n" in output.out
    assert [each["frame_bytes"] for each in json.loads(file.read_text())] == [64]


def test_a_failing_table_keeps_the_files(lab, monkeypatch, tmp_path):
    def render(_):
        raise ZeroDivisionError

    monkeypatch.setattr(trial_tables, "render", render)
    with pytest.raises(ZeroDivisionError):
        lab("--json", tmp_path / "out.json")
    assert len(json.loads((tmp_path / "out.json").read_text())) == 2


def test_table_without_a_reader(started, tmp_path):
    file = tmp_path / "out.json"
    lab = started(
        ["forward", "--variant", "napi", "--frame-size", "64", "--frames", "2000", "--json", str(file)]
    )
    lab.stdout.close()
    assert "Broken pipe" not in lab.stderr.read()
    assert lab.wait() == 128 + signal.SIGPIPE
    assert len(json.loads(file.read_text())) == 1


def test_a_failing_file_keeps_the_table(lab, monkeypatch, capsys, tmp_path):
    def full(*_):
        raise LabError("out.json could not be written: No space left on device")

    monkeypatch.setattr(forward.outputs, "write_json", full)
    assert lab("--json", tmp_path / "out.json") == 1
    output = capsys.readouterr()
    assert "64-byte frames" in output.out and "512-byte frames" in output.out
    assert "No space left on device" in output.err and "wrote" not in output.err


def test_a_stop_keeps_finished_profiles(monkeypatch, capsys, tmp_path):
    """All its files are of the profiled variant."""
    monkeypatch.setattr(profile, "machine", lambda *_: SimpleNamespace(conditions={}))
    monkeypatch.setattr(profile.state, "prepare", lambda _, names: dict.fromkeys(names))
    monkeypatch.setattr(profile.symbols, "of_guest", lambda _: [])
    monkeypatch.setattr(profile.attribution, "render", lambda profiles: f"{profiles}\n")
    monkeypatch.setattr(profile.attribution, "as_json", lambda each: {"variant": each})
    monkeypatch.setattr(profile, "fold", lambda profiles: f"{profiles}")
    monkeypatch.setattr(profile.flame_graph, "render", lambda profiles: f"{profiles}")
    monkeypatch.setattr(profile.forward, "report_problems", lambda *_: 0)
    monkeypatch.setattr(profile.runner, "run_all", stopped)
    files = {name: tmp_path / name for name in ("--folded", "--flame-graph", "--json")}
    words = [word for name, file in files.items() for word in (name, str(file))]
    assert cli.main(["profile", "--variant", "original,napi", *words]) == 130
    output = capsys.readouterr()
    assert "\nPartial: 1 of 2 had finished when it ended.\n" in output.out
    assert output.err.splitlines()[-1] == "moderato: stopped"
    assert json.loads(files["--json"].read_text()) == [
        {"variant": "original", "partial": {"finished": 1, "of": 2}}
    ]
    assert "original" in files["--folded"].read_text() and files["--flame-graph"].exists()


def stopped(jobs, what, found):
    found[0] = Finished(jobs[0][0].split()[0])
    raise KeyboardInterrupt


class Finished(str):
    result = None


def test_a_whole_run_has_no_mark():
    whole, part = delivery.Part(2, 2), delivery.Part(1, 2)
    assert whole.note == "" and whole.mark([{"a": 1}]) == [{"a": 1}]
    assert part.mark([{"a": 1}]) == [{"a": 1, "partial": {"finished": 1, "of": 2}}]
