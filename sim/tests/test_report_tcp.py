# SPDX-License-Identifier: BSD-2-Clause
"""The report's chapter about TCP, with made-up records."""

import json
import shlex

import made_up_trials as made_up
import pytest

from moderato.sim.lab import cli
from moderato.sim.lab.receiver.buffers import BUFFERS
from moderato.sim.lab.report import receiver, records, reproduce, transfers

PROFILED = {"profile": made_up.study()[0]["profile"]}


@pytest.fixture
def file(tmp_path):
    older = made_up.MACHINE | {"version": "v0"}
    path = tmp_path / "records.jsonl"
    path.write_text(
        "".join(
            json.dumps(record) + "\n"
            for record in [
                *made_up.run(["napi"], sizes=[64]),
                made_up.transfer("napi", "through", conditions=older),
                *made_up.study(),
                made_up.transfer(),
                made_up.transfer(direction="out", link=1000, problems=["it was not steady"]),
                made_up.transfer("liteeth", conditions=made_up.MACHINE | {"nic": "liteeth"}),
                made_up.transfer(connections=3, gro=False, window=2896),
            ]
        )
    )
    return path


def test_last_commits_transfers_are_used(file):
    found = records.load([file])
    assert len(found.transfers) == len(BUFFERS) + 4
    assert not any(record["direction"] == "through" for record in found.transfers)


def stored(tmp_path, *transfers):
    path = tmp_path / "stored.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in transfers))
    return records.load([path])


def test_other_settings_and_nics_have_rows_of_their_own(tmp_path):
    offload = made_up.MACHINE | {"nic": "offload", "machine": "another"}
    found = stored(
        tmp_path,
        made_up.transfer(),
        made_up.transfer(conditions=offload),
        made_up.transfer(user_buffer=64, check=True),
        made_up.transfer(off=["tso"]),
        made_up.transfer(octets=500_000),
        made_up.transfer(octets=500_000, connections=2),
        made_up.transfer(faults=["drop"], peer="stalls"),
        made_up.transfer(direction="out", program="nuttcp"),
    )
    assert [row[0] for row in transfers.table(found.transfers).rows] == [
        "napi",
        "napi, NIC offload",
        "napi, user buffer of 64, checked",
        "napi, tso off",
        "napi, 500000 octets",
        "napi, 2 connections, 500000 octets each",
        "napi, drop, the peer stalls",
        "napi, nuttcp",
    ]
    assert not found.notes


@pytest.mark.parametrize(
    "other",
    [
        {"conditions": made_up.MACHINE | {"memory": "dram", "machine": "slow"}},
        {"sys_clk_hz": 84_000_000},
        {"conditions": made_up.MACHINE | {"machine": "another"}},
    ],
)
def test_transfers_of_other_machines_are_left_out_and_counted(tmp_path, other):
    found = stored(tmp_path, made_up.transfer(goodput_mbps=20.0, **other), made_up.transfer())
    assert [record["goodput_mbps"] for record in found.transfers] == [50.0]
    (note,) = found.notes
    assert note.startswith("left out: 1 trial(s) that were made otherwise (moderato at 100 Mb/s")


def test_other_profiles_are_not_part_of_the_study():
    others = [made_up.transfer("napi", direction, 1000, **PROFILED) for direction in ("in", "out")]
    assert receiver.studies([*others, made_up.transfer(**PROFILED)]) == {}
    assert receiver.studied([*others, *made_up.study()]) == made_up.study()


def test_other_profiled_transfers_are_in_the_table():
    """The simulator's profile disturbs nothing. A transfer without it has precedence, in either
    order."""
    profiled = made_up.transfer(direction="out", goodput_mbps=20.0, **PROFILED)
    assert transfers.table([*made_up.study(), profiled]).rows == [["napi", "20.0 (12)"]]
    plain = made_up.transfer(direction="out", goodput_mbps=30.0)
    for both in ([plain, profiled], [profiled, plain]):
        assert transfers.table(both).rows == [["napi", "30.0 (12)"]]


def test_goodput_has_a_row_for_each_variant(file):
    table = transfers.table(records.load([file]).transfers)
    assert table.head == ["", "in, 100 Mb/s", "out, 1000 Mb/s"]
    assert [row[0] for row in table.rows] == [
        "napi",
        "liteeth",
        "napi, 3 connections, no GRO, window of 2896",
    ]
    assert table.rows[0][1:] == ["50.0 (12)", "50.0* (12)"]
    assert table.rows[1][1:] == ["50.0 (12)", "–"]
    assert transfers.table(made_up.study()) is None


