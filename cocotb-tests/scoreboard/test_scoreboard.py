# SPDX-License-Identifier: BSD-2-Clause
"""Random frames in both directions, each compared with a reference, with random settings."""

import json
import re
import subprocess

import pytest

from scoreboard.build import build
from scoreboard.coverage import COMMON, OPTIONS, RARE

DEVICES = {"mac_sim": True, "mac_sim_plain": False}  # whether they have options


def play(device, seed, frames, *words):
    return subprocess.run([build(device, DEVICES[device]), str(seed), str(frames), *words],
                          text=True, capture_output=True)


def expect_all(device, seed, frames, rare=()):
    """All frames match, and each bin is hit."""
    done = play(device, seed, frames)
    assert done.returncode == 0, f"seed {seed}: {done.stderr}"
    shown = json.loads(done.stdout)
    assert shown["totals"]["received"] + shown["totals"]["sent"] >= frames
    bins = [*COMMON, *(OPTIONS if DEVICES[device] else []), *rare]
    assert [name for name in bins if not shown["bins"].get(name)] == []


@pytest.mark.parametrize("device", DEVICES)
def test_random_frames(device):
    expect_all(device, 1, 30_000)


@pytest.mark.slow
def test_a_million_frames():
    expect_all("mac_sim", 2, 1_000_000, RARE)


@pytest.mark.slow
def test_a_million_frames_without_options():
    expect_all("mac_sim_plain", 3, 1_000_000, RARE)


@pytest.mark.parametrize("spoilt, says", [
    # Where frames may be dropped, the scoreboard skips expected frames until one matches.
    ("memory", "not the frame that was sent|a frame came that nobody sent"),
    ("wire", "not the frame that was to be sent")])
def test_changed_bit_is_reported(spoilt, says):
    done = play("mac_sim", 1, 2000, spoilt)
    assert done.returncode == 1 and re.search(says, done.stderr)
