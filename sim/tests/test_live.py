# SPDX-License-Identifier: BSD-2-Clause
"""`moderato live`: hosts made by the kernel, a fake simulator; recordings and damaged ones.

Tests that need network namespaces are skipped if the kernel does not permit them.
"""

import contextlib
import errno
import json
import os
import random
import re
import shlex
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import namespaces
import pytest
from signals import meanwhile

from moderato.sim.lab import cli
from moderato.sim.lab.live import hosts, live, recording
from moderato.sim.lab.run import console
from moderato.sim.lab.show.errors import LabError
from moderato.toolchain.project import ROOT

WAIT = 20  # seconds before a test fails


# Recordings ---------------------------------------------------------------------------------------

ABOUT = {"variant": "napi"}


def made_up(*records, about=ABOUT, version=1, start=7) -> bytes:
    """A recording; records: (cycle, kind, octets)."""
    head = json.dumps(about).encode()
    return (
        struct.pack("<8sII", b"ModeLive", version, len(head))
        + head
        + struct.pack("<Q", start)
        + b"".join(
            struct.pack("<QHHI", cycle, kind, 0, len(octets)) + octets for cycle, kind, octets in records
        )
    )


LOAD = struct.pack("<II", 500_000, 64)
WHOLE = made_up((10, 0, b"frame"), (12, 1, b"keys"), (13, 3, b"fcs_"), (20, 4, b'{"keys": 4}'))


@pytest.fixture
def read(tmp_path):
    """read(octets of a recording) → the result of recording.read()."""

    def run(octets):
        (tmp_path / "session").write_bytes(octets)
        return recording.read(tmp_path / "session")

    return run


def test_a_recording(read):
    found = read(WHOLE)
    assert (found.about, found.end, found.inputs) == (ABOUT, 20, 2)
    assert found.report == {"keys": 4}
    assert read(made_up((9, 5, LOAD))).inputs == 1


def test_a_recording_that_ends_during_a_frame(read):
    """The frame's record has the cycle of its last bit, after the end."""
    found = read(made_up((10, 0, b"frame"), (52, 3, b"fcs_"), (20, 4, b'{"end_cycle": 20}')))
    assert found.end == 20 and found.report


@pytest.mark.parametrize("cut, end, inputs", [(1, 13, 2), (26, 13, 2), (45, 12, 2), (60, 10, 1)])
def test_a_truncated_recording(read, cut, end, inputs):
    """Its complete records count, but only for a command that accepts a truncated recording."""
    found = read(WHOLE[:-cut])
    assert (found.end, found.inputs, found.report) == (end, inputs, None)
    with pytest.raises(
        LabError,
        match=f"was cut short after {inputs} inputs, at cycle {end}; --until {end} plays what is there",
    ):
        live._until(found, live.Request())
    assert live._until(found, live.Request(until=end)) == end


def test_a_recording_without_a_cycle(read):
    """Its end is before its first cycle."""
    found = read(made_up((6, 4, b'{"end_cycle": 6}')))
    assert (found.start, found.end) == (7, 6)
    for until in (None, 6):
        assert live._until(found, live.Request(until=until)) == 6


@pytest.mark.parametrize(
    "octets, says",
    [
        (b"", "is no recording"),
        (b"\n\r\r\n", "is no recording"),
        (made_up(version=2), "of format 2, and this commit plays 1"),
        (WHOLE[:20], "cut short inside its header"),
        (WHOLE[:16] + b"x" + WHOLE[17:], "its header is no JSON"),
        (made_up(about=None), "its header is no object"),
        (made_up(about=[1]), "its header is no object"),
        (made_up(about={"conditions": None}), "its header does not say what it was recorded on"),
        (made_up(about={"conditions": [1]}), "its header does not say what it was recorded on"),
        (WHOLE[:-1] + b"x", "its report is no JSON"),
        (made_up((20, 4, b"[" * 100_000)), "its report is no JSON"),
        (made_up((20, 4, b"null")), "its report is no object"),
        (
            made_up((1 << 60, 0, b"frame"), (20, 4, b'{"end_cycle": 20}')),
            "its report is of cycle 20, and something else in it of another end",
        ),
        (made_up((1 << 60, 4, b'{"end_cycle": 20}')), "its report is of cycle 1152921504606846976"),
        (made_up((10, 9, b"")), "a record of kind 9"),
        (made_up((10, 0, b""))[:-4] + b"\xff\xff\xff\xff", "4294967295 octets after cycle 7"),
        (made_up((10, 0, b""))[:-6] + struct.pack("<HI", 2, 0), "a record of port 2 after cycle 7"),
        (made_up((10, 0, b""))[:-6] + struct.pack("<HI", 256, 0), "a record of port 256 after cycle 7"),
    ],
)
def test_files_that_are_no_recordings(read, octets, says):
    with pytest.raises(LabError, match=says) as raised:
        read(octets)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "request_, says",
    [
        (live.Request(until=21), "ends at cycle 20"),
        (live.Request(until=15, begin=15), "--from 15 is after the end, cycle 15"),
        (live.Request(until=6), "--until 6 lies before the beginning: .* begins at cycle 7"),
        (live.Request(until=6, begin=5), "--until 6 lies before the beginning"),
    ],
)
def test_cycles_outside_of_the_recording(read, request_, says):
    with pytest.raises(LabError, match=says):
        live._until(read(WHOLE), request_)


