# SPDX-License-Identifier: BSD-2-Clause
"""The simulator with a mock of the SoC (mock/sim.sv): an ideal router, a console that echoes."""

import json
import subprocess
from pathlib import Path

import pytest

from moderato.sim.harness.build import simulator
from moderato.sim.harness.traced import traced

MOCK = Path(__file__).parent / "mock"


@pytest.fixture(scope="session")
def binary():
    return simulator(MOCK)


@pytest.fixture(scope="session")
def traced_binary():
    return traced(MOCK)


@pytest.fixture
def rom(tmp_path):
    """The mock's first output."""
    path = tmp_path / "rom"
    path.write_bytes(b"MOCK\n# \0")
    return f"{path}@0"


@pytest.fixture
def sim(binary, rom, tmp_path):
    """sim(*commands, ...) → replies. From reset with the ROM, or from a checkpoint.

    Runs in tmp_path, so that commands can name files there. `sim.errors` is standard error,
    `sim.progress` the messages between the replies.
    """
    return _sim(binary, rom, tmp_path)


@pytest.fixture
def traced_sim(traced_binary, rom, tmp_path):
    """Like sim, with a simulator that can trace signals."""
    return _sim(traced_binary, rom, tmp_path)


def _sim(binary, rom, tmp_path):
    def run(*commands, restore=None, status=0, options=()):
        start = ["--restore", restore] if restore else ["--load", rom]
        lines = "".join(json.dumps(command) + "\n" for command in commands)
        done = subprocess.run(
            [binary, *start, *options, "--script", "-"],
            input=lines,
            text=True,
            capture_output=True,
            cwd=tmp_path,
        )
        assert done.returncode == status, done.stderr
        run.errors = done.stderr
        replies = [json.loads(line) for line in done.stdout.splitlines()]
        run.progress = [reply["progress"] for reply in replies if "progress" in reply]
        return [reply for reply in replies if "progress" not in reply]

    return run
