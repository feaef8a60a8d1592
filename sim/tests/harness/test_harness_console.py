# SPDX-License-Identifier: BSD-2-Clause
"""Console, mailbox, and the terminal."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import pytest
from harness_commands import MAILBOX, PROMPT


def test_console_prints_and_echoes(sim, tmp_path):
    prompt, _, echo, rest = sim(
        PROMPT,
        {"do": "send", "text": "hello world"},
        {"do": "expect", "text": "lo wo", "max_cycles": 100_000},
        {"do": "console"},
        options=["--console", tmp_path / "log"],
    )
    assert prompt["ok"] and prompt["output"] == "MOCK\n# "
    assert echo["output"] == "hello wo" and echo["cycle"] > prompt["cycle"]
    assert rest["output"] == ""
    assert (tmp_path / "log").read_text() == "MOCK\n# hello wo"


def test_a_console_log_on_a_full_disk(sim):
    """The next command reports the error, because the C library reports it only once, when it writes."""
    prompt, _, line, quiet, failed = sim(
        PROMPT,
        {"do": "send", "text": "line\n"},
        {"do": "expect", "text": "line\n", "max_cycles": 100_000},
        {"do": "run", "cycles": 1000},
        {"do": "expect", "text": ""},
        options=["--console", "/dev/full"],
    )
    for reply in prompt, line:
        assert not reply["ok"] and reply["error"].startswith("/dev/full: cannot be written: No space")
    assert prompt["output"] == "MOCK\n# " and line["output"] == "line\n"
    assert quiet["ok"] and failed["error"] == "text: is empty"


@pytest.mark.parametrize("which", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors(binary, rom, tmp_path, which):
    """No file gets the number of a closed descriptor, so nothing is printed into it or read from it."""
    live = json.dumps({"record": "record", "capture": "capture", "keys": "typed"})
    done = subprocess.run(
        [
            "sh",
            "-c",
            f'exec "$@" {which}',
            "sh",
            binary,
            "--load",
            rom,
            "--interactive",
            "--live",
            live,
            "--console",
            "log",
        ],
        input="",
        text=True,
        capture_output=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("typed") == (">&-" not in which.split())
    assert ("moderato: wrote record, capture" in done.stderr) == ("2>&-" not in which)
    assert b"MOCK" not in (tmp_path / "record").read_bytes() + (tmp_path / "capture").read_bytes()
    assert (tmp_path / "log").read_text().endswith("typed")


def test_expect_gives_up_at_the_cycle_limit(sim):
    prompt, failed, after = sim(
        PROMPT, {"do": "expect", "text": "never", "max_cycles": 5000}, {"do": "run", "cycles": 3}
    )
    assert not failed["ok"] and "never" in failed["error"] and failed["cycle"] == prompt["cycle"] + 5000
    assert after["ok"] and after["cycle"] == failed["cycle"] + 3


def test_mailbox(sim, tmp_path):
    (tmp_path / "file").write_bytes(b"content of the file")
    *_, sent, printed = sim(
        PROMPT,
        {"do": "mailbox", "file": "file", "address": MAILBOX},
        {"do": "send", "text": "!"},
        {"do": "expect", "text": "file", "max_cycles": 100_000},
    )
    assert printed["output"] == "!content of the file"


def test_output_is_reported_at_once(sim):
    """In pieces that are the whole output when joined, octet for octet; also the echo of typed keys."""
    text = "\u00e9\u20ac\U0001f600x".encode() * 800 + b"\xff\xc3 no UTF-8 ."
    *_, echo = sim(
        PROMPT,
        {"do": "send", "text": {"hex": text.hex()}},
        {"do": "expect", "text": ".", "max_cycles": 50_000_000, "stream": True},
    )
    pieces = [each["printed"] for each in sim.progress] + [echo["printed"]]
    assert bytes.fromhex("".join(pieces)) == text
    assert echo["output"] == text.decode(errors="replace")
    assert len(pieces) > 1


@pytest.mark.parametrize("text", [{"hex": "0g"}, {"hex": "0"}, {"hex": 1}, {}, 7, None])
def test_output_that_is_not_utf_8(sim, text):
    _, reply = sim(PROMPT, {"do": "send", "text": text})
    assert not reply["ok"] and ("hex" in reply["error"] or "no text" in reply["error"])


def test_file_names_are_octets(sim, tmp_path):
    """Linux only excludes / and NUL."""
    name = b"\xff\xe9 of latin-1"
    replies = sim(
        PROMPT,
        {"do": "save", "file": {"hex": name.hex()}},
        {"do": "restore", "file": {"hex": name.hex()}},
    )
    assert all(reply["ok"] for reply in replies)
    assert name in os.listdir(os.fsencode(tmp_path))
    _, gone = sim(PROMPT, {"do": "restore", "file": {"hex": b"none\xff".hex()}})
    assert "none\ufffd: " in gone["error"]


def test_output_before_power_off_is_reported(sim):
    *_, ended = sim(
        PROMPT,
        {"do": "send", "text": "bye\x04"},
        {"do": "expect", "text": "never", "max_cycles": 100_000, "stream": True},
    )
    assert not ended["ok"] and ended["error"] == "the guest powered off"
    pieces = [each["printed"] for each in [*sim.progress, ended] if "printed" in each]
    assert bytes.fromhex("".join(pieces)) == b"bye\x04"


@pytest.mark.parametrize(
    "key, said", [("\x04", "the guest powered off"), ("\x12", "the guest asked for a reset")]
)
def test_a_guest_that_ends(sim, key, said):
    """The simulator reports it once, in that cycle, and again from another state. Otherwise the machine
    continues."""
    *_, ended, after, _, _, again = sim(
        PROMPT,
        {"do": "save", "file": "before"},
        {"do": "send", "text": key},
        {"do": "expect", "text": "never", "max_cycles": 100_000},
        {"do": "run", "cycles": 5},
        {"do": "restore", "file": "before"},
        {"do": "send", "text": key},
        {"do": "run", "cycles": 10_000},
    )
    assert ended["error"] == again["error"] == said
    assert ended["cycle"] == again["cycle"] < 10_000
    assert after["ok"] and after["cycle"] == ended["cycle"] + 5


def test_expect_ignores_output_after_the_end(sim):
    """Output after the guest ended, here an echo, does not stop another command."""
    *_, ended, _, after = sim(
        PROMPT,
        {"do": "send", "text": "\x04"},
        {"do": "expect", "text": "never", "max_cycles": 100_000},
        {"do": "send", "text": "never"},
        {"do": "run", "cycles": 50_000},
    )
    assert after["ok"] and after["cycle"] == ended["cycle"] + 50_000


@pytest.mark.parametrize(
    "address, message", [(0x4000_FFF0, "do not fit"), (0x8000_0000, "neither in RAM nor in ROM")]
)
def test_mailbox_outside_of_memory(sim, tmp_path, address, message):
    (tmp_path / "file").write_bytes(bytes(64))
    (reply,) = sim({"do": "mailbox", "file": "file", "address": address})
    assert not reply["ok"] and message in reply["error"]


def test_interactive_on_a_terminal(binary, rom):
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    process = subprocess.Popen([binary, "--load", rom, "--interactive"], stdin=theirs, stdout=theirs)
    seen = b""
    while b"# " not in seen:
        seen += os.read(ours, 100)
    os.write(ours, b"echo")
    while b"echo" not in seen:
        seen += os.read(ours, 100)
    os.write(ours, b"\x03\x01\x01")  # for the guest, which echoes them
    while b"\x03\x01" not in seen:
        seen += os.read(ours, 100)
    os.write(ours, b"\x01x")
    assert process.wait() == 0
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


OFFER = json.dumps({"ports": [{"frame_bytes": 64, "load_percent": 50, "frames": 1 << 20}]})
RATES = rb"[\d.]+ s: (\d+) received, (\d+) forwarded, \d+ dropped, \d+ interrupts per second"


def test_frames_are_offered_while_keys_are_typed(binary, rom):
    """The last line shows the rates; the echo is above it. The terminal's scroll region is restored at
    the end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    process = subprocess.Popen(
        [binary, "--load", rom, "--interactive", "--offer", OFFER],
        stdin=theirs,
        stdout=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    seen = b""
    while not (line := re.search(rb"\0337\033\[1;23r\033\[24H\033\[2K\033\[7m" + RATES, seen)):
        seen += os.read(ours, 100)
    received, forwarded = map(int, line.groups())
    assert forwarded == pytest.approx(50e6 / (84 * 8), rel=0.01)  # the mock forwards all frames
    os.write(ours, b"echo")
    while b"echo" not in seen:
        seen += os.read(ours, 100)
    os.write(ours, b"\x01x")
    while b"\033[r" not in seen:
        seen += os.read(ours, 100)
    assert process.wait() == 0
    os.close(ours)
    os.close(theirs)


def test_rates_go_to_standard_error_without_a_terminal(binary, rom):
    with subprocess.Popen(
        [binary, "--load", rom, "--interactive", "--offer", OFFER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert re.fullmatch(b"moderato: " + RATES + b"\n", process.stderr.readline())
        process.stdin.close()
        assert process.stdout.read().endswith(b"# ")


@pytest.mark.parametrize(
    "options, says",
    [
        (["--interactive", "--offer", "{"], "--offer: is not understood"),
        (["--interactive", "--offer", '{"ports": [{"frames": 1}]}'], "frame_bytes: is missing"),
        (["--script", "-", "--offer", OFFER], "--offer: is for --interactive"),
    ],
)
def test_wrong_offer(binary, options, says):
    done = subprocess.run([binary, *options], input="", capture_output=True, text=True)
    assert done.returncode in (1, 2) and says in done.stderr


def test_prompt_at_once_and_a_power_off(binary, rom, sim, tmp_path):
    """From a state at the prompt, the console shows the prompt, and all output before the end."""
    sim(PROMPT, {"do": "save", "file": "prompted"})
    done = subprocess.run(
        [binary, "--restore", tmp_path / "prompted", "--interactive", "--prompt", "# "],
        input=b"bye\x04",
        capture_output=True,
    )
    assert done.returncode == 0 and done.stdout == b"# bye\x04"
    assert done.stderr == b"\nmoderato: the guest powered off\n"


def test_interactive_from_a_pipe(binary, rom):
    done = subprocess.run([binary, "--load", rom, "--interactive"], input=b"typed", capture_output=True)
    assert done.returncode == 0 and done.stdout == b"MOCK\n# typed"
