# SPDX-License-Identifier: BSD-2-Clause
"""The example as a user runs it: each frame comes back with exchanged addresses, padding and FCS."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from echo import FRAMES, STATION, wire

from moderato.toolchain import verilator

EXAMPLE = Path(__file__).with_name("echo.py")


@pytest.mark.slow
def test_echo(tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLE, tmp_path],
        capture_output=True,
        text=True,
        env={**os.environ, **verilator.environment()},
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    words = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("sent ")]
    sent = [bytes.fromhex(frame) for frame in "".join(words).split("end") if frame]
    echoes = [frame[6:12] + STATION + frame[12:] for frame in FRAMES]
    assert sent == [wire(frame) for frame in echoes]
