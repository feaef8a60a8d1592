# SPDX-License-Identifier: BSD-2-Clause
"""The report on made-up trials of a known device: tables, figures, files, failures."""

import base64
import csv
import errno
import gzip
import json
import os
import re
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import made_up_trials as made_up
import pytest
from damaged import damaged
from matplotlib.figure import Figure

from moderato.sim.lab import cli
from moderato.sim.lab.commands.rfc2544 import require_used
from moderato.sim.lab.report import (
    build_report,
    cell_results,
    detail,
    fast,
    figures,
    forwards,
    frontier,
    model,
    ontime,
    paper,
    paper_tables,
    profiles,
    records,
    reproduce,
)
from moderato.sim.lab.report.chapters import contents
from moderato.sim.lab.report.inputs import Inputs
from moderato.sim.lab.rfc2544 import tests
from moderato.sim.lab.rfc2544.trials import steady
from moderato.sim.lab.show.errors import LabError

VARIANTS = ["original", "napi", "napi-tx-off"]
SIZES = [64, 256, 512, 1518]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def trials() -> list[dict]:
    """All tests of three variants, and of another NIC."""
    return made_up.run(VARIANTS, SIZES) + made_up.run(
        ["liteeth"], SIZES, conditions=made_up.MACHINE | {"nic": "liteeth", "machine": "other"}
    )


@pytest.fixture
def file(tmp_path, trials):
    path = tmp_path / "trials.jsonl"
    path.write_text(lines(trials))
    return path


def lines(trials: list[dict]) -> str:
    return "".join(json.dumps(trial) + "\n" for trial in trials)


def search(variant: str, size: int, **options) -> list[dict]:
    """The steady trials of one phase."""
    return made_up.drive(tests.throughput(tests.Cell(variant, size, 100, 1.0), [0.5]), **options)


def chosen(trials: list[dict]) -> records.Records:
    return records.Records(*records.choose(trials))


# Model --------------------------------------------------------------------------------------------


def test_fit_finds_a_known_line():
    line = model.fit({size: 25.8 + 0.02 * size for size in made_up.SIZES})
    assert line.constant_us == pytest.approx(25.8)
    assert line.k_us_per_octet == pytest.approx(0.02)
    assert line.r_squared({size: 25.8 + 0.02 * size for size in made_up.SIZES}) == pytest.approx(1)


def test_r_squared_tells_a_bad_fit():
    us = {64: 10, 512: 30, 1024: 10, 1518: 30}
    line = model.fit(us)
    # Sxy² / (Sxx Syy) = 9420² / (1188659 · 400)
    assert line.r_squared(us) == pytest.approx(0.18663, abs=1e-5)
    assert model.Model(20, 0).r_squared(us) == pytest.approx(0)


def test_two_sizes_fit_any_line():
    assert model.fit({64: 10.0, 1518: 20.0}) is None


def test_model_and_times_are_inverse():
    line = model.Model(25.8, 0.02)
    assert line.mbps(64, 100) == pytest.approx(12.41, abs=0.01)  # the paper has 12.38
    assert model.us_per_frame(line.mbps(64, 100), 64, 100) == pytest.approx(line.us(64))
    assert line.mbps(1518, 100) == 100  # at most the line rate


def test_papers_model_fits_the_papers_throughput():
    """The paper's two tables agree, so neither was copied wrongly."""
    for (variant, size), mbps in paper.throughput().items():
        assert paper.model()[variant].mbps(size, 100) == pytest.approx(mbps, rel=0.04)


def test_papers_table_2_follows_from_table_1():
    """As printed, except for the columns of NAPI and TX-OFF, which are exchanged."""
    printed = {
        64: (6.10, 28.87, 21.16, 44.05, 108.77),
        128: (4.44, 23.00, 19.26, None, 103.46),
        512: (3.50, 17.98, 16.61, 25.26, 63.95),
    }
    found = paper.throughput()
    for size, gains in printed.items():
        for variant, gain in zip(("tx-128", "napi", "tx-off", "napi-tx-128", "napi-tx-off"), gains):
            if gain is not None:  # 32.46 is printed; 34.26 follows from table 1
                assert 100 * (found[variant, size] / found["original", size] - 1) == pytest.approx(
                    gain, abs=0.06
                )


# Throughput ---------------------------------------------------------------------------------------


def test_throughput_is_the_highest_step_that_passed(trials):
    found = cell_results.throughputs(chosen(trials).of("steady"))
    assert set(found) == {(variant, size) for variant in [*VARIANTS, "liteeth"] for size in SIZES}
    for (variant, size), answer in found.items():
        most = 1e6 / made_up.us_per_frame(variant, size)
        assert answer.exact and len(answer.phases) == 3
        if answer.at_line:
            assert answer.mbps == 100 and answer.rate <= most
        else:
            assert answer.rate <= most < answer.rate * 1.0101


