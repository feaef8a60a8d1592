# SPDX-License-Identifier: BSD-2-Clause
"""`moderato results` with a short plan on a fake simulator: complete, stopped, rejected."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import made_up_trials as made_up
import pytest

from moderato.sim.lab import cli
from moderato.sim.lab.commands import arguments, published
from moderato.sim.lab.commands.published import Step
from moderato.sim.lab.rfc2544 import matrix, tests
from moderato.sim.lab.run import store
from moderato.sim.lab.show.errors import LabError
from moderato.toolchain import project
from moderato.toolchain.project import ROOT

COMMIT = "abc1234"
PLAN = (
    Step(2, "rfc2544 --results {trials} --variant napi,original --frame-size 64"),
    Step(1, "rfc2544 --results {trials} --test burst --variant napi --frame-size 64"),
)
STUDIES = {"rfc2544": PLAN}
TORN = 3  # number of trials when a run is stopped


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    (folder / "data").mkdir(parents=True)
    (folder / "tables.md").write_text("old\n")
    return folder


@pytest.fixture
def clean(monkeypatch, machine):
    """A clone without changes, with the fake machine."""
    monkeypatch.setattr(project, "uncommitted", list)
    monkeypatch.setattr(project, "version", lambda: COMMIT)
    for module in matrix, published:
        monkeypatch.setattr(module, "machine", lambda *_, **__: machine)
    put_profiles()


def put_profiles():
    """Profiles of the real machine: the fake one has no functions."""
    profiles = published.run_folder(COMMIT) / published.PROFILES
    profiles.mkdir(parents=True)
    shutil.copy(ROOT / "docs/data/profiles/napi.json", profiles)
    (profiles / "burst.pftrace").write_bytes(b"trace")
    boxes = published.run_folder(COMMIT) / published.FORWARD
    boxes.mkdir()
    (boxes / "versa.json").write_text("[]")


def files(docs: Path) -> set[str]:
    return {str(path.relative_to(docs)) for path in docs.rglob("*") if path.is_file()}


def test_results_replace_the_files_of_docs(clean, docs, machine, capsys):
    assert published.results(STUDIES, docs) == 0
    assert files(docs) >= {
        "data/rfc2544.jsonl.gz",
        "data/profiles/napi.json",
        "data/forward/versa.json",
        "tables.md",
        "figures/figure-4.svg",
    }
    # Timelines are large, and take seconds to make: only the run's report has them.
    assert not any(name.endswith(".pftrace") for name in files(docs))
    assert "burst.pftrace" in (published.run_folder(COMMIT) / "report.html").read_text()
    records = store.read(docs / "data/rfc2544.jsonl.gz").values()
    assert {record["conditions"]["version"] for record in records} == {COMMIT}
    assert {record["task"]["kind"] for record in records} == {"steady", "burst"}
    assert "| 64 | ours |" in (docs / "tables.md").read_text()
    output = capsys.readouterr()
    assert "step 1 of 2, about 3 min 0 s left: rfc2544" in output.err
    assert "Throughput" not in output.out  # the tables are in log.txt
    assert "Throughput" in (published.run_folder(COMMIT) / "log.txt").read_text()

    # Again: the same files, and no simulation.
    before = {name: (docs / name).read_bytes() for name in files(docs)}
    journal = machine.simulator.parent / "journal"
    simulations = journal.read_text()
    assert published.results(STUDIES, docs) == 0
    assert {name: (docs / name).read_bytes() for name in files(docs)} == before
    assert journal.read_text() == simulations


def test_one_study_leaves_the_others(clean, docs, machine, capsys):
    """Records of another commit's studies stay, and are in the report."""
    published.results(STUDIES, docs)
    before = {name: (docs / name).read_bytes() for name in files(docs)}
    several = made_up.drive(tests.throughput(tests.Cell("napi", 64, 100, 1.0), [0.5]))
    folder = published.run_folder(COMMIT)
    (folder / "harts.jsonl").write_text(
        "".join(
            json.dumps(
                each
                | {
                    "key": f"two {each['key']}",
                    "conditions": made_up.MACHINE
                    | {
                        "version": "later",
                        "spread": "pinned",
                        "cpu": made_up.MACHINE["cpu"] | {"harts": 2},
                    },
                }
            )
            + "\n"
            for each in several
        )
    )
    for profile in (folder / published.PROFILES).iterdir():
        profile.unlink()
    assert published.results({"harts": ()}, docs) == 0
    after = {name: (docs / name).read_bytes() for name in files(docs)}
    assert after.keys() - before.keys() == {"data/harts.jsonl.gz"}
    assert {name for name in before if before[name] != after[name]} == {"tables.md"}
    assert "pinned" in (docs / "tables.md").read_text()
    assert "T_RX" in (docs / "tables.md").read_text()  # the profiles in docs


def test_a_study_without_records(clean, docs):
    """Only its folder is new."""
    published.results(STUDIES, docs)
    (docs / "data/forward/versa.json").unlink()
    before = files(docs)
    assert published.results({"forward": ()}, docs) == 0
    assert files(docs) - before == {"data/forward/versa.json"}


