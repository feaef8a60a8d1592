# SPDX-License-Identifier: BSD-2-Clause
"""Checkpoints: a restored run is bit-identical; unusable checkpoints are rejected."""

import json
import os
import subprocess
import sys

import pytest
from harness_commands import PROMPT, damage, offer, trial


def without_time(reply):
    return {key: value for key, value in reply.items() if not key.endswith("_seconds")}


def test_restored_run_is_bit_identical(sim, tmp_path):
    later = [
        trial(offer(100, 80, 200), offer(1518, 100, 20, phase=5)),
        {"do": "send", "text": "abcdef"},
        {"do": "expect", "text": "bcd", "max_cycles": 100_000},
        {"do": "counters"},
    ]
    first = [
        PROMPT,
        {"do": "send", "text": "hello"},
        {"do": "run", "cycles": 2345},
        {"do": "save", "file": "middle"},
    ]
    straight = sim(*first, *later, {"do": "save", "file": "one"})[len(first) :]
    restored = sim(*later, {"do": "save", "file": "two"}, restore="middle")
    assert list(map(without_time, straight)) == list(map(without_time, restored))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    "changed, message",
    [
        (lambda b: b[:-1], "is damaged"),
        (lambda b: b[:100], "is damaged"),
        (lambda b: b[:20], "is not a checkpoint"),
        (lambda b: b"", "is not a checkpoint"),
        (lambda b: b[:150] + bytes([b[150] ^ 1]) + b[151:], "is damaged"),
        (lambda b: b + b"x", "is damaged"),
        (lambda b: b"x" + b[1:], "is not a checkpoint"),
        (lambda b: b[:12] + b"0" * 32 + b[44:], "another build"),
        (lambda b: b[:8] + b"\xff" + b[9:], "checkpoint format"),
    ],
    ids=["truncated", "head-only", "short", "empty", "bit", "longer", "magic", "build", "format"],
)
def test_unusable_checkpoints_are_rejected(sim, tmp_path, changed, message):
    sim(PROMPT, {"do": "save", "file": "c"})
    damage(tmp_path / "c", changed)
    sim(restore="c", status=3)
    assert message in sim.errors and sim.errors.count("\n") == 1
    kept, refused, after = sim(PROMPT, {"do": "restore", "file": "c"}, {"do": "counters"})
    assert not refused["ok"] and after["cycle"] == kept["cycle"]


def test_a_missing_checkpoint(sim):
    sim(restore="nowhere", status=3)
    assert "No such file" in sim.errors and sim.errors.count("\n") == 1


# Limits the size of files to 100 bytes for a command: writing fails as on a full disk.
SMALL_DISK = """
import os, resource, signal, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_full_disk_leaves_no_checkpoint(binary, rom, tmp_path):
    lines = "\n".join(
        json.dumps(c) for c in [PROMPT, trial(offer(frames=10)), {"do": "save", "file": "c"}]
    )
    done = subprocess.run(
        [sys.executable, "-c", SMALL_DISK, binary, "--load", rom, "--script", "-"],
        input=lines,
        text=True,
        capture_output=True,
        cwd=tmp_path,
    )
    saved = json.loads(done.stdout.splitlines()[-1])
    assert not saved["ok"] and "cannot be written" in saved["error"]
    assert sorted(os.listdir(tmp_path)) == ["rom"]