def test_throughput_without_a_rate_that_failed_is_at_least_that():
    trials = search("napi", 64)
    best = max(
        (trial for trial in trials if trial["passed"]), key=lambda trial: trial["task"]["load_percent"]
    )
    load = best["task"]["load_percent"]
    cut_off = [trial for trial in trials if not load < trial["task"]["load_percent"] < 1.02 * load]
    assert len(cut_off) == len(trials) - 1
    found = cell_results.throughputs(cut_off)
    assert not found["napi", 64].exact and found["napi", 64].record == best
    shown = paper_tables.table1(chosen(cut_off), found)
    assert shown.rows[0][2].startswith("≥") and paper_tables.LEAST_NOTE in shown.notes
    assert shown.rows[2][2] == "–"  # no figure is derived from it
    assert cell_results.frame_times(found, "napi") == {}
    whole = cell_results.throughputs(trials)
    assert paper_tables.table1(chosen(trials), whole).rows[0][2] == f"{load:.2f}"


def test_median_and_spread_of_phases():
    def phase(share, load):
        return [
            made_up.record(steady("napi", 64, 100, each, share, 1.0), passed=passed)
            for each, passed in ((load, True), (round(load * 1.01, 4), False))
        ]

    loads = [round(100 / 1.01**step, 4) for step in (270, 272, 271)]
    trials = [trial for share, load in zip((0.5, 0.0, 0.25), loads) for trial in phase(share, load)]
    answer = cell_results.throughputs(trials)["napi", 64]
    assert answer.mbps == loads[2]
    assert answer.rates == sorted(answer.rates) and answer.rates[0] < answer.rate < answer.rates[-1]


def test_the_finest_resolution_decides():
    coarse = made_up.drive(tests.throughput(tests.Cell("napi", 64, 100, 10.0), [0.5]))
    fine = search("napi", 64)
    for trials in (coarse + fine, fine + coarse):
        answer = cell_results.throughputs(trials)["napi", 64]
        assert answer.record["task"]["resolution"] == 1.0 and len(answer.phases) == 1


def test_line_rate_is_marked_and_left_out_of_the_model(trials):
    of = chosen(trials)
    found = cell_results.throughputs(of.of("steady"))
    rows = {tuple(row[:2]): row[2:] for row in paper_tables.table1(of, found).rows}
    assert rows["1518", "ours"][2] == "100.00*"
    assert rows["64", "theirs"] == ["12.38", "15.95", "25.85", "–"]
    assert 1518 not in cell_results.frame_times(found, "napi-tx-off")


def test_missing_measurements_stay_empty():
    trials = search("napi", 64) + search("original", 512)
    of = chosen(trials)
    rows = {
        tuple(row[:2]): row[2:]
        for row in paper_tables.table1(of, cell_results.throughputs(of.of("steady"))).rows
    }
    assert rows["64", "ours"][0] == rows["512", "ours"][1] == "–"
    assert rows["64", "ours / theirs"][0] == "–" and rows["64", "theirs"][0] == "12.38"


# Tables -------------------------------------------------------------------------------------------


def test_ratios_and_gains(trials):
    of = chosen(trials)
    found = cell_results.throughputs(of.of("steady"))
    ratio = found["napi-tx-off", 64].mbps / found["original", 64].mbps
    theirs = 25.85 / 12.38
    shown = {tuple(row[:2]): row[4] for row in paper_tables.table1_ratios(of, found).rows}
    assert shown["64", "ours"] == f"{ratio:.2f}" and shown["64", "theirs"] == f"{theirs:.2f}"
    assert shown["64", "ours / theirs"] == f"{ratio / theirs:.2f}"
    assert shown["512", "ours / theirs"] == "**1.22**"  # 0.22 is more than 0.15
    gains = {tuple(row[:2]): row[3] for row in paper_tables.table2(of, found).rows}
    assert gains["64", "theirs"] == "+108.8" and gains["64", "ours"] == f"{100 * ratio - 100:+.1f}"


def test_ratios_to_another_nic(trials):
    of = chosen(trials)
    found = cell_results.throughputs(of.of("steady"))
    ratio = found["napi-tx-off", 64].mbps / found["liteeth", 64].mbps
    shown = paper_tables.baseline(of, found)
    assert shown.rows[0] == ["64", "to liteeth", *shown.rows[0][2:4], f"{ratio:.2f}", "1.00"]
    alone = chosen(search("napi", 64))
    assert paper_tables.baseline(alone, cell_results.throughputs(alone.trials)) is None


def test_tables_have_the_frame_counts(trials):
    of = chosen(trials)
    found = cell_results.throughputs(of.of("steady"))
    frames = [
        sum(port["offered"] for port in each.record["report"]["ports"])
        for answer in found.values()
        for each in answer.phases
    ]
    assert f"{min(frames)} to {max(frames)} frames" in paper_tables.table1(of, found).notes[0]
    for table in (detail.throughput(of, found), detail.latency(of, found)):
        assert any("frames" in title for title in table.head)


def test_table_3_counts_the_window(trials):
    of = chosen(trials)
    full = cell_results.full_load(cell_results.curves(of.of("loss")), 512)
    rows = {tuple(row[:2]): row[2:] for row in paper_tables.table3(of, full).rows}
    window = full["original"]["report"]["ports"][0]["window"]
    assert rows["original", "ours"][0] == str(2 * window["offered"])
    assert rows["original", "ours"][6:8] == ["1.000", "–"]  # it forwards no frame at full load
    assert rows["napi", "ours"][5:8] == ["1.000", "0.000", "1.000"]
    assert rows["napi", "ours"][8] == "2"  # one at each port, at the start
    assert rows["napi", "theirs"] == [
        "2000000",
        "1272263",
        "1272263",
        "5",
        "1271962",
        "1.000",
        "0.000",
        "1.000",
        "5",
    ]
    assert ("liteeth", "theirs") not in rows