CONDITIONS = {"machine": "0123456789ab", "checkpoint": "ba9876543210", "version": "1234567"}
REPORT = json.dumps({"end_cycle": 20, "keys": 4}).encode()
RECORDS = ((9, 5, LOAD), (10, 0, b"frame"), (12, 1, b"keys"), (13, 3, b"fcs_"), (20, 4, REPORT))


def header(number: int) -> dict:
    """The header for one of two boxes."""
    request = live.Request("napi", None, boxes=2)
    ready = SimpleNamespace(conditions=CONDITIONS)
    return json.loads(json.dumps(live.about(request, ready, number)))


@pytest.fixture
def refusal(tmp_path, monkeypatch):
    """A function: octets of a recording of box 0 → its replay's error; PLAYED if the replay starts."""
    ready = SimpleNamespace(conditions=CONDITIONS, machine=SimpleNamespace(sys_clk_hz=100_000_000))

    def play(_):
        raise LabError(PLAYED)

    monkeypatch.setattr(live, "_ready", lambda system, variant, count: [ready] * count)
    monkeypatch.setattr(live.boxes, "opened", play)
    (tmp_path / "session.1").write_bytes(made_up(*RECORDS, about=header(1)))

    def replay(octets: bytes) -> str:
        (tmp_path / "session").write_bytes(octets)
        with pytest.raises(LabError) as raised:  # never another exception
            live.replay(tmp_path / "session", live.Request())
        return str(raised.value)

    return replay


PLAYED = "it plays"
OTHER = "on another machine (this one "
ODD = (None, True, -1, 0, 1.0, 1e400, 1 << 70, "", "odd", [], [1], ["a"], {}, {"a": 1})


# Values that are wrong everywhere.
ALWAYS = {
    ("conditions", "machine"),
    ("conditions", "checkpoint"),
    ("system", "kernel", "name"),
    ("system", "kernel", "hz"),
    *(("system", name) for name in ("nic", "harts", "spread", "memory", "clock_mhz")),
}


def places(value, path=()):
    """The path to each value inside of a JSON value."""
    yield path
    for key in value if isinstance(value, dict) else ():
        yield from places(value[key], (*path, key))


NOTHING = object()


def changed(path, value=NOTHING):
    """A header with another value at a path, or without that value."""
    if not path:
        return {} if value is NOTHING else value
    made = inner = header(0)
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    if value is NOTHING:
        del inner[path[-1]]
    return made


@pytest.mark.parametrize("path", list(places(header(0))), ids=".".join)
def test_a_header_with_another_value(refusal, path):
    """The replay rejects, in one line and before a build, each value that this commit does not
    support."""
    assert refusal(made_up(*RECORDS, about=header(0))) == PLAYED
    assert "\n" not in refusal(made_up(*RECORDS, about=changed(path)))
    for value in ODD:
        said = refusal(made_up(*RECORDS, about=changed(path, value)))
        assert "\n" not in said
        assert path not in ALWAYS or OTHER in said


