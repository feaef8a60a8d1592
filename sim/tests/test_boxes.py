# SPDX-License-Identifier: BSD-2-Clause
"""`moderato live --boxes 2` with two fake simulators: their files, and their common terminal."""

import contextlib
import json
import os
import pty
import subprocess
import threading
import time
import tty

import namespaces
import pytest

from moderato.sim.lab import cli
from moderato.sim.lab.live import boxes, consoles, live
from moderato.sim.lab.run import console
from moderato.sim.lab.show.errors import LabError

WAIT = 20  # seconds before a test fails


@pytest.fixture
def lab(machine, tmp_path, monkeypatch):
    """`moderato live` with two fake machines."""
    namespaces.need()
    (tmp_path / "busybox").write_text("busybox")
    monkeypatch.setattr(console.userspace, "busybox", lambda console: tmp_path / "busybox")
    monkeypatch.setattr(live, "machine", lambda *_: machine)
    monkeypatch.chdir(tmp_path)
    return lambda *words: cli.main(["live", *words])


def two(lab, *words):
    return lab("--boxes", "2", *words)


def test_a_command_and_its_replay(lab, tmp_path, capfd):
    """Each box has a file of its own; each line of the guests' output has the number of its box."""
    assert (
        two(
            lab,
            "--variant",
            "napi",
            "--record",
            "session",
            "--json",
            "a.json",
            "--type1",
            "true",
            "-c",
            "echo said; exit 7",
        )
        == 7
    )
    shown = capfd.readouterr()
    assert shown.out == "said\n"
    assert {"box 0: hello", "box 1: hello"} < set(shown.err.splitlines())
    assert "moderato: box 1: 0.010 s simulated; port 0: 1 frames in, 1 out" in shown.err
    assert f"wrote {tmp_path}/session, {tmp_path}/session.1, {tmp_path}/a.json" in shown.err
    assert lab("--replay", "session", "--json", "b.json") == 0
    shown = capfd.readouterr()
    assert sorted(shown.out.splitlines()) == ["box 0: hello", "box 1: hello"]
    assert "the same as the recording, to the cycle" in shown.err
    for name in ("a.json", "b.json"):
        report = json.loads((tmp_path / name).read_text())
        assert set(report) == {"variant", "delay_ns", "boxes", "simulation"}
        assert report["variant"] == "napi" and report["delay_ns"] == 1000
        assert all(box["ports"] and box["conditions"] for box in report["boxes"])
        assert len(report["boxes"]) == 2


def test_fields_of_each_box(machine, tmp_path):
    """Its end of the wire, its host, its files, its keys, and the delay in cycles of its clock."""
    request = live.Request(
        "napi", None, boxes=2, delay=500, record=tmp_path / "r", typed=(None, "nuttcp -S")
    )
    hosts = type("Hosts", (), {"taps": (8, 9)})
    ready = type("State", (), {"machine": machine, "conditions": {}})
    with boxes.joined([ready, ready], 500) as made:
        first, second = (
            live._in_session(request, number, box, hosts, {}) for number, box in enumerate(made)
        )
        assert (first.fields["hosts"], second.fields["hosts"]) == ([8, None], [None, 9])
        assert [box.fields["wire"]["port"] for box in (first, second)] == [1, 0]
        assert [box.fields["wire"]["delay"] for box in (first, second)] == [50, 50]
        assert set(second.keep) == {9, second.fields["wire"]["socket"]}
    assert "keys" not in first.fields and second.fields["keys"] == "nuttcp -S\n"
    assert second.fields["record"] == f"{tmp_path}/r.1"
    assert [box.fields["about"]["box"] for box in (first, second)] == [0, 1]


def test_only_the_simulators_have_the_wire(machine):
    """So each simulator detects when the other one has ended."""

    class Ready:
        def __init__(self):
            self.machine = machine

        @contextlib.contextmanager
        def open(self, keep):
            with subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=keep) as process:
                yield process
                process.kill()

    with boxes.joined([Ready(), Ready()], 1000) as made:
        ends = [os.readlink(f"/proc/self/fd/{box.wire.fileno()}") for box in made]
        with boxes.opened(made) as processes:
            for own, process in zip(ends, processes, strict=True):
                assert ends_of(process.pid) & set(ends) == {own}
            assert not ends_of(os.getpid()) & set(ends)


def ends_of(pid: int) -> set[str]:
    """The targets of a process's descriptors."""
    found = set()
    for each in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            found.add(os.readlink(f"/proc/{pid}/fd/{each}"))
    return found


def test_a_replay_that_differs_names_the_box(lab, monkeypatch, capsys):
    two(lab, "--record", "session", "-c", "true")
    monkeypatch.setenv("FAKE_DIFFERENCE", "the recording has …")
    assert lab("--replay", "session") == 1
    assert "differs from its recording: box 0: the recording has …" in capsys.readouterr().err


def test_two_boxes_have_no_page(lab, tmp_path, capsys):
    two(lab, "--record", "session", "-c", "true")
    assert lab("--replay", "session", "--watch") == 1
    assert f"--watch shows one box, and {tmp_path}/session is of two" in capsys.readouterr().err


