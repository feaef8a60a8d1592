# SPDX-License-Identifier: BSD-2-Clause
"""`moderato ontime`: lateness, its distribution, and the account of frames, from made-up captures."""

import struct

import pytest

from moderato.sim.lab import cli
from moderato.sim.lab.ontime import figures, ontime_tables, runs, study
from moderato.sim.lab.ontime.figures import Departure, Said
from moderato.sim.lab.ontime.ways import WAYS, Gates
from moderato.sim.lab.show.errors import LabError

OUTPUT = """\
base 1100000000
clock -12 900
clock 35 850
mark 0 1000000500
mark 1 1900000500
rejected 1
invalid 2 missed 3
"""
SAID = figures.said(OUTPUT)


def datagram(kind: bytes, number: int, launch: int) -> bytes:
    return bytes(figures.PAYLOAD) + struct.pack(">4sIQ2x", kind, number, launch)


def record(way: str, late: list[int]) -> dict:
    """As runs.run() makes it, as far as tables show it."""
    output = Said([0, 0], [0, 0], [0, 1], 0, 0, 1)
    return {
        "way": way,
        "interval_ns": 250_000,
        "link_mbps": 100,
        "load_percent": 100,
        "frame_bytes": 64,
        **figures.account(len(late) + 1, len(late), 0, output),
        "late": 0,
        "lateness_ns": figures.summary(late),
        "jitter_ns": max(late) - min(late) if late else None,
        "histogram": figures.histogram(late),
        "traffic": {"throughput": {"fps": 12345.6}},
    }


def test_output_of_the_program():
    assert SAID == Said([-12, 35], [900, 850], [1_000_000_500, 1_900_000_500], 1, 2, 3)
    for damaged in (OUTPUT.replace("mark 1", "mark 7"), OUTPUT[:-2], "ontime: SO_TXTIME: not there"):
        with pytest.raises(LabError, match="the guest's ontime says"):
            figures.said(damaged)


def test_departures_leave_other_frames_out():
    captured = [
        (100, datagram(b"mark", 0, 0)),
        (200, datagram(b"time", 0, 5000)),
        (300, datagram(b"test", 0, 5000)),
        (400, bytes(60)),
        (500, datagram(b"time", 1, 1 << 40)[:50]),  # too short
        (600, datagram(b"time", 7, 1 << 40)),
        (700, datagram(b"mark", 1, 0)),
    ]
    frames, marks = figures.departures(captured)
    assert frames == [Departure(200, 0, 5000), Departure(600, 7, 1 << 40)]
    assert [(mark.wire, mark.number) for mark in marks] == [(100, 0), (700, 1)]


@pytest.mark.parametrize("ppm", [0, 37, -100])
def test_lateness_by_the_clock_of_the_stamps(ppm):
    """The NIC's clock is ppm fast, and differs from the time since reset by any constant."""

    def clock(wire: int) -> int:
        return 1_700_000_000_000_000_123 + wire + wire * ppm // 1_000_000

    wires = range(100_000_000, 200_000_000, 1_000_000)
    frames = [Departure(wire, n, clock(wire) - 10 * n) for n, wire in enumerate(wires)]
    marks = [Departure(wire, n, 0) for n, wire in enumerate((90_000_000, 290_000_000))]
    late = figures.lateness(frames, figures.nic_clock(marks, [clock(mark.wire) for mark in marks]))
    assert all(abs(value - 10 * n) <= 1 for n, value in enumerate(late))
    if not ppm:
        assert late == [10 * n for n in range(100)]


def test_lateness_needs_both_marks():
    with pytest.raises(LabError, match="has 1 marks"):
        figures.nic_clock([Departure(5, 1, 0)], [1, 2])


def test_gates_of_a_queue():
    gates = Gates([(2, 100), (3, 50), (1, 200), (0, 30), (1, 20)])
    assert gates.cycle == 400
    assert gates.opens(0) == [(100, 350), (380, 400)]
    assert gates.opens(1) == [(0, 150)]


@pytest.mark.parametrize(
    "begin, ends", [(0, True), (900, True), (-20, False), (1000, False), (950, False)]
)
def test_frames_outside_their_windows_are_violations(begin, ends):
    """Of queue 1, with 64 octets at 1000 Mb/s; its gate is open in the cycle's first 1412 ns."""
    gates = Gates([(2, 1412), (1, 8588)])
    wire = 5 * gates.cycle + begin
    found = figures.violations([(wire, 1, 64)], lambda time: time, gates, octet=8)
    assert found == (not ends)
    assert figures.violations([(wire + 2000, 0, 64)], lambda time: time, gates, octet=8) == 0


