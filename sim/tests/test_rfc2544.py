# SPDX-License-Identifier: BSD-2-Clause
"""RFC 2544's tests: the search on calculated devices, the rest with a fake simulator."""

import contextlib
import gzip
import itertools
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from unittest.mock import Mock

import distributed
import made_up_trials as made_up
import psutil
import pytest

from moderato.sim.lab.report import detail
from moderato.sim.lab.report.records import Records
from moderato.sim.lab.report.table import MISSING
from moderato.sim.lab.rfc2544 import matrix, metrics, search_tables, tests
from moderato.sim.lab.rfc2544.search import Grid, Outcome, highest
from moderato.sim.lab.rfc2544.trials import Task, growth, reset_seen, steady
from moderato.sim.lab.run import store
from moderato.sim.lab.show.errors import LabError

LINE = 148_809.5  # frames/s of 64 bytes at 100 Mb/s


# Search -------------------------------------------------------------------------------------------


def polling(capacity: float):
    """Drops what it cannot forward, at no cost."""
    return lambda rate: Outcome(rate <= capacity, rate, min(rate, capacity), min(rate, capacity))


def interrupted(rx: float, rest: float):
    """Receives first (`rx` seconds per frame), and forwards in the remaining time (`rest` per frame)."""

    def device(rate: float) -> Outcome:
        received = min(rate, 1 / rx)
        forwarded = min(received, (1 - received * rx) / rest)
        return Outcome(forwarded >= rate, rate, forwarded, received)

    return device


def find(device, grid: Grid, start: int = 0) -> tuple[int | None, int]:
    """The result, and the number of trials."""
    search, trials = highest(grid, start), 0
    step = next(search)
    try:
        while True:
            trials += 1
            assert trials < 60
            step = search.send(device(grid.rate(step)))
    except StopIteration as end:
        return end.value, trials


@pytest.mark.parametrize("capacity", [1, 149, 1001, 7600, 18_333.3, 100_000, 148_800])
def test_search_finds_the_highest_step_that_passes(capacity):
    grid = Grid(LINE, 0.01)
    step, trials = find(polling(capacity), grid)
    if capacity < LINE * 0.001:
        assert step is None
    else:
        assert grid.rate(step) <= capacity < grid.rate(step - 1)
        assert trials <= 4


@pytest.mark.parametrize("rx, rest", [(27e-6, 140e-6), (27e-6, 27e-6), (5e-6, 500e-6)])
def test_search_under_livelock(rx, rest):
    grid = Grid(LINE, 0.01)
    step, trials = find(interrupted(rx, rest), grid)
    assert grid.rate(step) <= 1 / (rx + rest) < grid.rate(step - 1)
    assert trials <= 7


@pytest.mark.parametrize("above", [1.1, 1.5])
@pytest.mark.parametrize("rx, rest", [(27e-6, 140e-6), (160e-6, 212e-6), (230e-6, 260e-6)])
def test_search_from_a_sloping_overload(rx, rest, above):
    """A single overload gives no estimate, because its forwarded rate is far below the throughput."""
    grid = Grid(LINE, 0.01)
    step, trials = find(interrupted(rx, rest), grid, grid.step(above / (rx + rest)))
    assert grid.rate(step) <= 1 / (rx + rest) < grid.rate(step - 1)
    assert trials <= 5


@pytest.mark.parametrize("start", [0, 100, 250, 301, 302, 303, 400, 690])
@pytest.mark.parametrize("device", [polling(LINE / 1.01**300.5), interrupted(27e-6, 107e-6)])
def test_answer_does_not_depend_on_the_start(device, start):
    grid = Grid(LINE, 0.01)
    assert find(device, grid, start)[0] == find(device, grid)[0]


def test_a_good_guess_takes_two_trials():
    assert find(polling(LINE / 1.01**300.5), Grid(LINE, 0.01), 301) == (301, 2)


def test_line_rate_and_nothing():
    grid = Grid(LINE, 0.01)
    assert find(polling(2 * LINE), grid) == (0, 1)
    assert find(lambda rate: Outcome(False, rate, 0, 0.1), grid)[0] is None


