# SPDX-License-Identifier: BSD-2-Clause
"""Launch times in the simulated system: the lateness of frames, and the account of all frames."""

import json

import pytest

from moderato.sim.lab.ontime import study
from moderato.sim.lab.ontime.ways import WAYS

FRAMES = 20
CLOCK = 10  # ns
LATEST = 16  # ns: more is late for the MAC

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def records(tmp_path_factory) -> dict[str, dict]:
    file = tmp_path_factory.mktemp("ontime") / "out.json"
    assert study.ontime(study.Request(frames=FRAMES, json=file)) == 0
    return {each["way"]: each for each in json.loads(file.read_text())}


def test_every_frame_is_accounted_for(records):
    assert list(records) == list(WAYS)
    for each in records.values():
        assert each["problems"] == [] and each["missing"] == 0
        counts = ("on_wire", "dropped_by_hardware", "dropped_by_qdisc", "rejected")
        assert sum(each[name] for name in counts) == FRAMES
        assert len(each["frame_lateness_ns"]) == each["on_wire"]


def test_mac_sends_at_the_launch_time(records):
    """Never early, and not late, while CPU and wire are fully loaded."""
    lateness = records["hardware"]["lateness_ns"]
    assert records["hardware"]["on_wire"] == FRAMES
    assert 0 <= lateness["min"] <= lateness["max"] <= LATEST


def test_software_is_not_as_exact(records):
    assert records["software"]["on_wire"] + records["software"]["dropped_by_qdisc"] == FRAMES
    assert records["none"]["on_wire"] == FRAMES and records["none"]["lateness_ns"]["min"] > 0
    assert records["none"]["jitter_ns"] > 100 * CLOCK


def test_no_frame_leaves_through_a_closed_gate(records):
    """Neither the program's nor the load's, which has its gate's time for itself."""
    gates = records["gates"]["gates"]
    assert gates["violations"] == 0 and gates["frames"] > 1000
    assert 0 < gates["load_frames"] <= gates["most_load_frames"]
    assert "gates" not in records["none"]


def test_clocks_agree(records):
    """Wire and NIC's clock have the same oscillator."""
    for each in records.values():
        assert abs(each["clock"]["drift_ns"]) <= CLOCK
        assert all(abs(offset) < 20_000 for offset in each["clock"]["offset_ns"])