def test_table_1_has_the_papers_figures():
    table = receiver.table1(made_up.study())
    assert len(table.rows) == len(BUFFERS) and len(table.head) == 11
    assert table.rows[2] == [
        "4 KiB",
        "35.0",
        "2.1",
        "18.4",
        "33.8",
        "–",
        "0.0",
        "31000",
        "8116",
        "0.50",
        "0.35",
    ]
    assert table.rows[-1][2] == "–"  # the paper has no value for 4 MiB


def test_segments_sum_to_all_cycles():
    table = receiver.costs(made_up.study())
    assert table.rows[-1] == ["**sum**", *["101"] * len(BUFFERS)]  # 1007 cycles, 10 segments
    columns = [[int(row[place]) for row in table.rows[:-1]] for place in range(1, len(BUFFERS) + 1)]
    assert all(sum(column) == 101 for column in columns)
    assert receiver.segments(made_up.study()) and receiver.rate(made_up.study())


def test_tracing_is_compared_with_no_tracing():
    both = made_up.study(kernel="traced", segments=5)[:4] + made_up.study()
    table = receiver.disturbance(both)
    assert [row[0] for row in table.rows] == ["64 B", "1 KiB", "4 KiB", "16 KiB"]
    assert table.rows[2][1:5] == ["3.0", "3.0", "101", "201"]
    assert receiver.studied(both) == made_up.study() and list(receiver.studies(both)) == [
        "original",
        "original, traced",
    ]
    assert receiver.disturbance(made_up.study()) is None and receiver.rate(both)


@pytest.mark.parametrize(
    "other",
    [
        {"conditions": made_up.MACHINE | {"nic": "offload"}},
        {"sys_clk_hz": 84_000_000},
        {"conditions": made_up.MACHINE | {"memory": "dram"}},
        {"conditions": made_up.MACHINE | {"cpu": made_up.MACHINE["cpu"] | {"dcache": 16384}}},
    ],
)
def test_tracing_on_another_machine_is_not_compared(other):
    """The difference would not be the tracing's alone."""
    traced = made_up.study(kernel="traced", **other)
    assert receiver.disturbance([*traced, *made_up.study()]) is None
    kernel = made_up.MACHINE | {"kernel": "6.12.0-traced", "machine": "another", "checkpoint": "other"}
    alike = made_up.study(kernel="traced", conditions=kernel)
    assert len(receiver.disturbance([*traced, *alike, *made_up.study()]).rows) == len(BUFFERS)


@pytest.mark.parametrize(
    "made",
    [
        made_up.study(),
        made_up.study(kernel="traced"),
        [made_up.transfer(), made_up.transfer(link=1000)],
        [made_up.transfer("liteeth", conditions={"nic": "liteeth"})],
        [made_up.transfer(**PROFILED)],
    ],
)
def test_commands_make_the_transfers_again(made):
    lines = reproduce.commands(records.Records(made_up.run(["napi"], sizes=[64]), [], [], made))
    command = shlex.split(lines[-1])
    assert command[0] == "./moderato" and cli.parse(command[1:])
    assert any(line.startswith(("./moderato tcp ", "./moderato receiver ")) for line in lines)


def test_commands_have_all_chosen_options():
    dram = made_up.MACHINE | {"memory": "dram"}
    transfer = made_up.transfer(
        connections=4,
        sys_clk_hz=84_000_000,
        conditions=dram,
        check=True,
        faults=["drop", "swap"],
        peer="vanishes",
    )
    two = made_up.through_two_harts("pinned", 1, 2)
    *_, one, other = reproduce.commands(records.Records([], [], [], [transfer], hart_transfers=[two]))
    for options in (
        "--clock 84",
        "--memory dram",
        "--connections 4",
        "--check",
        "--faults drop,swap",
        "--peer vanishes",
    ):
        assert options in one
    assert "--harts 2 --spread pinned --kernel conntrack" in other
    for command in (one, other):
        assert cli.parse(shlex.split(command)[1:])


def test_the_chapter_is_written(file, tmp_path):
    assert (
        cli.main(
            [
                "report",
                "--results",
                str(file),
                "--output",
                str(tmp_path / "report.html"),
                "--markdown",
                str(tmp_path / "tables.md"),
                "--figures",
                str(tmp_path / "figures"),
            ]
        )
        == 0
    )
    tables = (tmp_path / "tables.md").read_text()
    assert "Goodput over TCP" in tables and "Song et al. 2010" in tables
    assert {"receiver-rate.svg", "receiver-segments.svg"} <= {
        path.name for path in (tmp_path / "figures").iterdir()
    }