def test_table_4_finds_the_devices_line(trials):
    of = chosen(trials)
    found = cell_results.throughputs(of.of("steady"))
    rows = {row[0]: row[1:] for row in paper_tables.table4(of, found, cell_results.models(found)).rows}
    for variant, row in rows.items():
        assert float(row[0]) == pytest.approx(made_up.CONSTANT[variant], rel=0.02)
        assert float(row[4]) == pytest.approx(1e3 * made_up.PER_OCTET, rel=0.1)
        assert float(row[6]) > 0.99
    assert rows["original"][1:4] == ["25.8", "1.000", "1.000"] and rows["liteeth"][1] == "–"


def test_burst_that_was_never_too_long_is_at_least_that(trials):
    burst = [trial for trial in trials if trial["task"]["kind"] == "burst"]
    found = cell_results.bursts(burst)
    rows = {tuple(row[:2]): row[2] for row in detail.bursts(chosen(trials), found).rows}
    assert rows["1518", "napi-tx-off"] == "≥4096"
    assert 297 <= int(rows["64", "napi"]) <= made_up.BURST


# Which trials -------------------------------------------------------------------------------------


def test_other_machines_are_kept_apart(tmp_path, trials):
    old = search("napi", 64, conditions=made_up.MACHINE | {"machine": "older", "version": "v0"})
    fast = [made_up.record(steady("napi", 64, 1000, 10, 0.5, 1.0))]
    path = tmp_path / "trials.jsonl"
    path.write_text(lines(old + fast + trials))
    found = records.load([path])
    assert found.trials == trials  # both NICs
    assert found.notes == [
        f"left out: {len(old)} trial(s) that were made otherwise (moderato at 100 Mb/s, machine "
        "older, version v0)",
        "left out: 1 trial(s) that were made otherwise (moderato at 1000 Mb/s, machine "
        "0123456789ab, version v1)",
    ]


def test_a_variants_earlier_settings_are_left_out():
    def made(checkpoint):
        return search("napi", 64, conditions=made_up.MACHINE | {"checkpoint": checkpoint})

    of = chosen(search("original", 64) + made("before") + made("after"))
    assert of.trials == search("original", 64) + made("after") and len(of.notes) == 1


def test_records_without_conditions():
    trials = search("napi", 64, conditions=None)
    of = chosen(trials)
    assert of.trials == trials and of.notes == []
    assert detail.machines(of).rows[0][:3] == ["moderato", "unknown", "–"]
    mixed = chosen(trials + search("napi", 64))
    assert len(mixed.trials) == len(trials) and len(mixed.notes) == 1


def test_truncated_line_is_skipped_and_reported(tmp_path, trials):
    path = tmp_path / "trials.jsonl"
    path.write_text(lines(trials)[:-30])
    found = records.load([path])
    assert found.trials == trials[:-1]
    assert found.notes == ["1 line(s) of trials.jsonl are cut off and left out"]


