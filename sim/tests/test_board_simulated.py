# SPDX-License-Identifier: BSD-2-Clause
"""`moderato board check` and `forward` with the simulated system as the board, also with faults."""

import json
import re
import shlex
import subprocess
import sys

import namespaces
import pytest

CLI = shlex.join([sys.executable, "-P", "-m", "moderato.sim.lab.cli"])
pytestmark = pytest.mark.slow


@pytest.fixture
def at_desk(tmp_path):
    """Runs commands of `moderato board` at a simulated board, one after the other."""
    namespaces.need()

    def run(*commands: str, fault: str | None = None) -> subprocess.CompletedProcess:
        script = "; ".join(f"{CLI} board {command} $BOARD" for command in commands)
        words = [*shlex.split(CLI), "board", "simulate", "-c", script]
        words += ["--fault", fault] if fault else []
        return subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)

    return run


def statuses(printed: str) -> dict[str, str]:
    """Of each line of `check`."""
    return {line[6:18].strip(): line[:4] for line in printed.splitlines() if line[:4] in MARKS}


MARKS = ("pass", "FAIL", "skip")


def test_rehearsal(at_desk, tmp_path):
    """All parts; then a trial whose account closes; then the board is as it was."""
    load = "--frame-size 64 --load 1 --frames 200 --variant napi"
    done = at_desk(
        "console -c 'ls /sys/class/net'",
        "check --json check.json",
        f"forward {load} --json trial.json",
        "console -c 'ls /sys/class/net'",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = statuses(done.stdout)
    passed = {name for name, status in found.items() if status == "pass"}
    ports = {
        f"{name} {port}" for name in ("link", "port", "frames", "counters", "interrupt") for port in "01"
    }
    assert passed == {"serial line", "image", "driver", "memory", *ports}, done.stdout
    assert found["clock"] == found["timer"] == "skip" and "simulated: not judged" in done.stdout
    assert re.search(r"timer +\d+\.\d+ ms for the 1 ms that were set", done.stdout), done.stdout
    [trial] = json.loads((tmp_path / "trial.json").read_text())
    assert trial["on"] == "rehearsal"
    for port in trial["ports"]:
        drops = ("dropped_at_ring", "dropped_at_fifo", "dropped_damaged", "dropped_filtered")
        assert port["offered"] + port["answers"] == port["received"] + sum(map(port.get, drops))
    offered, received, forwarded = (
        sum(port[name] for port in trial["ports"]) for name in ("offered", "received", "forwarded")
    )
    assert offered == 400 and received == forwarded + sum(trial["dropped"].values())
    lines = done.stdout.splitlines()
    assert lines[0] == lines[-1] == "lo"  # the driver was loaded for each command


@pytest.mark.parametrize(
    "fault, parts, line, says",
    [
        ("cable", "port", "port 1", "port1 has no carrier"),
        ("swapped", "port", "port 0", "port0 is connected to the board's port 1"),
        ("uart", "serial line,image", "serial line", "commands or outputs were damaged, and repeated"),
        ("power", "driver", "power", "the board started again; check its power supply"),
        ("nic", "frames", "frames 0", "this machine's NIC lost them: look at ip -s -s link show port0"),
        ("pause", "frames", "frames 0", "its NIC sends pause frames: ethtool -A port0 rx off tx off"),
        ("jumbo", "link", "link 1", "port1 has an MTU of 9000 octets, the board one of 1500"),
    ],
)
def test_check_names_the_fault(at_desk, fault, parts, line, says):
    done = at_desk(f"check --only {shlex.quote(parts)}", fault=fault)
    found = statuses(done.stdout)
    assert done.returncode == 1 and found[line] == "FAIL", done.stdout + done.stderr
    assert says in done.stdout
