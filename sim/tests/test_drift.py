# SPDX-License-Identifier: BSD-2-Clause
"""Published figures still hold: one variant's search and rows of each table, measured again."""

import json
import re
from pathlib import Path

import made_up_trials as made_up
import pytest

from moderato.sim.lab.commands import published
from moderato.sim.lab.commands.published import RFC2544, Step
from moderato.sim.lab.report import profiles, records
from moderato.sim.lab.report.chapters import contents
from moderato.sim.lab.report.inputs import Inputs
from moderato.sim.lab.report.table import Table
from moderato.toolchain.project import ROOT

VARIANT = "napi"
SAMPLE = (  # a part of published.RFC2544_STUDY
    Step(0.7, f"{RFC2544} --variant {VARIANT} --frame-size 64"),
    Step(0.3, f"{RFC2544} --variant {VARIANT} --frame-size 512 --test loss --load 100"),
    Step(0.3, f"{RFC2544} --variant {VARIANT} --frame-size 64 --test loss --load 100"),
    Step(3, f"{RFC2544} --variant {VARIANT} --frame-size 64 --test burst,recovery,reset"),
    Step(0.5, f"profile --variant {VARIANT} --load 5.7 --json {{profiles}}/napi.json"),
)
TABLES = {
    "table-1",
    "throughput",
    "table-3",
    "loss",
    "latencies",
    "bursts",
    "recovery",
    "reset",
    "table-5",
    "causes",
}
# The part by which a figure may differ, in addition to one in its last digit. Throughputs: two steps of
# a search. Terms of a frame's time, and times near overload, may differ more, because the queue's length
# varies there.
CLOSE = 0.02
WIDER = {"table-5": 0.05, "causes": 0.05, "latencies": 0.1, "bursts": 0.1, "recovery": 0.1, "reset": 0.1}

MEND = (
    "docs do not say any more what this commit does; run `./moderato results` on a clean commit, "
    "then go through README.md and docs/results.md:\n"
)
NUMBER = re.compile(r"-?\d+\.?\d*")


def tables(trials: list[dict], profiled: list[dict] = ()) -> dict[str, Table]:
    """The tables that include the sample, by name."""
    profiled = [each for each in profiled if each["variant"] == VARIANT]
    chapters = contents(Inputs(records.Records(trials, []), profiles.Profiles(profiled, {}, {})))
    return {
        part.name: part
        for chapter in chapters
        for part in chapter.present
        if isinstance(part, Table) and part.name in TABLES
    }


def alike(trials: list[dict], sample: list[dict]) -> list[dict]:
    """Trials of the sample's tests, variants, frame sizes and phases."""

    def what(trial):
        return tuple(trial["task"][name] for name in ("kind", "variant", "frame_bytes", "phase"))

    wanted = {what(trial) for trial in sample}
    return [trial for trial in trials if what(trial) in wanted]


def drift(before: dict[str, Table], now: dict[str, Table]) -> list[str]:
    """Cells that differ too much, in the rows of both. Every table must share a row."""
    found = []
    for name, table in before.items():
        old, new = rows(table), rows(now[name])
        common = [place for place in old if place in new]
        assert common, f"{name} has no row of the sample"
        found += [
            f"{name}, {' '.join(place)}, {head}: {was} is now {is_now}"
            for place in common
            for head, was, is_now in zip(table.head, old[place], new[place])
            if differ(was, is_now, WIDER.get(name, CLOSE))
        ]
    return found


def rows(table: Table) -> dict[tuple, list[str]]:
    """Rows by their head; in the table of losses, that includes the load."""
    heads = table.heads + (table.name == "loss")
    return {tuple(row[:heads]): list(row) for row in table.rows}


def differ(was: str, is_now: str, part: float) -> bool:
    """Whether two texts differ by more than a part of a number in them, and one in its last digit."""
    if NUMBER.sub("", was) != NUMBER.sub("", is_now):
        return True
    pairs = zip(NUMBER.findall(was), NUMBER.findall(is_now))
    return any(
        abs(float(new) - float(old)) > max(part * abs(float(old)), 1.01 * last_digit(old))
        for old, new in pairs
    )


def last_digit(number: str) -> float:
    return 10.0 ** -len(number.partition(".")[2])


def profiled(folder: Path) -> list[dict]:
    return [each for file in sorted(folder.glob("*.json")) for each in json.loads(file.read_text())]


@pytest.mark.slow
def test_docs_agree_with_this_commit(tmp_path):
    (tmp_path / published.PROFILES).mkdir()
    made = tmp_path / "trials.jsonl"
    for step in SAMPLE:
        published.run(step, made, tmp_path)
    data = ROOT / "docs" / "data"
    trials = records.load([made]).trials
    were = alike(records.load([data / "rfc2544.jsonl.gz"]).trials, trials)
    before = tables(were, profiled(data / "profiles"))
    now = tables(trials, profiled(tmp_path / published.PROFILES))
    assert before.keys() == now.keys() == TABLES
    found = drift(before, now)
    assert not found, MEND + "\n".join(found)


# What counts as drift -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "was, is_now, too_much",
    [
        ("100.0", "102.0", False),
        ("100.0", "102.1", True),
        ("–", "–", False),
        ("–", "1", True),
        ("0.1", "0.2", False),
        ("0.1", "0.3", True),
        ("100.00*", "100.00*", False),
        ("100.00*", "100.00", True),
        ("3 – 500", "3 – 515", True),
        ("**2.00**", "**2.01**", False),
    ],
)
def test_tolerance(was, is_now, too_much):
    assert differ(was, is_now, CLOSE) is too_much


def test_drift_is_noticed(monkeypatch):
    before = tables(made_up.run([VARIANT], [64], phases=[0.5]))
    assert drift(before, before) == [] and before.keys() >= {"table-1", "loss", "reset"}
    monkeypatch.setitem(made_up.CONSTANT, VARIANT, 1.04 * made_up.CONSTANT[VARIANT])
    found = drift(before, tables(made_up.run([VARIANT], [64], phases=[0.5])))
    assert any(line.startswith(f"table-1, 64 ours, {VARIANT}: ") for line in found)