def test_several_files_and_compressed_ones(tmp_path, trials):
    (tmp_path / "a.jsonl").write_text(lines(trials[:100]))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines(trials[50:]).encode()))
    assert records.load([tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"]).trials == trials


def test_truncated_gzip_file_is_rejected(tmp_path, trials):
    path = tmp_path / "trials.jsonl.gz"
    path.write_bytes(gzip.compress(lines(trials).encode())[:-500])
    with pytest.raises(LabError, match="not a whole gzip file"):
        records.load([path])
    path.write_bytes(b"no gzip")
    with pytest.raises(LabError, match="not a whole gzip file"):
        records.load([path])


def test_unsound_trials_are_reported(tmp_path, trials):
    path = tmp_path / "trials.jsonl"
    path.write_text(lines(trials[:-1] + [trials[-1] | {"problems": ["2 frames corrupted"]}]))
    assert records.load([path]).notes == [f"trial {trials[-1]['name']} is unsound: 2 frames corrupted"]


# Figures ------------------------------------------------------------------------------------------


def draw(trials: list[dict]) -> list:
    of = chosen(trials)
    found = cell_results.throughputs(of.of("steady"))
    models, curves = cell_results.models(found), cell_results.curves(of.of("loss", "steady"))
    return [
        figures.throughput(of, found),
        figures.collapse(of, curves),
        figures.model_fit(of, found, models),
        figures.model_lines(of, models),
        figures.latency(of, found),
        figures.interrupts(of, curves),
    ]


def test_a_figure_that_cannot_be_written_leaves_the_old_one(trials, tmp_path, monkeypatch):
    plot = draw(trials)[0]
    plot.save(tmp_path)
    old, names = (tmp_path / f"{plot.name}.png").read_bytes(), sorted(tmp_path.iterdir())
    monkeypatch.setattr(Figure, "savefig", full_disk(Figure.savefig))
    with pytest.raises(LabError, match="free some space"):
        plot.save(tmp_path)
    assert (tmp_path / f"{plot.name}.png").read_bytes() == old
    assert sorted(tmp_path.iterdir()) == names


def full_disk(save):
    """Matplotlib's save function, but only half of a file is written."""

    def savefig(self, file, **options):
        if not isinstance(file, Path):
            return save(self, file, **options)
        file.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    return savefig


def test_figures_are_the_same_bytes_each_time(trials):
    assert [plot.svg() for plot in draw(trials)] == [plot.svg() for plot in draw(trials)]


def test_each_point_has_its_tooltip(trials):
    plot = draw(trials)[0]
    root = ElementTree.fromstring(plot.svg(live=True))
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert len(titles) == len(set(titles)) == 4 * len(SIZES) + 3 * 8  # ours; the paper has 8 sizes
    assert "Spanos et al. 2008: original, 64 bytes: 12.38 Mb/s, 36845 frames/s forwarded" in titles
    assert sum("ours: liteeth" in title for title in titles) == len(SIZES)
    assert root.get("role") == "img" and root.get("aria-label") == plot.caption


def test_files_have_no_tooltips(trials):
    assert not any("<title" in plot.svg() or "data-variant" in plot.svg() for plot in draw(trials))


def test_ids_of_figures_differ(trials):
    ids = []
    for plot in draw(trials):
        text = plot.svg(live=True)
        made = re.findall(r'\bid="([^"]+)"', text)
        used = re.findall(r'(?:href="#|url\(#)([^")]+)', text)
        assert used and set(used) <= set(made)
        ids += made
    assert len(ids) == len(set(ids))


def test_figures_without_trials_are_left_out():
    failed = made_up.record(steady("napi", 1024, 100, 99, 0.5, 1.0), passed=False)
    *others, interrupts = draw([failed])
    assert others == [None] * 5 and "1024-byte" in interrupts.caption


# Profiles -----------------------------------------------------------------------------------------

PROFILE = {
    "variant": "napi",
    "frame_bytes": 64,
    "load_percent": 100,
    "link_mbps": 100,
    "sys_clk_hz": 100_000_000,
    "interrupts_enabled": 700_000,
    "window": {
        "cycles": 1_000_000,
        "forwarded": 100,
        "received": 110,
        "rx_interrupts": 0,
        "tx_interrupts": 100,
    },
    "terms": {"T_CS": {"cycles": 250_000}, "T_IP": {"cycles": 649_900}, "idle": {"cycles": 100_100}},
    "causes": {
        "retire": 400_000,
        "pipeline": 300_000,
        "icache": 100_000,
        "dcache": 50_000,
        "lsu": 40_000,
        "tlb": 9_900,
        "idle": 100_100,
    },
    "functions": {"ip_forward.constprop.0": 50_000, "memset": 10_000},
}


def test_table_5_per_frame(tmp_path):
    (tmp_path / "napi.json").write_text(json.dumps([PROFILE]))
    of_ours, causes, costliest = profiles.tables5(profiles.load(tmp_path).profiles)
    assert of_ours.rows == [
        ["64", "100", "napi", "2500", "6499", "1001", "10000", "77.8", "1.000", "100 forwarded"]
    ]
    assert causes.rows == [["64", "100", "napi", "4000", "3000", "1000", "500", "400", "99", "1001"]]
    assert costliest.rows[0][2:5] == ["napi", "ip_forward 500", "memset 100"]


def test_table_5_without_forwarded_frames(tmp_path):
    window = PROFILE["window"] | {"forwarded": 0}
    (tmp_path / "napi.json").write_text(json.dumps([PROFILE | {"window": window}]))
    assert profiles.tables5(profiles.load(tmp_path).profiles)[0].rows[0][-1] == "110 received"


def test_variants_of_a_profile_are_in_the_papers_order(tmp_path):
    for number, variant in enumerate(("liteeth", "napi", "original")):
        (tmp_path / f"{number}.json").write_text(json.dumps([PROFILE | {"variant": variant}]))
    for table in profiles.tables5(profiles.load(tmp_path).profiles):
        assert [row[2] for row in table.rows] == ["original", "napi", "liteeth"]


def test_table_5_is_one_table(tmp_path):
    """Sizes and loads are rows; terms that a profile lacks are empty cells."""
    larger = PROFILE | {"frame_bytes": 1518, "terms": PROFILE["terms"] | {"T_COPY": {"cycles": 100}}}
    (tmp_path / "both.json").write_text(json.dumps([larger, PROFILE]))
    table, *_ = profiles.tables5(profiles.load(tmp_path).profiles)
    copied = table.head.index("T_COPY")
    assert [(row[0], row[copied]) for row in table.rows] == [("64", "–"), ("1518", "1")]


def test_their_table_5():
    rows = {row[0]: row[1:] for row in profiles.table5_theirs().rows}
    assert rows["napi-tx-128"] == [
        "1/128 T_CS + T_RX + T_COPY + T_IP + T_TX + T_SKB",
        "T_RX + T_COPY + T_IP",
        "1/128",
    ]
    assert rows["original"][0].startswith("2 T_CS + ") and rows["napi-tx-off"][2] == "0"


@pytest.mark.parametrize("content", ["", "{}", "[1]", "[{}]", '[{"window": {}}]'])
def test_malformed_profile_is_rejected(tmp_path, content):
    (tmp_path / "bad.json").write_text(content)
    with pytest.raises(LabError, match="bad.json is not a profile"):
        profiles.load(tmp_path)


def test_folder_without_profiles_is_rejected(tmp_path):
    with pytest.raises(LabError, match="holds no profiles"):
        profiles.load(tmp_path)


# Command ------------------------------------------------------------------------------------------


def run(file, *more) -> int:
    return cli.main(
        ["report", "--results", str(file), "--output", str(file.parent / "report.html"), *map(str, more)]
    )


def test_new_clone_shows_published_trials(tmp_path, monkeypatch, capsys, trials):
    """Until trials are run in it."""
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path))
    published = tmp_path / "docs"
    published.mkdir()
    (published / "rfc2544.jsonl.gz").write_bytes(gzip.compress(lines(trials).encode()))
    (published / "profiles").mkdir()
    (published / "profiles" / "napi.json").write_text(json.dumps([PROFILE]))
    monkeypatch.setattr(build_report, "PUBLISHED", published)
    page = tmp_path / "report.html"
    assert cli.main(["report", "--output", str(page)]) == 0
    said = capsys.readouterr()
    assert f"{len(trials)} trials" in said.out
    assert "these are the published trials" in said.err and "./moderato rfc2544" in said.err
    assert "these are the published trials" in page.read_text() and "table-5" in page.read_text()

    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "tcp.jsonl").write_text(lines([made_up.transfer()]))
    assert cli.main(["report", "--output", str(page)]) == 0
    said = capsys.readouterr()
    assert "1 trial, " in said.out and "table-5" not in page.read_text()
    kept, named = re.search(r"in the build cache, (\S+); .*--results (\S+)", said.err).groups()
    assert kept == str(tmp_path / "results" / "tcp.jsonl")
    assert os.path.samefile(named, published / "rfc2544.jsonl.gz")


