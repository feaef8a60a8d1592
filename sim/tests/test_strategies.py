# SPDX-License-Identifier: BSD-2-Clause
"""The comparison of strategies, with a fake simulator."""

import json

import pytest

from moderato.sim.lab import cli
from moderato.sim.lab.measure.results import frame_rate
from moderato.sim.lab.run.variants import BEYOND, KNOWN
from moderato.sim.lab.show.errors import LabError
from moderato.sim.lab.strategies import comparison, ping, settings, situations
from moderato.soc.linux.kernel import TICKS, Choice

ALL = ("ping", "idle", "10%", "50%", "90%", "bursts", "urgent", "overload")


@pytest.fixture
def lab(machine, monkeypatch):
    """`moderato strategies` with the fake machine, and the kernels that it asked for."""
    kernels = []
    monkeypatch.setattr(
        comparison, "machine", lambda link, system: kernels.append(system.kernel) or machine
    )

    def run(*words):
        return cli.main(["strategies", *map(str, words)])

    run.kernels = kernels
    return run


def records(lab, tmp_path, *words) -> dict[tuple, dict]:
    assert lab(*words, "--json", tmp_path / "out.json") == 0
    return {
        (record["setting"], record["situation"]): record
        for record in json.loads((tmp_path / "out.json").read_text())
    }


def test_settings_are_of_known_variants():
    assert set(settings.VARIANTS) == {"original", "napi", "napi-tx-off", *BEYOND}
    for name, setting in settings.SETTINGS.items():
        assert name == setting.name and setting.commands()[:4] == KNOWN[setting.variant].commands()
    assert [
        setting.hz for setting in settings.SETTINGS.values() if setting.value.endswith("Hz")
    ] == list(TICKS)
    commands = [
        tuple(setting.commands())
        for setting in settings.SETTINGS.values()
        if not setting.value.endswith("Hz")
    ]
    assert len(set(commands)) == len(commands)
    for situation in situations.SITUATIONS.values():
        assert set(situation.settings) <= set(settings.SETTINGS)


def test_every_situation(lab, tmp_path):
    found = records(lab, tmp_path, "--strategy", "napi-full,adaptive-dim")
    assert tuple(situations.SITUATIONS) == ALL
    chosen = settings.of(("napi-full", "adaptive-dim"))
    assert set(found) == {
        (setting.name, name)
        for setting in chosen
        for name in ALL
        if name != "urgent" or setting.name == "napi-full"
    }
    for (setting, _), record in found.items():
        assert record["variant"] == settings.SETTINGS[setting].variant and not record["problems"]
        assert {
            "offered_fps",
            "interrupts_per_second",
            "frames_per_interrupt",
            "latency_ns",
            "cpu_idle_percent",
            "conditions",
            "lost",
            "frame_bytes",
            "ports",
        } <= set(record)
    # 10 000 frames/s of each port and a full ring at the end, found to a percent of the line rate.
    throughput = found["napi-full", "90%"]["offered_fps"] / 0.9
    assert 20_000 - 2 * frame_rate(64, 1, 100) <= throughput <= 21_000
    for name, share in (("10%", 0.1), ("50%", 0.5), ("urgent", 0.5), ("bursts", 0.3)):
        assert found["napi-full", name]["offered_fps"] == pytest.approx(share * throughput, 1e-3)
    assert found["napi-full", "idle"]["offered_fps"] == pytest.approx(1000, 1e-3)
    assert found["napi-full", "overload"]["load_percent"] == 100


def test_bursts_and_probes(lab, tmp_path):
    found = records(lab, tmp_path, "--strategy", "napi-full", "--situation", "bursts,urgent,50%")
    assert ("napi-full", "urgent") in found and ("napi-full threaded", "urgent") not in found
    for (_, name), record in found.items():
        offered = record["ports"][0]["offered"]
        assert (record["probe_latency_ns"]["p99"] is not None) == (name == "urgent")
        assert offered % situations.BURST == 0 or name != "bursts"
        assert offered >= situations.PROBES * situations.PROBE_EVERY or name != "urgent"


def test_round_trips(lab, tmp_path):
    (record,) = records(lab, tmp_path, "--strategy", "napi", "--situation", "ping").values()
    assert record["latency_ns"] == {"min": 100, "median": 200, "p99": 300, "max": 400}
    assert record["lost"] == 1 and record["ports"][0]["forwarded"] == 99
    assert record["interrupts_per_second"] == pytest.approx(200, 1e-2)
    assert record["frames_per_interrupt"] == 1


@pytest.mark.parametrize("output", ["", "0 of 100 returned", "roundtrip: 198.18.0.2: no route"])
def test_round_trips_that_fail(output):
    with pytest.raises(LabError, match="roundtrip says"):
        ping.parse(output)


def test_kernels_by_their_ticks(lab, tmp_path):
    found = records(lab, tmp_path, "--strategy", "napi-timer", "--situation", "idle")
    assert {f"napi-timer {hz} Hz" for hz in TICKS} <= {setting for setting, _ in found}
    assert set(lab.kernels) == {Choice("normal", hz) for hz in TICKS}


def test_second_run_starts_no_trial(lab, tmp_path, machine, capsys):
    words = ("--strategy", "napi-full", "--situation", "ping,idle,50%")
    first = records(lab, tmp_path, *words)
    tables = capsys.readouterr().out
    journal = machine.simulator.parent / "journal"
    started = len(journal.read_text().splitlines())
    assert records(lab, tmp_path, *words) == first
    assert capsys.readouterr().out == tables
    # Each state is opened once, to check it.
    assert len(journal.read_text().splitlines()) - started == len({key[0] for key in first})


@pytest.mark.parametrize(
    "words, says",
    [
        (["--strategy", "napi-ful"], "did you mean napi-full?"),
        (["--situation", "pong"], "did you mean ping?"),
        (["--frame-size", "63"], "64 to 1518 octets"),
    ],
)
def test_wrong_words_are_rejected(lab, capsys, words, says):
    assert lab(*words) == 2 and says in capsys.readouterr().err


def test_nothing_to_run(lab, capsys):
    assert lab("--strategy", "original", "--situation", "urgent") == 2
    assert "nothing to run: urgent is for napi-full, " in capsys.readouterr().err


def test_unsound_trials_are_named(lab, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_CORRUPTED", "3")
    assert lab("--strategy", "napi", "--situation", "idle") == 1
    assert "trial napi idle 64 is unsound: 3 frames" in capsys.readouterr().err