@pytest.mark.parametrize(
    "path, value, says",
    [
        ("variant", "later", "has no variant 'later'"),
        ("system.nic", "later", "has no NIC 'later'"),
        ("system.kernel.name", "later", "has no kernel 'later'"),
        ("system.kernel.hz", 300, "has no Hz of the tick like 300"),
        ("system.harts", 3, "has no number of harts 3"),
        ("system.harts", 1.0, "has no number of harts 1.0"),
        ("system.spread", "later", "has no spread"),
        ("system.memory", "later", "has no memory"),
        ("system.clock_mhz", 39, "has no MHz of the clock like 39"),
        ("system.ethtool", [5], "has no setting 5"),
        ("system.later", 1, "describes it in another way"),
        ("delay_ns", "x", "has no wire of 'x' ns"),
        ("delay_ns", -1, "has no wire of -1 ns"),
        ("conditions.machine", "0", "is machine 0123456789ab, not 0"),
        ("conditions", {}, "is machine 0123456789ab, not None"),
    ],
)
def test_a_header_of_another_commit(refusal, path, value, says):
    said = refusal(made_up(*RECORDS, about=changed(path.split("."), value)))
    assert OTHER + says in said and said.endswith("; check that commit out and play it there")


def test_a_recording_with_any_damage(refusal):
    """An octet is changed, or some are missing or duplicated: the recording is replayed or rejected. The
    simulator checks what is replayed."""
    whole, chance = made_up(*RECORDS, about=header(0)), random.Random(2544)
    said = set()
    for _ in range(3000):
        at = chance.randrange(len(whole))
        octets = chance.choice(
            (
                bytes([whole[at] ^ 1 << chance.randrange(8)]),
                chance.randbytes(1),
                b"",
                whole[at : at + 2] * 2,
            )
        )
        said.add(refusal(whole[:at] + octets + whole[at + max(1, len(octets) // 2) :]))
    assert PLAYED in said and len(said) > 100
    assert not [each for each in said if "\n" in each]


# Hosts --------------------------------------------------------------------------------------------


@pytest.fixture
def beside():
    """Hosts, if the kernel permits them."""
    namespaces.need()
    with hosts.made() as made:
        yield made


def output(started: subprocess.Popen) -> str:
    assert started.wait(WAIT) == 0
    return started.stdout.read() if started.stdout else ""


def test_hosts_have_their_addresses(beside, tmp_path):
    shown = tmp_path / "shown"
    command = f"{{ ip -br addr; ip -br link; $HOST1 ip -br addr; ip route; }} > {shown}"
    assert beside.start(command).wait(WAIT) == 0
    words = shown.read_text().split()
    assert "198.18.0.2/24" in words and "198.19.0.2/24" in words
    assert "02:54:73:74:00:00" in words and words.count("box1") == 1
    assert "default via 198.18.0.1 dev box0" in shown.read_text()
    entered = subprocess.run(
        f"{beside.entry(1, os.getpid())} ip -br addr",
        shell=True,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "box1" in entered and "box0" not in entered


def test_frames_of_a_host_leave_its_device(beside):
    """A host asks for the router's address before it sends."""
    command = [
        sys.executable,
        "-c",
        "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'', ('198.19.0.2', 9))",
    ]
    assert (
        beside.start(" ".join(f"'{word}'" if " " not in word else f'"{word}"' for word in command)).wait(
            WAIT
        )
        == 0
    )
    frame = os.read(beside.taps[0], 2000)
    assert frame[:14].hex() == "ffffffffffff0254737400000806"
    assert frame[38:42] == bytes((198, 18, 0, 1))


def test_a_command_s_status_and_its_children(beside, tmp_path):
    """No process that a command has started remains when the command ends or is killed."""
    assert beside.start("exit 7").wait(WAIT) == 7
    for end in ("exit 0", "sleep 100"):
        started = beside.start(f"sleep 98765.4321 & echo on > {tmp_path}/on; {end}")
        until(lambda: (tmp_path / "on").exists())
        if end != "exit 0":
            started.kill()
        started.wait(WAIT)
        until(lambda: not running("98765.4321"))


def running(word: str) -> bool:
    """Whether a process has this word in its command line."""
    for each in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{each}/cmdline", "rb") as file:
            if word.encode() in file.read().split(b"\0"):
                return True
    return False


def until(condition):
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


UNSHARE = """\
#!/bin/sh
shift 4
{ sleep 0.5; "$@"; } &
wait
"""


def test_a_command_that_is_killed_after_its_fork(beside, tmp_path, monkeypatch):
    """Between fork and prctl; a slow `unshare` makes this interval long."""
    (tmp_path / "unshare").write_text(UNSHARE)
    (tmp_path / "unshare").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for killed in (False, True):
        ran, slow = tmp_path / f"ran{killed}", str(tmp_path / "unshare")
        started = beside.start(f"touch {ran}")
        if killed:
            until(lambda word=slow: running(word))
            started.kill()
        started.wait(WAIT)
        until(lambda word=slow: not running(word))
        assert ran.exists() != killed


KILLED = """\
import os, sys, time
from moderato.sim.lab.live import hosts
with hosts.made() as made:
    made.start("sleep 98765.1234")
    print(os.fstat(made.namespaces[0]).st_ino, flush=True)
    time.sleep(100)
"""


def test_no_process_of_a_killed_session_remains(beside):
    """One of two sessions is killed."""
    process = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True)
    assert int(process.stdout.readline()) != os.fstat(beside.namespaces[0]).st_ino
    until(lambda: running("98765.1234"))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    until(lambda: not running("98765.1234"))


@pytest.mark.parametrize(
    "number, says",
    [
        (errno.EPERM, "no network namespace can be made: .* run it as root, or let users have"),
        (errno.ENOSPC, "no network namespace can be made: No space left on device"),
    ],
)
def test_a_kernel_that_rejects_namespaces(monkeypatch, number, says):
    monkeypatch.setattr(hosts, "_call", refusing(number))
    with pytest.raises(LabError, match=says), hosts.made():
        pass


def refusing(number: int):
    def call(*_):
        raise OSError(number, os.strerror(number))

    return call


@pytest.mark.parametrize(
    "device, says",
    [
        ("none", "none: No such file or directory; load the module: modprobe tun"),
        ("null", "no TAP device can be made: .* Inappropriate ioctl for device"),
    ],
)
def test_no_tap_device(monkeypatch, beside, tmp_path, device, says):
    monkeypatch.setattr(hosts, "TUN", "/dev/null" if device == "null" else str(tmp_path / device))
    with pytest.raises(LabError, match=says), hosts.made():
        pass


def test_no_iproute2(monkeypatch, beside):
    monkeypatch.setenv("PATH", "/nowhere")
    with (
        pytest.raises(LabError, match="`ip` is missing; install it: apt install iproute2"),
        hosts.made(),
    ):
        pass


# Sessions of a fake simulator ---------------------------------------------------------------------


@pytest.fixture
def lab(machine, tmp_path, monkeypatch):
    """`moderato live` with the fake machine."""
    (tmp_path / "busybox").write_text("busybox")
    monkeypatch.setattr(console.userspace, "busybox", lambda console: tmp_path / "busybox")
    monkeypatch.setattr(live, "machine", lambda *_: machine)
    monkeypatch.chdir(tmp_path)
    return lambda *words: cli.main(["live", *words])


def test_a_command_and_its_replay(lab, beside, tmp_path, capfd):
    """Only the command uses standard output; a session and its replay have the same report."""
    assert (
        lab("--variant", "napi", "--record", "session", "--json", "a.json", "-c", "echo said; exit 7")
        == 7
    )
    shown = capfd.readouterr()
    assert shown.out == "said\n" and "hello\n" in shown.err
    assert "port 0: 1 frames in, 1 out, 0 dropped" in shown.err
    assert lab("--replay", "session", "--json", "b.json") == 0
    shown = capfd.readouterr()
    assert shown.out == "hello\n"
    assert "the same as the recording, to the cycle, to its end" in shown.err
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert first.pop("simulation") and second.pop("simulation") and first == second
    assert first["variant"] == "napi"
    assert set(first) == set(documented())


def test_reader_that_closes_its_pipe(lab, beside, tmp_path, monkeypatch, capfd):
    """The session continues, and its file is not among the written ones that are named."""
    monkeypatch.setenv("FAKE_UNREAD", "capture")
    assert lab("--record", "session", "--capture", "lost", "-c", "exit 7") == 7
    said = capfd.readouterr().err.splitlines()
    assert "moderato: capture: its reader has left" in said
    assert said[-1] == f"moderato: wrote {tmp_path / 'session'}"


@pytest.mark.parametrize(
    "words", ["--record pipe -c true", "--capture pipe -c true", "--replay session --capture pipe"]
)
def test_reader_that_opens_its_pipe_late(lab, beside, tmp_path, capfd, words):
    """The session starts after that, and a line about the wait is printed."""
    lab("--record", "session", "-c", "true")
    os.mkfifo("pipe")
    begun, read, said = [], [], ""

    def come():
        nonlocal said
        end = time.monotonic() + WAIT
        while "waiting for a reader" not in said and time.monotonic() < end:
            said += capfd.readouterr().err
            time.sleep(0.05)
        begun.append(len((tmp_path / "journal").read_text().splitlines()))
        read.append(Path("pipe").read_bytes())

    before = len((tmp_path / "journal").read_text().splitlines())
    reader = threading.Thread(target=come)
    reader.start()
    assert lab(*words.split()) == 0
    reader.join(WAIT)
    assert f"moderato: waiting for a reader of {tmp_path / 'pipe'} ...\n" in said
    assert begun == [before]
    assert read[0].startswith(b"ModeLive") == words.startswith("--record")


def test_a_stopped_session_is_complete(lab, beside, tmp_path, capfd):
    """Ctrl-C, with which users end ping: all files are complete."""
    with meanwhile(os.getpid(), signal.SIGINT) as begun:
        assert (
            lab(
                "--variant",
                "napi",
                "--record",
                "session",
                "--json",
                "a.json",
                "-c",
                f"{begun}; sleep 98765.0625",
            )
            == 130
        )
    assert capfd.readouterr().err.splitlines()[-1] == "moderato: stopped"
    assert json.loads((tmp_path / "a.json").read_text())["ports"]
    assert lab("--replay", "session") == 0
    assert "cut short" not in capfd.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_session_that_is_stopped_again_ends_at_once(lab, beside, tmp_path, monkeypatch, capfd, number):
    """A second signal while the lab waits for the box: it no longer waits for its files."""

    def over(*_):
        signal.raise_signal(number)
        return True

    monkeypatch.setattr(live.boxes.Running, "over", over)
    with meanwhile(os.getpid(), signal.SIGINT) as begun:
        assert (
            lab("--variant", "napi", "--json", "a.json", "-c", f"{begun}; sleep 98765.0312")
            == 128 + number
        )
    assert capfd.readouterr().err.splitlines()[-1] == "moderato: stopped"
    assert not (tmp_path / "a.json").exists()
    assert signal.getsignal(number) == signal.SIG_IGN  # a third one does not disturb the exit


def test_ignored_signals_stay_ignored(lab, beside, tmp_path, monkeypatch):
    """As under nohup, also while a session ends."""

    def over(*_):
        signal.raise_signal(signal.SIGHUP)
        return True

    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    monkeypatch.setattr(live.boxes.Running, "over", over)
    with meanwhile(os.getpid(), signal.SIGINT) as begun:
        assert lab("--variant", "napi", "--json", "a.json", "-c", f"{begun}; sleep 98765.0156") == 130
    assert json.loads((tmp_path / "a.json").read_text())["ports"]


def test_a_session_that_is_stopped_at_its_start(lab, beside, tmp_path, monkeypatch, capfd):
    """Before the command starts."""

    def start(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(hosts.Hosts, "start", start)
    assert lab("--variant", "napi", "--json", "a.json", "-c", "true") == 130
    assert capfd.readouterr().err.splitlines()[-1] == "moderato: stopped"
    assert json.loads((tmp_path / "a.json").read_text())["ports"]


def test_an_end_before_the_beginning(lab, beside, tmp_path, capsys):
    """For a session, which begins at its checkpoint's cycle, and for its replay."""
    assert lab("--until", "5", "-c", "touch ran") == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert "--until 5 lies before the beginning: the session begins at cycle " in said
    assert not (tmp_path / "ran").exists()
    assert lab("--record", "session", "-c", "true") == 0
    assert recording.read(tmp_path / "session").start == int(re.search(r"at cycle (\d+)", said)[1])
    assert lab("--replay", "session", "--until", "5") == 1
    assert "--until 5 lies before the beginning" in capsys.readouterr().err


def test_a_result_has_standard_output_alone(lab, beside, capfd):
    """The command's output goes to standard error, as tables do."""
    assert lab("--record", "session", "--json", "-", "-c", "echo said; echo wrong >&2; exit 7") == 7
    shown = capfd.readouterr()
    assert json.loads(shown.out)["ports"]
    assert {"said", "wrong", "hello"} <= set(shown.err.splitlines())
    assert lab("--replay", "session", "--json", "-") == 0
    assert json.loads(capfd.readouterr().out)["ports"]


def documented() -> list[str]:
    """The top-level names in docs/live.md's list of fields, without `simulation`."""
    text = (ROOT / "docs/live.md").read_text().partition("The fields of `--json`")[2]
    lines = re.search(r"(?<=\n\n)(    .+\n)+", text)[0].splitlines()
    named = " ".join(line.strip().partition("   ")[0] for line in lines)
    while (outer := re.sub(r"(\[\])?\{[^{}]*\}", "", named)) != named:
        named = outer
    return [name for name in re.findall(r"\w+", named) if name != "simulation"]


def test_a_replay_that_differs_fails(lab, beside, monkeypatch, capsys):
    lab("--record", "session", "-c", "true")
    monkeypatch.setenv("FAKE_DIFFERENCE", "the recording has …")
    assert lab("--replay", "session") == 1
    assert "the replay differs from its recording: the recording has …" in capsys.readouterr().err


@pytest.mark.parametrize(
    "word, says",
    [
        ('"checkpoint": "', "on another machine (this one is checkpoint "),
        ('"machine": "', "on another machine (this one is machine "),
        ('"harts', "on another machine (this one describes it in another way)"),
    ],
)
def test_a_recording_of_another_machine_is_rejected(lab, beside, tmp_path, capsys, word, says):
    lab("--record", "session", "-c", "true")
    octets = (tmp_path / "session").read_bytes()
    at = octets.index(word.encode()) + len(word)
    (tmp_path / "session").write_bytes(
        octets[: at - 1] + b"x" + octets[at:]
        if word == '"harts'
        else octets[:at] + b"x" + octets[at + 1 :]
    )
    assert lab("--replay", "session") == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert says in said and "play it" in said


@pytest.mark.parametrize(
    "version, says",
    [
        ("v1", "check that commit out and play it there"),
        (
            "v1-dirty",
            "recorded by v1-dirty, on another machine (this one has no kernel 'later'); files of "
            "that commit were changed, so play it where it was recorded, or record it again",
        ),
    ],
)
def test_which_commit_a_recording_needs(refusal, version, says):
    about = changed(["system", "kernel", "name"], "later")
    about["conditions"] = {**about["conditions"], "version": version}
    assert says in refusal(made_up(*RECORDS, about=about))


def test_a_guest_that_powers_off_ends_the_command(lab, beside, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_ENDED", "1")
    assert lab("-c", "sleep 98765.5") == 1
    assert "the guest powered off before the command had ended" in capsys.readouterr().err
    until(lambda: not running("98765.5"))


def test_the_console_has_the_hosts(lab, beside, monkeypatch, capsys):
    started = []
    monkeypatch.setattr(live.os, "execv", lambda program, words: started.append(words) or 0)
    lab("--variant", "napi", "--record", "session")
    (words,) = started
    fields = json.loads(words[words.index("--live") + 1])
    assert len(fields["hosts"]) == 2 and fields["record"].endswith("/session")
    assert fields["about"]["variant"] == "napi"
    greeting = capsys.readouterr().err
    assert f"198.19.0.2: nsenter --net=/proc/{os.getpid()}/fd/" in greeting or "--user" in greeting


def test_the_simulator_gets_the_window(lab, beside, monkeypatch, capsys):
    """The simulator gets the descriptor in a session with a command, at the console, and in a replay. It
    reads the guest's functions from a file without a name."""
    address, at_console = "the window, for a browser on this machine: http://127.0.0.1:", []
    function = live.symbols.Symbol(0xC0001000, 16, "schedule")
    monkeypatch.setattr(live.symbols, "of_guest", lambda _: [function])
    pages, opened = [], live.window.opened
    monkeypatch.setattr(
        live.window, "opened", lambda about: pages.append(about["wave"]) or opened(about)
    )
    assert lab("--record", "session", "--watch", "-c", "true") == 0
    assert address in capsys.readouterr().err
    assert lab("--replay", "session", "--watch") == 0
    assert address in capsys.readouterr().err
    assert {shlex.split(command)[3].rpartition("/")[2] for command in pages} == {"session"}

    def execute(_, words):
        fields = json.loads(words[words.index("--live") + 1])
        assert Path(fields["symbols"]).read_text() == "0xc0001000 16 schedule\n"
        at_console.append(
            all(map(os.get_inheritable, (fields["window"], int(Path(fields["symbols"]).name))))
        )

    monkeypatch.setattr(live.os, "execv", execute)
    lab("--watch")
    assert at_console == [True] and address in capsys.readouterr().err
    assert pages[-1] is None  # nothing is recorded