def test_growth_ignores_variation():
    assert growth([3, 5, 7, 9, 11, 13, 15, 17]) == 6
    assert growth([9, 7, 5, 3, 1, 1, 1, 1]) == -4
    assert growth([0, 5, 1, 6, 2, 7, 1, 5]) <= 0  # it varies, but does not grow
    assert growth([10, 11, 11, 5, 10, 12, 11, 12]) == 0  # a single low part
    assert growth([21, 31, 36, 36, 36, 36, 36, 36]) == 0  # it settles
    assert growth([1, 1, 1, 1, 1, 3, 5, 8]) == 4  # the device became slower


@pytest.mark.parametrize("load", [100, 10, 0.5])
@pytest.mark.parametrize("resolution", [0.1, 1, 10])
def test_trials_are_long_enough_for_their_verdict(load, resolution):
    task = steady("napi", 64, 100, load, 0.5, resolution)
    rate = LINE * load / 100
    window = 0.8 * task.frames
    assert task.frames >= 500 and task.frames / rate >= 0.14
    # The number of frames that remain from one part to the next, if the rate is too high by the
    # resolution.
    more = window * resolution / 100 / 8
    assert growth([round(100 + more * part, 3) for part in range(8)]) > 1


def test_search_starts_from_the_ratio_between_phases():
    grid = Grid(LINE, 0.01)
    assert tests.start_step(grid, [], None) == 0  # the line rate
    assert tests.start_step(grid, [1000], None) == grid.step(1000)  # the result of another size
    assert tests.start_step(grid, [], 500) == grid.step(500)  # the result of the previous phase
    assert tests.start_step(grid, [1000, 1100], 500) == grid.step(550)


def test_phases_are_spread():
    assert matrix.phase_shares(1) == [0.5]
    assert matrix.phase_shares(6) == [0.5, 0.0, 0.25, 0.75, 0.125, 0.375]


# Store --------------------------------------------------------------------------------------------


def test_store_skips_a_truncated_line(tmp_path):
    file = tmp_path / "sub" / "trials.jsonl"
    store.Store(file).add({"key": "a", "value": 1})
    with open(file, "a") as torn:
        torn.write('{"key": "b", "val')
    again = store.Store(file)
    assert list(again.records) == ["a"] and again.get("b") is None
    again.add({"key": "c", "value": 3})
    assert list(store.read(file)) == ["a", "c"]
    packed = tmp_path / "trials.jsonl.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert store.read(packed) == store.read(file)


def test_store_rejects_other_files(tmp_path):
    file = tmp_path / "text"
    file.write_text("dear diary\n")
    with pytest.raises(LabError, match="holds no records of trials"):
        store.Store(file)
    assert file.read_text() == "dear diary\n"
    with pytest.raises(LabError, match="name another file with --results"):
        store.Store(file / "below")


def _append(file: Path, name: str):
    kept = store.Store(file)
    for number in range(200):
        kept.add({"key": f"{name}{number}", "padding": "x" * 5000})