def forwarded(variant: str, **changes) -> dict:
    """A trial as in `moderato forward`'s --json."""
    port = {
        "offered": 100,
        "received": 70,
        "forwarded": 60,
        "dropped_at_ring": 30,
        "rx_interrupts": 2,
        "tx_interrupts": 1,
    }
    return {
        "variant": variant,
        "frame_bytes": 64,
        "load_percent": 2.5,
        "link_mbps": 100,
        "flows": 1,
        "one_way": False,
        "sys_clk_hz": 100_000_000,
        "cycles": 1000,
        "ports": [port, port],
        "throughput": {"fps": 1234.4, "mbps": 1.0},
        "cpu_idle_percent": 12.34,
        "harts": 1,
        "latency_ns": {"min": 1, "median": 41_700, "p99": None, "max": 9},
        "spread": None,
        "conditions": made_up.MACHINE,
        "simulation": {"wall_seconds": 1.0},
    } | changes


def test_reads_json_of_forward_and_tcp(tmp_path):
    """Alone and together; a trial that is in two files is shown once."""
    again = forwarded("napi", simulation={"wall_seconds": 2.0})
    both = [forwarded("original"), forwarded("napi")]
    (tmp_path / "forward.json").write_text(json.dumps(both, indent=2))
    (tmp_path / "again.json").write_text(json.dumps([again, forwarded("napi", link_mbps=1000)]))
    (tmp_path / "tcp.json").write_text(json.dumps([made_up.transfer() | {"nic": "moderato"}]))
    files = [tmp_path / f"{name}.json" for name in ("forward", "again", "tcp")]
    found = records.load(files)
    assert len(found.forwards) == 3 and len(found.transfers) == 1 and not found.trials
    first, second = forwards.tables(found.forwards)
    assert first.rows == [
        ["64", "2.5", variant, "200", "140", "120", "60", "4", "2", "1234", "41.7", "–", "12.3"]
        for variant in ("original", "napi")
    ]
    assert "100 Mb/s, NIC moderato, kernel 6.12.0, version v1" in first.caption
    assert "1000 Mb/s" in second.caption
    for each in ([files[0]], [files[2]], files):
        assert (
            cli.main(
                [
                    "report",
                    "--results",
                    ",".join(map(str, each)),
                    "--output",
                    str(tmp_path / "report.html"),
                ]
            )
            == 0
        )
        page = (tmp_path / "report.html").read_text()
        assert ('id="forward-1"' in page) == (files[0] in each)
        assert ('id="tcp-goodput"' in page) == (files[2] in each)
    data = re.search(r'"trials.jsonl.gz" href="data:application/gzip;base64,([^"]+)"', page)
    (tmp_path / "data.jsonl.gz").write_bytes(base64.b64decode(data[1]))
    assert records.load([tmp_path / "data.jsonl.gz"]) == found


def on_time(way: str, late: list[int], **changes) -> dict:
    """A record as in `moderato ontime`'s --json."""
    return {
        "kind": "ontime",
        "way": way,
        "name": way,
        "frames": 4,
        "on_wire": len(late),
        "dropped_by_hardware": 0,
        "dropped_by_qdisc": 4 - len(late),
        "rejected": 0,
        "interval_ns": 1_000_000,
        "link_mbps": 100,
        "load_percent": 100.0,
        "frame_bytes": 64,
        "harts": 1,
        "lateness_ns": {"min": min(late), "median": late[0], "p99": max(late), "max": max(late)},
        "jitter_ns": max(late) - min(late),
        "frame_lateness_ns": dict(enumerate(late)),
        "traffic": {"throughput": {"fps": 17539.3}, "simulation": {"wall_seconds": 1.0}},
    } | changes