def test_load_within_gates():
    """The load's gate has time for three of its frames in a cycle."""
    gates = Gates([(2, 100_000), (1, 900_000)])
    assert figures.most_frames(gates, 0, octets=3000, octet=80) == 3
    run = runs.Run(WAYS["gates"], frame_bytes=2980)
    marks = [Departure(500_000, 0, 0), Departure(10_500_000, 1, 0)]
    own = [Departure(5_000_015, 0, 0)]
    captured = [(frame.wire, bytes(60)) for frame in (*own, *marks)]
    captured += [
        (cycle * 1_000_000 + 200_000 + 240_000 * n, bytes(2976)) for cycle in range(12) for n in range(3)
    ]
    found = runs.gated(run, gates, captured, own, marks, lambda time: time)
    assert (found["load_frames"], found["most_load_frames"]) == (27, 27)
    assert (found["frames"], found["violations"]) == (39, 0)
    captured.append((20_000_000, bytes(2976)))
    assert runs.gated(run, gates, captured, own, marks, lambda time: time)["violations"] == 1


def test_summary():
    assert figures.summary([]) == dict.fromkeys(("min", "median", "p99", "max"))
    assert figures.summary([7]) == dict.fromkeys(("min", "median", "p99", "max"), 7)
    values = list(range(200, 0, -1))
    assert figures.summary(values) == {"min": 1, "median": 100, "p99": 198, "max": 200}


@pytest.mark.parametrize(
    "values", [[0], [-5, 5], [3, 3, 4], list(range(-1000, 2000, 7)), [0, 10, 0, 10], [-9, 10**9]]
)
def test_histogram_has_every_frame_once(values):
    bins = figures.histogram(values)
    assert sum(each["frames"] for each in bins) == len(values) and len(bins) <= figures.BINS
    for each in bins:
        inside = [value for value in values if each["from"] <= value < each["below"]]
        assert len(inside) == each["frames"]
    assert all(one["below"] == other["from"] for one, other in zip(bins, bins[1:]))
    assert bins[0]["frames"] and bins[-1]["frames"]


def test_account_closes():
    where = figures.account(20, on_wire=10, of_hardware=4, output=SAID)
    assert where == {
        "frames": 20,
        "on_wire": 10,
        "dropped_by_hardware": 4,
        "dropped_by_qdisc": 5,
        "rejected": 1,
        "missing": 0,
    }
    assert runs.problems(where, SAID, of_qdisc=5) == []
    for change in (-1, 1):
        wrong = figures.account(20, on_wire=10 + change, of_hardware=4, output=SAID)
        (problem,) = runs.problems(wrong, SAID, of_qdisc=5)
        assert f"{20 + change} are on the wire" in problem
    (problem,) = runs.problems(where, SAID, of_qdisc=6)
    assert "the qdisc dropped 6 frames, and the socket reported 5" in problem


def test_ways():
    """Two ways use etf; in the other two, the program sleeps."""
    etf = {name: way.commands() for name, way in WAYS.items()}
    assert [len(commands) for commands in etf.values()] == [1, 1, 0, 1]
    assert etf["hardware"][0].endswith(" offload") and "offload" not in etf["software"][0]
    assert ["ontime -s " in run.command for run in study.Request().runs()] == [False, False, True, True]
    assert all(way.delta is None or way.delta < runs.AHEAD for way in WAYS.values())


def test_no_gates_at_10_mbps():
    """A frame of the program takes more than its window there, so the driver would drop it."""
    assert [run.way.name for run in study.Request(link_mbps=10).runs()] == [
        name for name, way in WAYS.items() if not way.gates
    ]
    assert len(study.Request(link_mbps=100).runs()) == len(WAYS)


def test_load_covers_the_run():
    run = runs.Run(WAYS["none"], frames=50, interval=2_000_000, load_percent=10)
    trial = run.trial(runs.Traffic())
    assert trial.seconds >= run.seconds > 0.1 + runs.LEAD / 1e9


def test_no_line_of_the_tables_is_too_wide(monkeypatch):
    records = [record("hardware", [0, 10, 0]), record("software", [-200_000, 900]), record("none", [])]
    monkeypatch.setenv("COLUMNS", "60")
    lines = ontime_tables.render(records).splitlines()
    assert len(lines) > 20 and max(map(len, lines)) <= 60, max(lines, key=len)
    monkeypatch.delenv("COLUMNS")
    table = ontime_tables.render(records)
    assert "#" * ontime_tables.BAR in table and "no frame left" in table and "12346" in table


@pytest.mark.parametrize("words, says", [("--interval 10", "1000 to"), ("--interval x", "nanoseconds")])
def test_wrong_command(words, says, capsys):
    assert cli.main(["ontime", *words.split()]) == 2
    assert says in capsys.readouterr().err
