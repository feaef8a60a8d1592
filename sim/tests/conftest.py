# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures: a machine with a fake simulator, and a dask cluster."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import distributed
import pytest

from moderato.sim.lab.run.machine import Machine

FAKE = Path(__file__).parent / "fake_simulator.py"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests that start a browser are slow."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FAKE_JOURNAL", str(tmp_path / "journal"))
    for name in ("Image", "moderato.ko"):
        (tmp_path / name).write_text(name)
    simulator = tmp_path / "moderato-sim"
    shutil.copy(FAKE, simulator)
    simulator.chmod(0o755)
    return Machine(
        simulator=simulator,
        build_id="fake-1",
        soc={"sys_clk_hz": 100_000_000},
        images=[(tmp_path / "Image", 0x40000000)],
        mailbox=0x41F00000,
        driver=tmp_path / "moderato.ko",
    )


@pytest.fixture
def cluster(tmp_path):
    """The address of a dask scheduler with two workers, each with a cache of its own."""
    dask = [sys.executable, "-m", "dask"]
    place = tmp_path / "scheduler.json"
    scheduler = subprocess.Popen(
        [
            *dask,
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--no-show",
            "--scheduler-file",
            place,
        ],
        stderr=subprocess.DEVNULL,
    )
    started = [scheduler]
    try:
        while not (place.exists() and place.read_text().endswith("\n}")):
            assert scheduler.poll() is None
            time.sleep(0.05)
        address = json.loads(place.read_text())["address"]
        for number in range(2):
            started.append(
                subprocess.Popen(
                    [
                        *dask,
                        "worker",
                        address,
                        "--host",
                        "127.0.0.1",
                        "--nthreads",
                        "1",
                        "--no-dashboard",
                        "--no-nanny",
                        "--local-directory",
                        str(tmp_path / f"scratch{number}"),
                    ],
                    env={**os.environ, "MODERATO_CACHE": str(tmp_path / f"worker{number}")},
                    stderr=subprocess.DEVNULL,
                )
            )
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(2)
        yield address.removeprefix("tcp://")
    finally:
        for process in reversed(started):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:  # a worker sometimes waits for its scheduler for ever
                process.kill()
                process.wait()