def test_reads_json_of_ontime(tmp_path):
    """A table and a figure for each link; gates have a column."""
    gates = {"violations": 0, "frames": 1302}
    late = [on_time("hardware", [10] * 4), on_time("software", [-300, -200, 90])]
    late += [on_time("gates", [1_000_015] * 4, gates=gates), on_time("none", [7] * 4, link_mbps=1000)]
    (tmp_path / "ontime.json").write_text(json.dumps(late, indent=2))
    slower = [each | {"traffic": each["traffic"] | {"simulation": None}} for each in late]
    (tmp_path / "again.json").write_text(json.dumps(slower))
    found = records.load([tmp_path / "ontime.json", tmp_path / "again.json"])
    assert len(found.ontime) == 4 and not found.trials and not found.forwards
    first, second = ontime.tables(found.ontime)
    assert [row[0] for row in first.rows] == ["hardware", "software", "gates"]
    assert first.rows[1][1:] == ["4", "3", "-300", "-300", "90", "90", "390", "1", "–", "17539"]
    assert first.rows[2][-2] == "0 of 1302" and len(second.rows) == 1
    assert run(tmp_path / "ontime.json") == 0
    page = (tmp_path / "report.html").read_text()
    assert all(f'id="ontime-{n}"' in page and f'id="ontime-figure-{n}"' in page for n in (1, 2))


def some(kind: str) -> list[dict]:
    """A few records of a kind that reports accept."""
    return {
        "rfc2544": lambda: search("napi", 64)[:2],
        "strategies": lambda: made_up.strategies()[:3],
        "tcp": lambda: [made_up.transfer()],
        "receiver": lambda: made_up.study()[:2],
        "harts": lambda: [made_up.through(), made_up.through_two_harts("rps", 9, 8)],
        "forward": lambda: [forwarded("napi"), forwarded("xdp")],
        "ontime": lambda: [on_time("hardware", [10] * 4), on_time("none", [5, 9])],
        "profile": lambda: [PROFILE],
    }[kind]()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "kind", ["rfc2544", "strategies", "tcp", "receiver", "harts", "forward", "ontime", "profile"]
)
def test_damaged_records(kind, seed, tmp_path, capsys):
    """The result is a report, or an error that names the file."""
    good = tmp_path / "good.jsonl"
    good.write_text(lines([made_up.transfer()]))
    profile = kind == "profile"
    random = Random(seed)
    for _ in range(
        4 if kind in ("rfc2544", "strategies", "receiver", "ontime") else 40
    ):  # these draw figures
        (tmp_path / "folder").mkdir(exist_ok=True)
        bad = tmp_path / (
            "folder/bad.json"
            if profile
            else "bad.json"
            if kind in ("forward", "ontime")
            else "bad.jsonl"
        )
        content = damaged(some(kind), random)
        bad.write_text(lines(content) if bad.suffix == ".jsonl" else json.dumps(content))
        status = run(good if profile else bad, *(["--profiles", bad.parent] if profile else []))
        said = capsys.readouterr().err
        assert status in (0, 1), content
        assert (
            status == 0
            or said.splitlines()[-1].startswith("moderato: ")
            and (str(bad.parent if profile else bad) in said)
        ), content


@pytest.mark.parametrize("name", ["deep.json", "deep.jsonl"])
def test_deep_nesting_is_rejected(name, tmp_path, capsys):
    (tmp_path / name).write_text("[" * 100_000)
    assert run(tmp_path / name) == 1
    assert name in capsys.readouterr().err


def test_variants_past_the_stack(tmp_path, capsys):
    """A row per variant, with the stack on the same machine; other machines have no table."""
    idle = {
        "throughput": {"fps": 4936.0, "mbps": 1.0},
        "cpu_idle_percent": 99.32,
        "latency_ns": {"min": 1, "median": 900, "p99": 950, "max": 999},
    }
    found = [
        forwarded("offload", **idle),
        forwarded("napi-tx-off"),
        forwarded("xdp"),
        forwarded("xdp", frame_bytes=512),
        forwarded("xdp", frame_bytes=None, load_percent=None),
        forwarded("napi", link_mbps=1000),
    ]
    (tmp_path / "forward.json").write_text(json.dumps(found))
    (table,) = fast.tables(records.load([tmp_path / "forward.json"]).forwards)
    assert table.rows == [
        ["64", "2.5", "napi-tx-off", "1234", "1.00", "41.7", "12.3"],
        ["64", "2.5", "offload", "4936", "4.00", "0.9", "99.3"],
        ["64", "2.5", "xdp", "1234", "1.00", "41.7", "12.3"],
        ["512", "2.5", "xdp", "1234", "–", "41.7", "12.3"],
    ]
    for results, there in (("forward.json", True), ("none.json", False)):
        (tmp_path / "none.json").write_text(json.dumps([forwarded("napi")]))
        assert (
            cli.main(
                [
                    "report",
                    "--results",
                    str(tmp_path / results),
                    "--output",
                    str(tmp_path / "report.html"),
                ]
            )
            == 0
        )
        assert ("Past Linux" in (tmp_path / "report.html").read_text()) == there