def test_stopped_run_leaves_docs_and_continues(clean, docs, machine):
    """Ctrl-C while trials are in progress; finished ones are not repeated."""
    program = (
        "import sys\nfrom pathlib import Path, PosixPath\n"
        "from moderato.toolchain import project\n"
        f"project.uncommitted, project.version = list, lambda: {COMMIT!r}\n"
        "from moderato.sim.lab import cli\n"
        "from moderato.sim.lab.commands import published\n"
        "from moderato.sim.lab.commands.published import Step\n"
        "from moderato.sim.lab.run.machine import Machine\n"
        "from moderato.soc.linux.kernel import Choice\n"
        "from moderato.sim.lab.run.system import System\n"
        "from moderato.sim.lab.rfc2544 import matrix\n"
        f"published.machine = matrix.machine = lambda *_, **__: {machine!r}\n"
        f"studies, docs, results = {STUDIES!r}, Path({str(docs)!r}), published.results\n"
        "published.results = lambda _: results(studies, docs)\n"
        "sys.exit(cli.main(['results', '--yes']))"
    )
    words = [sys.executable, "-c", program]
    subprocess.run(words, check=True, capture_output=True)
    folder = published.run_folder(COMMIT)
    trials = folder / "rfc2544.jsonl"
    whole = trials.read_text().splitlines(keepends=True)
    made = (docs / "tables.md").read_text()

    # As if an earlier run had been stopped.
    trials.write_text("".join(whole[:TORN]))
    (folder / "done").unlink()
    (docs / "tables.md").write_text("old\n")
    journal = machine.simulator.parent / "journal"
    before = len(journal.read_text().splitlines())
    running = subprocess.Popen(
        words, env={**os.environ, "FAKE_STALL": "1"}, text=True, stderr=subprocess.PIPE
    )
    while len(journal.read_text().splitlines()) < before + 3:  # two simulators check the checkpoints
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    assert running.wait() == 130
    assert running.stderr.read().splitlines()[-1] == "moderato: stopped"
    assert (docs / "tables.md").read_text() == "old\n"
    assert trials.read_text() == "".join(whole[:TORN])

    subprocess.run(words, check=True, capture_output=True)
    assert trials.read_text().splitlines(keepends=True)[:TORN] == whole[:TORN]
    assert (keys(trials)) == {json.loads(line)["key"] for line in whole}
    assert without_run_time((docs / "tables.md").read_text()) == without_run_time(made)


def keys(trials: Path) -> set[str]:
    return set(store.read(trials))


def without_run_time(page: str) -> list[str]:
    """The lines of tables.md without the table of durations."""
    return [line for line in page.splitlines() if not line.startswith(("| steady", "| burst"))]


# Rejected -----------------------------------------------------------------------------------------


def test_a_changed_file_is_rejected(clean, docs, monkeypatch, capsys):
    monkeypatch.setattr(project, "uncommitted", lambda: ["gateware/bus/dma.py"])
    monkeypatch.setattr(published, "run_folder", None)  # nothing starts
    assert cli.main(["results", "--yes"]) == 1
    assert "these files differ from it: gateware/bus/dma.py; commit them" in capsys.readouterr().err


def test_uncommitted_files_are_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(project, "ROOT", tmp_path)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@x"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([*git, *words], check=True)
    assert project.uncommitted() == []
    (tmp_path / "new").touch()
    assert project.uncommitted() == ["new"]


def other(**conditions):
    return {"conditions": made_up.MACHINE | conditions}


@pytest.mark.parametrize(
    "changes, says",
    [
        (other(machine="another"), "left out: 1 trial.* machine another"),
        (other(version="v0"), "the trials are of 2 commits: v0, v1"),
        (other(nic="liteeth", machine="another", kernel="5.0.0"), "left out: 1 trial.* .liteeth"),
        (other(version="v1-dirty"), "trials of v1-dirty were made with files that are not committed"),
        ({"problems": ["2 frames corrupted"]}, "is unsound: 2 frames corrupted"),
    ],
)
def test_a_mixture_is_not_published(docs, tmp_path, changes, says):
    trials = made_up.drive(tests.throughput(tests.Cell("napi", 64, 100, 1.0), [0.5]))
    mixed = [trials[0] | {"key": "x"} | changes, *trials]
    (tmp_path / "rfc2544.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in mixed))
    with pytest.raises(LabError, match=f"are no single run.*{says}"):
        published.publish(["rfc2544"], tmp_path, docs)
    assert files(docs) == {"tables.md"} and (docs / "tables.md").read_text() == "old\n"


def test_a_failing_step_replaces_nothing(clean, docs, monkeypatch):
    monkeypatch.setenv("FAKE_CORRUPTED", "2")
    with pytest.raises(LabError, match="ended with status 1: nothing is published"):
        published.results(STUDIES, docs)
    assert files(docs) == {"tables.md"}


def test_studies_consist_of_commands():
    """Each can be run by hand. Files are written completely, so an existing file is a finished step."""
    assert tuple(published.STUDIES) == arguments.STUDIES
    steps = [step for plan in published.STUDIES.values() for step in plan]
    for step in steps:
        words = step.command.format(trials="/tmp/trials", profiles="/tmp", forward="/tmp").split()
        assert cli.parse(words).run
    for study, plan in published.STUDIES.items():
        assert sum(step.minutes for step in plan) <= 90, study
    assert len({step.command for step in steps}) == len(steps)
