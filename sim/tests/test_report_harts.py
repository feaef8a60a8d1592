# SPDX-License-Identifier: BSD-2-Clause
"""The chapter about two harts, with made-up records."""

import dataclasses
import json
import re
import shlex

import made_up_trials as made_up
import pytest

from moderato.sim.lab import cli
from moderato.sim.lab.measure.traffic import Traffic
from moderato.sim.lab.report import harts, records, reproduce
from moderato.sim.lab.report.chapters import data
from moderato.sim.lab.report.inputs import Inputs
from moderato.sim.lab.rfc2544 import tests


def search(conditions: dict, traffic: Traffic = Traffic()) -> list[dict]:
    cell = tests.Cell("napi-tx-off", 64, 100, 1.0, traffic)
    return made_up.drive(tests.throughput(cell, [0.5]), conditions=conditions)


@pytest.fixture
def found(tmp_path) -> records.Records:
    """Trials on one hart are first and last; those on two harts are not in their tables."""
    file = tmp_path / "trials.jsonl"
    many = Traffic(streams=16, one_way=True)
    file.write_text(
        "".join(
            json.dumps(record) + "\n"
            for record in [
                *search(made_up.MACHINE),
                *search(made_up.two_harts("ipi"), Traffic(in_order=False)),
                *search(made_up.two_harts("pinned")),
                *search(made_up.MACHINE, many),
                *search(made_up.two_harts("pinned"), many),
                made_up.through(),
                made_up.through_two_harts("common", 300, 0),
                made_up.through_two_harts("pinned", 200, 250),
                made_up.through_two_harts("pinned", 80, 100, connections=4),
                made_up.transfer("napi", "in"),
            ]
        )
    )
    return records.load([file])


def test_one_harts_tables_exclude_two_harts(found):
    assert {record["conditions"]["cpu"]["harts"] for record in found.trials} == {1}
    assert not any("traffic" in record["task"] for record in found.trials)
    assert len(found.transfers) == 2 and len(found.hart_transfers) == 3
    assert not found.notes


def test_throughput_compared_with_one_hart(found):
    table = harts.throughput([*found.trials, *found.harts])
    assert table.head == ["variant", "", "64 octets", "64 octets, 16 streams one way"]
    assert [row[:2] for row in table.rows] == [
        ["napi-tx-off", way] for way in ("one hart", "ipi", "pinned")
    ]
    one, ipi, pinned = table.rows
    assert ipi[2] == f"{one[2]} (1.00)" and ipi[3] == "–"
    assert pinned[2:] == [f"{rate} (1.00)" for rate in one[2:]]


def test_goodput_compared_with_one_hart(found):
    table = harts.goodput([*found.transfers, *found.hart_transfers])
    assert table.head == [
        "variant",
        "",
        "through, 100 Mb/s, conntrack",
        "through, 100 Mb/s, 4 connections, conntrack",
    ]
    assert [row[1:] for row in table.rows] == [
        ["one hart", "50.0", "–"],
        ["common", "90.0 (1.80)", "–"],
        ["pinned", "90.0 (1.80)", "90.0"],
    ]


def test_interrupts_compared_with_the_papers(found):
    table = harts.interrupts([*found.transfers, *found.hart_transfers])
    assert table.rows == [
        ["1", "one hart", "27", "–", "0.036", "–", "–"],
        ["1", "common", "150", "0", "0.200", "569", "0"],
        ["1", "pinned", "100", "125", "0.300", "436", "427"],
        ["4", "pinned", "40", "50", "0.120", "436", "427"],
    ]


@pytest.mark.parametrize(
    "change, said",
    [
        ({"window": 65536}, "window of 65536"),
        ({"socket": 4096}, "buffers of 4096"),
        ({"faults": ["drop"]}, "drop"),
        ({"octets": 500_000}, "500000 octets"),
        ({"gro": True}, "GRO"),
    ],
)
def test_another_transfer_has_rows_of_its_own(found, change, said):
    """It replaces no other row; trials on one hart alone have no row."""
    both = [*found.transfers, *found.hart_transfers]
    usual = harts.interrupts(both).rows
    other = made_up.through_two_harts("pinned", 20, 30, **change)
    alone = made_up.through(user_buffer=64)
    assert harts.interrupts([*both, alone, other]).rows == [
        *usual[:3],
        [f"1, {said}", "pinned", "10", "15", "0.033", "436", "427"],
        *usual[3:],
    ]