@pytest.mark.parametrize("content", ["[", "[1]", "[{}]", json.dumps([PROFILE])])
def test_other_json_is_rejected(tmp_path, content):
    (tmp_path / "other.json").write_text(content)
    with pytest.raises(LabError, match="other.json is not what --json of `./moderato forward`"):
        records.load([tmp_path / "other.json"])


def test_without_trials_the_command_is_named(tmp_path, capsys):
    (tmp_path / "empty.jsonl").touch()
    assert run(tmp_path / "empty.jsonl") == 1
    assert "./moderato rfc2544" in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()


def test_markdown_shows_the_figures_beside_it(file, tmp_path, capsys):
    (tmp_path / "docs").mkdir()
    assert (
        run(file, "--figures", tmp_path / "figures", "--markdown", tmp_path / "docs" / "tables.md") == 0
    )
    assert f"moderato: wrote {tmp_path}/figures, {tmp_path}/docs/tables.md" in capsys.readouterr().err
    text = (tmp_path / "docs" / "tables.md").read_text()
    shown = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert len(shown) == 7
    for name in shown:
        svg = (tmp_path / "docs" / name).resolve()
        assert svg.parent == tmp_path / "figures"
        assert svg.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    for number in range(1, 5):
        assert f"**Table {number}. " in text
    widths = {
        len(line.split(" | ")) for line in text.split("**Table 1. ")[1].split("\n\n")[1].splitlines()
    }
    assert widths == {2 + len(VARIANTS) + 1}


def test_raw_data_makes_the_same_report(file, tmp_path):
    assert run(file) == 0
    first = (tmp_path / "report.html").read_text()
    data = re.search(r'"trials.jsonl.gz" href="data:application/gzip;base64,([^"]+)"', first)
    again = tmp_path / "again.jsonl.gz"
    again.write_bytes(base64.b64decode(data[1]))
    assert run(again) == 0
    assert (tmp_path / "report.html").read_text() == first


def test_the_command_that_made_the_trials(trials):
    checkout, *lines = reproduce.commands(chosen(trials))
    assert checkout == "git checkout v1"
    searches, loss, burst, others, *of_liteeth = [
        cli.parse(line.removeprefix("./moderato ").split()) for line in lines
    ]
    assert searches.tests == ["throughput", "latency"] and searches.phases == 3
    assert loss.tests == ["loss"] and loss.loads == [100, 60, 30, 20, 15, 12, 10, 8, 6, 4, 2]
    assert burst.tests == ["burst"] and loss.phases is burst.phases is None
    assert others.tests == ["recovery", "reset"] and others.phases == 1
    for each in (searches, loss, burst, others):
        assert (each.variant, each.frame_sizes, each.nic) == (VARIANTS, SIZES, "moderato")
        assert each.link_mbps == 100
        require_used(each)
    assert searches.resolution == others.resolution == 1.0
    assert [each.tests for each in of_liteeth] == [searches.tests, loss.tests, burst.tests, others.tests]
    assert {each.nic for each in of_liteeth} == {"liteeth"}


def test_the_command_makes_only_these_trials():
    version = made_up.MACHINE | {"version": "v2-dirty"}
    trials = search("napi", 64) + search("napi", 512) + search("original", 64, conditions=version)
    assert reproduce.commands(chosen(trials)) == [
        "git checkout v2  # and files that were not committed",
        "./moderato rfc2544 --test throughput,latency --variant napi --frame-size 64,512 "
        "--phases 1 --resolution 1 --link 100",
        "./moderato rfc2544 --test throughput,latency --variant original --frame-size 64 "
        "--phases 1 --resolution 1 --link 100",
    ]


def test_no_command_for_a_commit_that_is_unknown():
    version = "0.1.0, commit unknown"
    trials = search("napi", 64, conditions=made_up.MACHINE | {"version": version})
    assert reproduce.commands(chosen(trials))[0] == f"# version: {version}"


def test_data_files_are_those_of_the_paper():
    """Each of the paper's tables is complete, as the README next to them states."""
    folder = paper.ROOT / "docs" / "data"
    rows = {
        number: list(csv.reader((folder / f"spanos-2008-table{number}.csv").open()))
        for number in (1, 3, 4, 5)
    }
    assert [len(rows[number]) - 1 for number in (1, 3, 4, 5)] == [8, 4, 6, 6]
    assert len(paper.throughput()) == 48 and set(paper.terms()) == set(paper.VARIANTS)


def test_sections_without_data_have_a_note():
    of = chosen(search("napi", 64))
    chapters = contents(Inputs(of, profiles.NONE))
    missing = {chapter.name for chapter in chapters if not chapter.present}
    assert missing == {"profile", "burst", "recovery", "strategies", "tcp", "harts"}
    assert all(chapter.missing for chapter in chapters if chapter.name in missing)


