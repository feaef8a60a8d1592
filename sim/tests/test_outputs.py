# SPDX-License-Identifier: BSD-2-Clause
"""Results are written to their paths, and never replace other files of the user."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from moderato.sim.lab import cli
from moderato.sim.lab.measure import forward
from moderato.sim.lab.run import shell
from moderato.sim.lab.run.session import Session
from moderato.sim.lab.show import outputs
from moderato.sim.lab.show.errors import UsageError
from moderato.sim.lab.show.guest_output import GuestOutput


@pytest.fixture
def lab(machine, monkeypatch):
    monkeypatch.setattr(forward, "machine", lambda *_, **__: machine)
    return lambda *words: cli.main(
        ["forward", "--variant", "napi", "--frame-size", "64", "--frames", "2000", *words]
    )


def write(path, text: str):
    with outputs.replacing(path) as file:
        file.write_text(text)


def test_links_are_followed(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to("real")
    write(link, "new")
    assert link.is_symlink() and real.read_text() == "new"


def test_a_dangling_link(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "to come")
    write(link, "new")
    assert link.is_symlink() and (tmp_path / "to come").read_text() == "new"


def test_each_of_two_boxes_has_a_file(tmp_path):
    """Next to the first one if that is regular, but never in a folder of devices."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(os.devnull)
    assert outputs.numbered(tmp_path / "new", 1) == tmp_path / "new.1"
    for nowhere in (Path(os.devnull), link):
        assert outputs.numbered(nowhere, 1) == nowhere
    for one in (pipe, tmp_path, Path("/dev/stdout"), Path("/dev/fd/1")):
        assert outputs.numbered(one, 0) == one
        with pytest.raises(UsageError, match="name a regular file"):
            outputs.numbered(one, 1)


def test_a_pipe_is_written_to(tmp_path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write(pipe, "new")
    reader.join(10)
    assert got == ["new"] and pipe.is_fifo()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_any_name(tmp_path, name):
    """Earlier output stays, also in a regular file; no link of the system is replaced."""
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from moderato.sim.lab.show import outputs\n"
        "print('before', flush=True)\n"
        f"with outputs.replacing(Path({name!r})) as file:\n    file.write_text('new')\n"
    )
    with open(tmp_path / "out", "w") as out:
        subprocess.run([sys.executable, "-c", program], check=True, stdout=out)
    assert (tmp_path / "out").read_text() == "before\nnew"
    assert os.path.islink("/dev/stdout")


def test_json_has_standard_output_alone(lab, capfd):
    assert lab("--json", "-") == 0
    output = capfd.readouterr()
    assert json.loads(output.out)[0]["variant"] == "napi"
    assert "CPU idle" in output.err  # the table


def test_what_was_written_is_named(lab, tmp_path, capfd):
    assert lab("--json", str(tmp_path / "out.json")) == 0
    assert f"moderato: wrote {tmp_path}/out.json" in capfd.readouterr().err


def test_folder_with_other_files_is_rejected(lab, tmp_path, capfd):
    mine = tmp_path / "napi-64-100percent-100mbps" / "notes.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    assert lab("--pcap", str(tmp_path)) == 2
    assert "notes.txt" in capfd.readouterr().err
    assert mine.read_text() == "mine"


def test_a_file_that_appears_while_a_folder_is_written_stays(tmp_path):
    folder = tmp_path / "folder"
    with pytest.raises(UsageError), outputs.replacing_folder(folder, ["*.pcap"]) as made:
        (made / "a.pcap").touch()
        folder.mkdir()
        (folder / "notes.txt").touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["folder", "notes.txt"]


def test_two_loads_have_two_folders(lab, tmp_path):
    assert lab("--load", "50,100", "--pcap", str(tmp_path / "captures")) == 0
    assert sorted(path.name for path in (tmp_path / "captures").iterdir()) == [
        "napi-64-100percent-100mbps",
        "napi-64-50percent-100mbps",
    ]


def test_names_of_any_octets(lab, tmp_path):
    """For a folder that the simulator writes, and for JSON."""
    folder, json = (os.path.join(os.fsencode(tmp_path), name) for name in (b"\xff dir", b"\xe9 json"))
    assert lab("--pcap", os.fsdecode(folder), "--json", os.fsdecode(json)) == 0
    assert os.listdir(folder) == [b"napi-64-100percent-100mbps"] and os.path.getsize(json)


def test_octets_of_a_command_are_not_changed(machine, monkeypatch, capfdbinary):
    """Octets that are not UTF-8 are neither rejected nor changed, in the command and in its output."""
    monkeypatch.setattr(shell, "machine", lambda *_, **__: machine)
    monkeypatch.setattr(shell, "package", lambda nic: machine.driver)  # without building busybox
    command, given = os.fsdecode(b"echo \xff\xc3\xa9\xc3"), []
    call = Session.call

    def octets(session, do, **fields):
        if do == "mailbox":
            given.append(Path(fields["file"]).read_bytes())
        reply = call(session, do, **fields)
        if "printed" in reply:
            mark = f"@{hashlib.sha256(given[-1]).hexdigest()[:16]}@"  # as in Session.run()
            reply["printed"] = (b"\xff\xc3\xa9\xc3\r\n" + mark.encode()).hex()
        return reply

    monkeypatch.setattr(Session, "call", octets)
    cli.main(["shell", "-c", command])
    assert given[-1] == b"echo \xff\xc3\xa9\xc3\n"
    assert capfdbinary.readouterr().out.endswith(b"\xff\xc3\xa9\xc3\n")


def test_an_error_has_a_line_of_its_own(capsys, monkeypatch):
    """On a terminal, the guest's last, incomplete line is ended first."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with pytest.raises(RuntimeError), GuestOutput(100_000_000) as output:
        output.show("Power do", 1)
        raise RuntimeError
    assert capsys.readouterr().out == "Power do\n"