def test_profiled_transfers_are_shown_with_the_others(found):
    """The simulator's profile disturbs nothing. A transfer without it has precedence, in either
    order."""
    both = [*found.transfers, *found.hart_transfers]
    profiled = [record | {"profile": {}, "goodput_mbps": 1.0} for record in both]
    for table in (harts.goodput, harts.interrupts):
        assert table(profiled).rows[0][1] == "one hart"
        assert table([*both, *profiled]) == table([*profiled, *both]) == table(both)
    study = made_up.study(harts=2, conditions=made_up.two_harts("pinned"))
    assert len(harts.goodput([*made_up.study(), *study]).head) == 2 + len(study)


def test_one_hart_of_another_cpu_is_not_compared(found):
    """Two harts with larger TLBs: one hart has no row, and there is no ratio."""

    def larger(record):
        of = record["conditions"]
        return record | {"conditions": of | {"cpu": of["cpu"] | {"itlb": 16, "dtlb": 16}}}

    def among(found):
        return [larger(record) if records.several(record) else record for record in found]

    transfers = among([*found.transfers, *found.hart_transfers])
    for table in (
        harts.throughput(among([*found.trials, *found.harts])),
        harts.goodput(transfers),
        harts.interrupts(transfers),
    ):
        ways = {row[1] for row in table.rows}
        assert "pinned" in ways and "one hart" not in ways
        assert "(" not in str(table.rows)


@pytest.mark.parametrize("change", [{"nic": "offload"}, {"memory": "dram"}, {"sys_clk_hz": 84_000_000}])
def test_one_hart_of_another_machine_is_not_compared(found, change):
    """With another NIC, memory or clock, a ratio would not show the effect of the second hart alone."""

    def changed(record):
        if not records.several(record):
            return record
        here = {name: value for name, value in change.items() if name == "sys_clk_hz"}
        there = {name: value for name, value in change.items() if name != "sys_clk_hz"}
        return record | here | {"conditions": record["conditions"] | there}

    transfers = [changed(record) for record in [*found.transfers, *found.hart_transfers]]
    for table in (
        harts.throughput([changed(record) for record in [*found.trials, *found.harts]]),
        harts.goodput(transfers),
        harts.interrupts(transfers),
    ):
        ways = {row[1] for row in table.rows}
        assert "pinned" in ways and "one hart" not in ways


def test_commands_and_raw_data_include_them(found):
    commands = reproduce.commands(found)
    for options in ("--harts 2 --spread ipi", "--harts 2 --spread pinned --streams 16 --one-way"):
        assert any(options in command for command in commands)
    for command in commands[1:]:
        assert cli.parse(shlex.split(command)[1:])
    raw = data.chapter(Inputs(found, None))
    assert (
        f"All {len([*found.trials, *found.harts, *found.transfers, *found.hart_transfers])} trials"
        in raw.parts[0].text
    )


def test_page_and_terminal_count_the_same_trials(found, tmp_path, capsys):
    """Including trials on several harts."""
    records_file = tmp_path / "trials.jsonl"
    page = tmp_path / "report.html"
    assert cli.main(["report", "--results", str(records_file), "--output", str(page)]) == 0
    (count,) = re.findall(r"All (\d+) trials", page.read_text())
    assert f"report.html: {count} trials, " in capsys.readouterr().out
    assert int(count) == len(records_file.read_text().splitlines())


def test_commands_use_the_main_trials_version(found):
    """Trials on two harts may be of another commit, which counts only if there are no other trials."""

    def of(version, trials):
        return [trial | {"conditions": trial["conditions"] | {"version": version}} for trial in trials]

    mixed = dataclasses.replace(
        found, harts=of("later", found.harts), hart_transfers=of("latest", found.hart_transfers)
    )
    alone = dataclasses.replace(mixed, trials=[], transfers=[])
    assert reproduce.commands(mixed)[0] == "git checkout v1"
    assert reproduce.commands(dataclasses.replace(mixed, trials=[]))[0] == "git checkout v1"
    assert reproduce.commands(alone)[0] == "git checkout later"


def test_no_chapter_without_two_harts():
    assert harts.throughput(search(made_up.MACHINE)) is None
    assert harts.goodput([made_up.transfer()]) is None and harts.interrupts([made_up.through()]) is None