def test_profiles_of_two_boxes_are_two_files(lab, tmp_path, capsys):
    two(lab, "--record", "session", "-c", "true")
    assert lab("--replay", "session", "--folded", "-") == 1
    assert "--folded writes a file for each box, and" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, says",
    [
        ("--capture session.1", "--capture and --replay of box 1 are the same file"),
        ("--json session.1", "--json and --replay of box 1 are the same file"),
        ("--capture a --json a.1", "--capture of box 1 and --json are the same file"),
        ("--capture a --folded a.1", "--capture of box 1 and --folded are the same file"),
        ("--folded a --json a.1", "--folded of box 1 and --json are the same file"),
        ("--capture folder", "--capture of box 1: {tmp}/folder.1 is a folder; name a file"),
        ("--folded folder", "--folded of box 1: {tmp}/folder.1 is a folder; name a file"),
    ],
)
def test_files_of_the_second_box_in_a_replay(lab, tmp_path, capsys, words, says):
    """The recordings do not change."""
    two(lab, "--record", "session", "-c", "true")
    before = (tmp_path / "session.1").read_bytes()
    (tmp_path / "folder.1").mkdir()
    capsys.readouterr()
    assert lab("--replay", "session", *words.split()) == 2
    assert says.format(tmp=tmp_path) in capsys.readouterr().err
    assert (tmp_path / "session.1").read_bytes() == before


@pytest.mark.parametrize(
    "spoil, says",
    [
        (lambda first, second: second.unlink(), "session.1 can't be read: No such file"),
        (lambda first, second: second.replace(first), "session is not of box 0, but of box 1; name"),
        (
            lambda first, second: second.write_bytes(first.read_bytes()),
            "session.1 is not of box 1, but of box 0",
        ),
        (
            lambda first, second: second.write_bytes(second.read_bytes()[:-9]),
            "session.1 was cut short after 0 inputs",
        ),
    ],
)
def test_recordings_that_do_not_belong_together(lab, tmp_path, capsys, spoil, says):
    two(lab, "--record", "session", "-c", "true")
    spoil(tmp_path / "session", tmp_path / "session.1")
    assert lab("--replay", "session") == 1
    assert says in capsys.readouterr().err.splitlines()[-1]


def test_a_guest_that_powers_off_ends_the_command(lab, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_ENDED", "1")
    assert two(lab, "-c", "sleep 98765.75") == 1
    assert "the guest powered off before the command had ended" in capsys.readouterr().err


def test_first_failure_is_reported(machine):
    """If one box fails, the other one fails, too. The error does not depend on the order of the
    replies."""

    class Failing:
        def __init__(self, error):
            self.error = error

        def call(self, *_, **__):
            raise self.error

        def end(self):
            pass

    errors = [
        LabError("wire: the other box is gone, and this one can't go on without it"),
        LabError("the disk is full"),
    ]
    for order in errors, errors[::-1]:
        made = [boxes.Box(None, {}) for _ in order]
        with pytest.raises(LabError, match="the disk is full"):
            boxes.Running(made, [Failing(error) for error in order], Output()).result()


class Output:
    def show(self, *_):
        pass


@pytest.mark.parametrize("number", range(2))
def test_a_box_that_rejects_its_command_ends_the_other_one(number):
    """Otherwise its simulator would keep its end of the wire open, and the other one would wait."""
    gone = threading.Event()

    class Refusing:
        def call(self, *_, **__):
            raise LabError("the disk is full")

        end = staticmethod(gone.set)

    class Waiting:
        def call(self, *_, **__):
            assert gone.wait(WAIT)
            raise LabError(f"wire: {boxes.ALONE}")

        def end(self):
            pass

    sessions = [Waiting(), Waiting()]
    sessions[number] = Refusing()
    with pytest.raises(LabError, match="the disk is full"):
        boxes.Running([boxes.Box(None, {})] * 2, sessions, Output()).result()


# One terminal for two -----------------------------------------------------------------------------


@pytest.fixture
def switch(monkeypatch):
    """(our keyboard and screen, the other ends of two terminals), with a Switch between them."""
    keyboard, screen = os.pipe(), os.pipe()
    far, near = zip(*(pty.openpty() for _ in range(2)), strict=True)
    for each in near:
        tty.setraw(each)
    monkeypatch.setattr(consoles.sys, "stdin", os.fdopen(keyboard[0]))
    monkeypatch.setattr(consoles, "_write", lambda octets: os.write(screen[1], octets))
    thread = threading.Thread(target=consoles.Switch(far).run)
    thread.start()
    yield keyboard[1], screen[0], near
    for each in near:
        os.close(each)
    thread.join(WAIT)
    assert not thread.is_alive()  # both terminals were closed


def read(descriptor, octets):
    """What arrives, up to that many octets."""
    seen, end = b"", time.monotonic() + WAIT
    while octets not in seen:
        assert time.monotonic() < end
        seen += os.read(descriptor, 100)
    return seen


def test_keys_go_to_the_shown_box(switch):
    keys, screen, boxes_ = switch
    os.write(boxes_[1], b"hidden")
    os.write(boxes_[0], b"shown")
    assert read(screen, b"shown") == b"shown"
    os.write(keys, b"one\x01")  # the chord arrives in two pieces
    assert read(boxes_[0], b"one") == b"one"
    os.write(keys, b"ntwo\x01x")
    assert read(boxes_[1], b"\x01x") == b"two\x01x"
    assert read(screen, b"hidden") == b"\r\nmoderato: box 1\r\nhidden"
    os.write(keys, b"\x01nthree")
    assert read(boxes_[0], b"three") == b"three"
