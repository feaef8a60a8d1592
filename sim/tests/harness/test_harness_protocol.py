# SPDX-License-Identifier: BSD-2-Clause
"""Wrong commands and wrong usage; progress, interruption."""

import json
import os
import signal
import subprocess

import pytest
from harness_commands import offer, trial


@pytest.mark.parametrize(
    "command, message",
    [
        (trial(offer(63)), "frame_bytes"),
        (trial(offer(1519)), "frame_bytes"),
        (trial(offer(load_percent=0)), "load_percent"),
        (trial(offer(load_percent=100.1)), "load_percent"),
        (trial(offer(frames=0)), "frames"),
        (trial(), "ports"),
        (trial(offer(), offer(), offer()), "ports"),
        (trial(offer(), link_mbps=40), "link"),
        (trial(offer(), pcap="/nowhere"), "/nowhere"),
        ({"do": "run"}, "cycles"),
        ({"do": "run", "cycles": -1}, "cycles"),
        ({"do": "run", "cycles": 1.5}, "cycles"),
        ({"do": "run", "cycles": "5"}, "cycles"),
        (trial(offer(), max_cycles=-1), "max_cycles"),
        (trial(offer(frames=2**32)), "frames"),
        (trial(offer(), faults=[{"kind": "flop"}]), "flop"),
        ({"do": "send", "text": 5}, "text"),
        ({"do": "dance"}, "dance"),
        ({"do": "save", "file": "/nowhere/c"}, "/nowhere/c"),
        ({"do": "expect", "text": ""}, "empty"),
        ({}, "do"),
        ({"do": "profile"}, "symbols"),
        ({"do": "profile", "symbols": "rom", "window": 1}, "window"),
        ({"do": "profile", "stop": "x"}, "none is in progress"),
        ({"do": "restore", "file": "."}, ".: is no regular file"),
    ],
)
def test_wrong_commands_are_rejected_and_the_run_continues(sim, command, message):
    reply, after = sim(command, {"do": "run", "cycles": 5})
    assert not reply["ok"] and message in reply["error"] and "\n" not in reply["error"]
    assert after["ok"] and after["cycle"] == 5


@pytest.mark.parametrize(
    "words",
    [
        ["--load", "x"],
        ["--load", "x@y", "--script", "-"],
        ["--dance"],
        [],
        ["--restore"],
        ["--script", "-", "--interactive"],
    ],
)
def test_wrong_usage(binary, words):
    done = subprocess.run([binary, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and done.stderr.startswith("moderato-sim: ")


def test_a_command_that_fails_leaves_the_rate(sim):
    asked = trial(offer(frames=10))
    (usual,) = sim(asked)
    failed, after = sim({"do": "live", "record": "no/folder", "link_mbps": 10}, asked)
    assert not failed["ok"]
    for reply in usual, after:
        del reply["wall_seconds"], reply["cpu_seconds"]
    assert after == usual


def test_input_that_is_no_file(binary, rom, tmp_path):
    """A pipe has no length; without a check it would look like an empty file."""
    read, write = os.pipe()
    os.write(write, b"MOCK\n# \0")
    os.close(write)
    done = subprocess.run(
        [binary, "--load", f"/dev/fd/{read}@0", "--script", "-"],
        input="",
        capture_output=True,
        text=True,
        pass_fds=[read],
    )
    os.close(read)
    assert done.returncode == 1
    assert done.stderr.startswith(f"moderato-sim: /dev/fd/{read}: is no regular file")


def test_a_script_that_cannot_be_read(binary, rom, tmp_path):
    done = subprocess.run([binary, "--load", rom, "--script", tmp_path], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == f"moderato-sim: {tmp_path}: cannot be read: Is a directory\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_progress_and_interruption(binary, rom, tmp_path, number):
    process = subprocess.Popen(
        [binary, "--load", rom, "--script", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    process.stdin.write(json.dumps({"do": "run", "cycles": 10**12}) + "\n")
    process.stdin.flush()
    state = json.loads(process.stdout.readline())["progress"]
    assert state["do"] == "run" and state["of"] == 10**12 and 0 < state["cycles"] < 10**12
    process.send_signal(number)
    assert process.wait() == 128 + number
    process.stdin.close()
    process.stdout.close()
    assert sorted(os.listdir(tmp_path)) == ["rom"]