def test_two_programs_may_write_into_one_file(tmp_path):
    file = tmp_path / "trials.jsonl"
    writers = [multiprocessing.Process(target=_append, args=(file, name)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(store.read(file)) == 400


# The command, with a fake simulator ---------------------------------------------------------------


@pytest.fixture
def lab(machine, monkeypatch):
    from moderato.sim.lab import cli

    monkeypatch.setattr(matrix, "machine", lambda link, system: machine)
    return lambda *words: cli.main(["rfc2544", *words])


def trials_run(machine) -> int:
    journal = machine.simulator.parent / "journal"
    return sum("checkpoint-ready" in line for line in journal.read_text().splitlines())


def test_throughput_is_the_capacity(lab, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("FAKE_CAPACITY", "5000")
    file = tmp_path / "trials.jsonl"
    assert (
        lab("--variant", "napi", "--frame-size", "64,512", "--phases", "2", "--results", str(file)) == 0
    )
    output = capsys.readouterr().out
    found = [line.split() for line in output.splitlines() if line.startswith("napi")]
    for line in found[:2]:  # both ports together
        assert 9900 <= float(line[2]) <= 10_100 and float(line[3]) <= float(line[4])
    records = list(store.read(file).values())
    sustained = [record for record in records if record["passed"]]
    assert sustained and all(metrics.offered(record) <= 10_100 for record in sustained)
    assert {record["task"]["phase"] for record in records} == {0.0, 0.5}
    assert all(record["report"]["ports"][0]["lost"] == 0 for record in sustained)


def test_records_say_what_they_were_made_on(lab, machine, tmp_path, capsys):
    file = tmp_path / "trials.jsonl"
    machine.images[0][0].write_text("some code, Linux version 6.12.3-test (me@here) more code")
    run = ("--variant", "napi", "--frame-size", "64", "--results", str(file))
    assert lab(*run) == 0
    (before,) = _conditions(file)
    assert before["kernel"] == "6.12.3-test" and before["nic"] == "moderato" and before["version"]
    machine.driver.write_text("another driver")
    vars(machine).pop("conditions")  # as in a new process
    assert lab(*run) == 0
    _, after = _conditions(file)
    assert {name for name in after if after[name] != before[name]} == {"machine", "checkpoint"}


def _conditions(file: Path) -> list[dict]:
    """The different conditions, in their order."""
    found = [record["conditions"] for record in store.read(file).values()]
    return [each for number, each in enumerate(found) if each not in found[:number]]


def test_a_trial_is_never_run_twice(lab, machine, tmp_path, capsys):
    words = (
        "--variant",
        "napi",
        "--frame-size",
        "64",
        "--test",
        "throughput,latency,burst",
        "--results",
        str(tmp_path / "trials.jsonl"),
    )
    assert lab(*words) == 0
    output, before = capsys.readouterr(), trials_run(machine)
    assert f"moderato: wrote {tmp_path}/trials.jsonl\n" in output.err
    assert lab(*words) == 0
    again = capsys.readouterr()
    assert again.out == output.out and "wrote" not in again.err
    assert trials_run(machine) - before <= 3  # simulators that check the checkpoints, and no trial


def test_loss_burst_recovery_and_reset(lab, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("FAKE_CAPACITY", "5000")
    monkeypatch.setenv("FAKE_RING", "300")
    assert (
        lab(
            "--variant",
            "napi",
            "--frame-size",
            "1518",
            "--load",
            "100,50",
            "--test",
            "all",
            "--results",
            str(tmp_path / "t"),
        )
        == 0
    )
    blocks = capsys.readouterr().out.split("\n\n")
    tables = dict(zip([block.splitlines()[-1] for block in blocks[:-1:2]], blocks[1::2]))
    body = {
        title.split(" (")[0]: [line.split() for line in table.splitlines()[2:]]
        for title, table in tables.items()
    }
    offered = 2 * 8127.4
    loss = body["Frame loss rate"]
    assert [line[2] for line in loss] == ["100", "50"]
    assert float(loss[0][4]) == pytest.approx(offered, rel=1e-3)
    assert float(loss[0][8 - 1]) == pytest.approx(100 * (1 - 10_000 / offered), abs=0.5)
    assert float(loss[1][8 - 1]) == 0
    # When a burst of N frames at 8127 frames/s ends, N (1 - 5000/8127) are still in the device.
    burst = int(body["Back-to-back frames"][0][2])
    assert burst * (1 - 5000 / 8127.4) == pytest.approx(300, rel=0.02)
    assert body["System recovery"] and body["Reset of both interfaces under load"]


def test_a_reset_after_the_load_is_no_reset(lab, monkeypatch, capsys, tmp_path):
    words = (
        "--variant",
        "napi",
        "--frame-size",
        "1518",
        "--test",
        "reset",
        "--results",
        str(tmp_path / "t"),
    )
    monkeypatch.setenv("FAKE_STARVED", "1")
    assert lab(*words) == 1
    assert "not reset while the load lasted" in capsys.readouterr().err


def test_unsound_trials_fail_the_run(lab, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("FAKE_CORRUPTED", "2")
    assert (
        lab(
            "--variant",
            "napi",
            "--frame-size",
            "64",
            "--test",
            "burst",
            "--results",
            str(tmp_path / "t"),
        )
        == 1
    )
    assert "2 frames that entered at port 0 left corrupted" in capsys.readouterr().err


def test_interrupted_search_continues(machine, tmp_path):
    file = tmp_path / "trials.jsonl"
    program = (
        "import sys\nfrom pathlib import PosixPath\n"
        "from moderato.sim.lab import cli\nfrom moderato.sim.lab.rfc2544 import matrix\n"
        "from moderato.sim.lab.run.machine import Machine\n"
        "from moderato.soc.linux.kernel import Choice\n"
        "from moderato.sim.lab.run.system import System\n"
        f"matrix.machine = lambda link, system: {machine!r}\n"
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    words = [
        sys.executable,
        "-c",
        program,
        "rfc2544",
        "--variant",
        "napi,original",
        "--frame-size",
        "64",
        "--results",
        str(file),
    ]
    subprocess.run(words, check=True, capture_output=True)
    whole = file.read_text().splitlines(keepends=True)
    file.write_text("".join(whole[:2]))
    stalled = subprocess.Popen(
        words, env={**os.environ, "FAKE_STALL": "1"}, text=True, stderr=subprocess.PIPE
    )
    before = trials_run(machine)
    while trials_run(machine) < before + 3:  # two simulators check the checkpoints, then trials start
        assert stalled.poll() is None
        time.sleep(0.05)
    stalled.send_signal(signal.SIGINT)
    assert stalled.wait() == 130
    assert stalled.stderr.read().splitlines()[-1] == "moderato: stopped"
    assert file.read_text() == "".join(whole[:2])
    subprocess.run(words, check=True, capture_output=True)
    strip = [
        {k: v for k, v in record.items() if k != "wall_seconds"}
        for record in map(json.loads, file.read_text().splitlines())
    ]
    expected = [{k: v for k, v in json.loads(line).items() if k != "wall_seconds"} for line in whole]
    assert sorted(strip, key=str) == sorted(expected, key=str)


# A cluster ----------------------------------------------------------------------------------------


def without_wall_time(file: Path) -> dict:
    return {
        key: {k: v for k, v in record.items() if k != "wall_seconds"}
        for key, record in store.read(file).items()
    }


def test_a_cluster_gives_the_same_records(lab, cluster, tmp_path, capsys):
    words = ("--variant", "napi,original", "--frame-size", "64,512")
    assert lab(*words, "--results", str(tmp_path / "local")) == 0
    local = capsys.readouterr().out
    assert lab(*words, "--results", str(tmp_path / "far"), "--scheduler", cluster) == 0
    assert capsys.readouterr().out == local
    assert without_wall_time(tmp_path / "far") == without_wall_time(tmp_path / "local")
    # Workers receive simulator and checkpoints by their hashes. On a busy machine, one of them may have
    # run all trials.
    got = [
        {file.name for file in (tmp_path / f"worker{number}" / "blob").glob("*/[!.]*")}
        for number in range(2)
    ]
    assert any(got)
    assert all(names >= {"moderato-sim", "checkpoint"} for names in got if names)


def test_a_worker_that_dies(lab, cluster, tmp_path):
    """Another one runs its trial, although dask has dropped all other copies of the checkpoint."""
    words = ("--variant", "napi", "--frame-size", "64")
    assert lab(*words, "--results", str(tmp_path / "local")) == 0
    with killed(cluster, "worker"):
        assert lab(*words, "--results", str(tmp_path / "far"), "--scheduler", cluster) == 0
    assert without_wall_time(tmp_path / "far") == without_wall_time(tmp_path / "local")


@pytest.mark.parametrize("what", ["workers", "scheduler"])
def test_all_workers_are_lost(lab, cluster, tmp_path, capsys, monkeypatch, what):
    monkeypatch.setattr("moderato.sim.lab.run.runner.TIMEOUT", 5)
    with killed(cluster, what):
        assert (
            lab(
                "--variant",
                "napi",
                "--frame-size",
                "64",
                "--scheduler",
                cluster,
                "--results",
                str(tmp_path / "t"),
            )
            == 1
        )
    assert "the dask scheduler or its last worker is gone" in capsys.readouterr().err


def test_a_trial_that_kills_its_workers(lab, cluster, tmp_path, capsys):
    with distributed.Client(cluster, timeout=5, set_as_default=False) as client:
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
    with killed(cluster, "worker"):
        assert (
            lab(
                "--variant",
                "napi",
                "--frame-size",
                "64",
                "--scheduler",
                cluster,
                "--results",
                str(tmp_path / "t"),
            )
            == 1
        )
    assert "each worker that had napi" in capsys.readouterr().err


def test_an_error_without_a_file(lab, tmp_path, capsys, monkeypatch):
    """Libraries raise them without a file's name: the message is shown, not None."""
    monkeypatch.setattr(
        "moderato.sim.lab.run.runner.runner", Mock(side_effect=OSError("the wire is cut"))
    )
    assert lab("--variant", "napi", "--frame-size", "64", "--results", str(tmp_path / "t")) == 1
    assert "a file: the wire is cut" in capsys.readouterr().err


@contextlib.contextmanager
def killed(cluster: str, what: str):
    """End a process: the worker that runs a trial, which does not end by itself; all workers; the
    scheduler."""
    with distributed.Client(cluster, timeout=5, set_as_default=False) as client:
        workers = client.run(os.getpid).values()
        client.run(os.putenv, "FAKE_STALL", "1")

        def kill():
            while not (
                at_work := {
                    process: simulators
                    for process in workers
                    if (simulators := psutil.Process(process).children())
                }
            ):
                time.sleep(0.05)
            if what == "worker":  # the other worker ends the trial
                client.run(os.unsetenv, "FAKE_STALL")
            client.amm.run_once()
            time.sleep(1)  # dask drops copies
            for process in {
                "worker": at_work,
                "workers": workers,
                "scheduler": [client.run_on_scheduler(os.getpid)],
            }[what]:
                os.kill(process, signal.SIGKILL)
            for simulator in itertools.chain(*at_work.values()):
                simulator.kill()

        thread = threading.Thread(target=kill, daemon=True)
        thread.start()
        yield
        thread.join()


@pytest.mark.parametrize("says", [None, b"", b"SSH-2.0-OpenSSH_9.2\r\n"])
def test_service_that_is_no_scheduler_is_rejected(lab, tmp_path, capsys, monkeypatch, says):
    """It sends nothing, closes the connection, or sends something else."""
    monkeypatch.setattr("moderato.sim.lab.run.runner.TIMEOUT", 1)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                stream, _ = server.accept()
                streams.append(stream)
                if says is not None:
                    stream.sendall(says)
                    stream.shutdown(socket.SHUT_WR)

    with contextlib.ExitStack() as closing, socket.create_server(("127.0.0.1", 0)) as server:
        streams, address = [], f"127.0.0.1:{server.getsockname()[1]}"
        threading.Thread(target=serve, daemon=True).start()
        assert (
            lab(
                "--variant",
                "napi",
                "--frame-size",
                "64",
                "--scheduler",
                address,
                "--results",
                str(tmp_path / "t"),
            )
            == 1
        )
        server.shutdown(socket.SHUT_RDWR)
        for stream in streams:
            closing.enter_context(stream)
    error = capsys.readouterr().err.splitlines()[-1]
    assert f"no dask scheduler answers at {address} (" in error and "leave out" in error


def test_worker_of_another_commit_is_rejected(lab, cluster, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("moderato.sim.lab.run.runner.version", lambda: "another")
    assert (
        lab(
            "--variant",
            "napi",
            "--frame-size",
            "64",
            "--scheduler",
            cluster,
            "--results",
            str(tmp_path / "t"),
        )
        == 1
    )
    assert "a worker runs another commit of Moderato" in capsys.readouterr().err


# A reset -------------------------------------------------------------------------------------------


def test_a_reset_counts_only_ports_with_traffic():
    """With traffic one way, or with fewer than two frames: no figure, and no exception."""
    entered = {"offered": 100, "lost": 10, "longest_pause": {"start_cycle": 5, "end_cycle": 50}}
    without = entered | {"lost": 99, "longest_pause": None}
    other = {"left": {}}  # no frame entered at this port
    for ports, seen, seconds in (
        ([entered, other], True, 4.5e-7),
        ([without, other], False, None),
        ([entered, without], False, 4.5e-7),
    ):
        report = {"ports": ports, "offered_cycle": 60}
        assert reset_seen(report) == seen
        assert metrics.reset_seconds({"report": report, "sys_clk_hz": 100_000_000}) == seconds


def test_no_figure_if_no_frame_follows_the_reset():
    """In the terminal's table, and in the report's."""
    cell = tests.Cell("napi", 64, 100, 1.0)
    task = Task("reset", "napi", 64, 100, 10.0, 1000, 0.5)
    came, none = made_up.record(task), made_up.record(task)
    for port in none["report"]["ports"]:
        port["longest_pause"] = None
    for record, terminal, report in ((came, "40.00", "40.00"), (none, "-", MISSING)):
        *_, row = search_tables.RENDER["reset"]({cell: record}).strip().splitlines()
        assert row.split()[-2] == terminal
        shown = detail.reset(Records([record], []), {("napi", 64): record})
        assert shown.rows[0][-2] == report