def test_docs_agree_with_the_published_records(tmp_path):
    docs = paper.ROOT / "docs"
    records = sorted((docs / "data").glob("*.jsonl.gz"))
    assert (
        cli.main(
            [
                "report",
                "--results",
                ",".join(map(str, records)),
                "--profiles",
                str(docs / "data" / "profiles"),
                "--output",
                str(tmp_path / "report.html"),
                "--figures",
                str(tmp_path / "figures"),
                "--markdown",
                str(tmp_path / "tables.md"),
            ]
        )
        == 0
    )
    assert (tmp_path / "tables.md").read_text() == (docs / "tables.md").read_text()
    for figure in (docs / "figures").glob("*.svg"):
        assert (tmp_path / "figures" / figure.name).read_bytes() == figure.read_bytes(), figure.name


# Strategies ---------------------------------------------------------------------------------------


def test_strategies_are_the_latest_commit_s_in_their_order(tmp_path, trials):
    older = {"conditions": made_up.MACHINE | {"version": "v0"}}
    found = records.load(
        [
            tmp_file(
                tmp_path,
                [made_up.strategy("napi-full", "50%", 1, 1, **older), *trials, *made_up.strategies()],
            )
        ]
    )
    assert len(found.trials) == len(trials) and not found.notes
    assert [(record["situation"], record["setting"]) for record in found.strategies][:4] == [
        ("ping", "napi-full"),
        ("ping", "hw-moderated 100 us"),
        ("ping", "hw-moderated 1 ms"),
        ("idle", "napi-full"),
    ]
    assert len(found.strategies) == len(made_up.strategies())


def test_the_reference_of_strategies_has_no_row(tmp_path, trials):
    def of_reference(frame_bytes):
        return {
            **trials[0],
            "key": f"reference {frame_bytes}",
            "task": {**trials[0]["task"], "variant": "napi-full", "frame_bytes": frame_bytes},
        }

    found = records.load([tmp_file(tmp_path, [*trials, of_reference(64), *made_up.strategies()])])
    assert "napi-full" not in found.variants and found.variants
    found = records.load(
        [tmp_file(tmp_path, [*trials, of_reference(64), of_reference(512), *made_up.strategies()])]
    )
    assert "napi-full" in found.variants
    found = records.load([tmp_file(tmp_path, [*trials, of_reference(64)])])
    assert "napi-full" in found.variants


def test_strategies_alone_make_a_report(tmp_path):
    file = tmp_file(tmp_path, made_up.strategies())
    assert run(file) == 0
    page = (tmp_path / "report.html").read_text()
    assert 'id="frontier"' in page and "Not measured" not in page and "git checkout v1" in page


def test_the_command_for_strategies_makes_them(trials):
    last = reproduce.commands(records.Records(trials, [], made_up.strategies()))[-1]
    assert last == (
        "./moderato strategies --strategy hw-moderated,napi-full --situation "
        "idle,ping,10%,50%,90%,bursts,overload,urgent --frame-size 64"
    )


def test_table_of_strategies():
    table = frontier.table(made_up.strategies())
    assert len(table.rows) == len(made_up.strategies())
    assert table.rows[0][:2] == ["1000 frames/s", "hw-moderated 1 ms"]
    assert table.rows[-1][-4:] == ["160", "2000", "1.0", "40.0"]


def test_tooltips_of_the_frontier_belong_to_their_strategy():
    root = ElementTree.fromstring(frontier.plot(made_up.strategies()).svg(live=True))
    found = [
        (group.get("data-variant"), title.text)
        for group in root.iter(f"{SVG}g")
        for title in group.findall(f"{SVG}title")
    ]
    assert len(found) == 3 * len(frontier.DRAWN)
    assert all(text.startswith(variant) for variant, text in found)


def test_the_front_has_only_optimal_settings():
    places = [(1, 9), (2, 9), (2, 5), (3, 7), (4, 5), (5, 1), (5, 0), (6, 3)]
    found = [made_up.strategy(f"setting {number}", "50%", *place) for number, place in enumerate(places)]
    best = [
        (record["latency_ns"]["p99"] / 1000, 100 - record["cpu_idle_percent"])
        for record in frontier.front(found)
    ]
    assert best == [(1, 9), (2, 5), (5, 0)]


def test_words_next_to_points_overlap_nothing():
    """Words for which there is space; at least those of the front."""
    [here] = [[record for record in published_strategies() if record["situation"] == "10%"]]
    figure = frontier.plot(here).figure
    [axes] = figure.axes
    words = {text: text.get_window_extent() for text in axes.texts}
    marks = [
        axes.transData.transform(place)
        for line in axes.lines
        if line.get_marker() not in ("None", "o")
        for place in line.get_xydata()
    ]
    assert len(words) > 15
    boxes = list(words.values())
    assert not any(one.overlaps(other) for number, one in enumerate(boxes) for other in boxes[:number])
    assert not any(box.contains(*mark) for box in boxes for mark in marks)
    assert {"4 ms", "gap 4 ms", "250 µs", "original", "1 ms"} <= {text.get_text() for text in words}


def published_strategies() -> list[dict]:
    return records.load([paper.ROOT / "docs" / "data" / "strategies.jsonl.gz"]).strategies


def tmp_file(tmp_path, found: list[dict]):
    path = tmp_path / "strategies.jsonl"
    path.write_text(lines(found))
    return path
