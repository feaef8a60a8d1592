# SPDX-License-Identifier: BSD-2-Clause
"""Live sessions: traffic between hosts, recorded and replayed. Sockets replace TAP devices."""

import contextlib
import fcntl
import json
import os
import pty
import signal
import socket
import struct
import subprocess
import termios
import time

import pytest
from harness_commands import GUEST, PROMPT, TESTER, damage, packet
from scapy.layers.inet import IP
from scapy.layers.l2 import ARP, Ether
from scapy.utils import PcapNgReader

WAIT = 20  # seconds in which an answer must arrive


class Live:
    """A simulator with a live session; `hosts` are the hosts' ends of the wires."""

    def __init__(self, binary, rom, folder, fields):
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2)]
        self.hosts = [ours for ours, _ in pairs]
        for ours, theirs in pairs:
            ours.settimeout(WAIT)
            theirs.setblocking(False)
        read, self.open = os.pipe()
        keep = [theirs.fileno() for _, theirs in pairs] + [read]
        self.process = subprocess.Popen(
            [binary, "--load", rom, "--script", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            pass_fds=keep,
        )
        live = {"do": "live", "hosts": keep[:2], "until_closed": read, **fields}
        self.process.stdin.write(json.dumps(PROMPT) + "\n" + json.dumps(live) + "\n")
        self.process.stdin.flush()
        for _, theirs in pairs:
            theirs.close()
        os.close(read)

    def end(self):
        """The session's reply."""
        os.close(self.open)
        self.open = None
        *told, reply = map(json.loads, self.process.communicate(timeout=WAIT)[0].splitlines())
        assert reply["ok"], reply
        self.notes = [
            note
            for said in (*(each.get("progress", {}) for each in told), reply)
            for note in said.get("notes", [])
        ]
        return without_wall(reply)

    def close(self):
        if self.open is not None:
            os.close(self.open)
        self.process.kill()
        self.process.communicate()
        for host in self.hosts:
            host.close()


def without_wall(reply):
    for name in ("wall_seconds", "cpu_seconds"):
        reply.pop(name)
    return reply


def test_a_session_without_a_cycle(sim):
    """Its end is not before its start."""
    _, reply = sim({"do": "run", "cycles": 7}, {"do": "live", "hosts": [], "until": 7})
    assert reply["ok"] and reply["start_cycle"] == reply["end_cycle"] == 7


@pytest.fixture
def live(binary, rom, tmp_path):
    """live(fields of the command) → a Live."""
    with contextlib.ExitStack() as closing:

        def begin(**fields):
            session = Live(binary, rom, tmp_path, fields)
            closing.callback(session.close)
            return session

        yield begin


def play(sim, until, **fields):
    """The reply to a replay."""
    *_, reply = sim(PROMPT, {"do": "live", "replay": "record", "until": until, **fields})
    return without_wall(reply)


def conversation(session, frames=20):
    """Send frames in both directions; returns the frames that left."""
    came = []
    for n in range(frames):
        session.hosts[0].send(bytes(packet(n)))
        came.append(session.hosts[1].recv(2000))
        if n % 3 == 0:
            back = packet(n)
            back.src, back.dst = TESTER.format(1), GUEST.format(1)
            session.hosts[1].send(bytes(back))
            session.hosts[0].recv(2000)
    return came


def test_frames_go_from_host_to_host(live):
    session = live()
    for n, octets in enumerate(conversation(session)):
        frame = Ether(octets)
        assert (frame.src, frame.dst, frame[IP].ttl) == (GUEST.format(1), TESTER.format(1), 9 + n)
        assert len(octets) == len(packet(n))  # without FCS
    session.hosts[0].send(bytes(packet(1, size=0)))
    assert len(session.hosts[1].recv(2000)) == 60  # it was padded when it entered
    first, second = session.end()["ports"]
    assert first["in"]["frames"] == second["out"]["frames"] == 21
    assert second["in"]["frames"] == first["out"]["frames"] == 7
    assert first["left"]["other"] == 7 and not first["dropped"]


def test_the_testers_stations_are_silent(live):
    """In a session, hosts have these addresses, and answer requests for them."""
    session = live()
    arp = ARP(op=1, hwsrc=GUEST.format(1), psrc="198.19.0.1", pdst="198.19.0.2")
    session.hosts[0].send(bytes(Ether(src=GUEST.format(1), dst="ff:ff:ff:ff:ff:ff") / arp))
    assert Ether(session.hosts[1].recv(2000))[ARP].op == 1
    assert session.end()["ports"][1]["left"]["answered"] == 0


def test_a_replay_is_the_same_to_the_cycle(live, sim, tmp_path):
    session = live(record="record", capture="live.pcapng")
    conversation(session)
    played = {"difference": None, "undelivered": [0, 0], **session.end()}
    again = play(sim, played["end_cycle"], capture="again.pcapng")
    assert again == {**played, "difference": None, "written": ["capture"]}
    live_frames, replayed = ((tmp_path / name).read_bytes() for name in ("live.pcapng", "again.pcapng"))
    assert live_frames == replayed
    part = play(sim, played["end_cycle"] // 2)
    assert part["end_cycle"] == played["end_cycle"] // 2 and part["difference"] is None
    assert 0 < part["ports"][0]["in"]["frames"] < played["ports"][0]["in"]["frames"]


@pytest.mark.parametrize("last", [1000, None])
def test_a_profile_of_a_part_of_a_replay(live, sim, tmp_path, last):
    """Stacks of the cycles from `from` on; of all cycles if it is before the first one."""
    (tmp_path / "symbols").write_text("")
    session = live(record="record")
    conversation(session, frames=2)
    end = session.end()["end_cycle"]
    *_, reply, stopped = sim(
        PROMPT,
        {"do": "profile", "symbols": "symbols", "window": True},
        {"do": "live", "replay": "record", "until": end, "from": end - last if last else 0},
        {"do": "profile", "stop": "out"},
    )
    assert reply["difference"] is None
    assert stopped["harts"][0]["cycles"] == (last or end - reply["start_cycle"] + 1)


def test_a_capture_has_all_frames_in_order(live, tmp_path):
    session = live(capture="pcapng")
    conversation(session)
    session.end()
    frames = list(PcapNgReader(str(tmp_path / "pcapng")))
    assert len(frames) == 2 * 27
    times = [frame.time for frame in frames]
    assert times == sorted(times)
    inward = [frame for frame in frames if frame.direction == 1]
    assert [frame.sniffed_on for frame in inward].count("eth0") == 20
    assert bytes(inward[0]) == bytes(packet(0))
    # Store and forward: it leaves when it has arrived, after preamble and gap.
    assert 0 < frames[1].time - frames[0].time < 1e-4


def test_a_flood_is_bounded_and_counted(live, sim):
    session = live(record="record")
    session.hosts[0].setblocking(False)
    sent, frame = 0, bytes(packet(1, size=1400))
    end = time.monotonic() + 1
    while time.monotonic() < end:
        with contextlib.suppress(BlockingIOError):
            session.hosts[0].send(frame)
            sent += 1
    session.hosts[0].setblocking(True)
    reply = session.end()
    first = reply["ports"][0]
    assert first["dropped"] > 0 and first["in"]["frames"] + first["dropped"] <= sent
    assert play(sim, reply["end_cycle"])["ports"][0]["dropped"] == first["dropped"]


def test_different_replay_reports_the_place(live, sim, tmp_path):
    """As on another machine: one octet of a recorded input is changed."""
    session = live(record="record")
    conversation(session)
    end = session.end()["end_cycle"]
    octets = bytearray((tmp_path / "record").read_bytes())
    at = octets.index(bytes(packet(7))[14:])
    octets[at + 60] ^= 1
    (tmp_path / "record").write_bytes(octets)
    said = play(sim, end)["difference"]
    assert said.startswith("the recording has a frame of port 1 at cycle ")


@pytest.mark.parametrize(
    "spoil, says",
    [
        (lambda b: b"no recording at all", "is not a recording"),
        (lambda b: b[:8] + b"\2" + b[9:], "another format"),
        (lambda b: b[:18], "cut short inside its header"),
        (lambda b: b[:18] + b"\1" + b[19:], "starts at cycle"),
    ],
)
def test_files_that_are_no_recordings(live, sim, tmp_path, spoil, says):
    session = live(record="record", about={})
    session.end()
    assert struct.unpack_from("<8sIi2s", (tmp_path / "record").read_bytes()) == (
        b"ModeLive",
        1,
        2,
        b"{}",
    )
    damage(tmp_path / "record", spoil)
    reply = play(sim, 10_000)
    assert not reply["ok"] and says in reply["error"]


def test_truncated_recording_is_played_to_its_end(live, sim, tmp_path):
    session = live(record="record")
    conversation(session)
    end = session.end()["end_cycle"]
    damage(tmp_path / "record", lambda b: b[: len(b) * 2 // 3])
    reply = play(sim, end)
    assert reply["ok"] and reply["difference"] is None
    assert 0 < reply["ports"][0]["in"]["frames"] < 20


@pytest.mark.parametrize("end", ["key", "hangup"])
def test_a_session_at_the_console(binary, sim, tmp_path, end):
    """Typed keys are recorded, too; the recording is complete for any end of the session."""
    sim(PROMPT, {"do": "save", "file": "prompted"})
    ours, theirs = pty.openpty()
    host, device = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    host.settimeout(WAIT)
    device.setblocking(False)
    live = json.dumps({"hosts": [device.fileno()], "record": "record"})
    with subprocess.Popen(
        [binary, "--restore", "prompted", "--interactive", "--prompt", "# ", "--live", live],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        text=True,
        pass_fds=[device.fileno()],
    ) as process:
        os.write(ours, b"echo")
        seen = b""
        while b"echo" not in seen:
            seen += os.read(ours, 100)
        arp = ARP(op=1, hwsrc=TESTER.format(0), psrc="198.18.0.2", pdst="198.18.0.1")
        host.send(bytes(Ether(src=TESTER.format(0), dst="ff:ff:ff:ff:ff:ff") / arp))
        time.sleep(0.2)
        if end == "key":
            os.write(ours, b"\x01x")
        else:
            process.send_signal(signal.SIGHUP)
        said = process.communicate(timeout=WAIT)[1]
    for each in ours, theirs:
        os.close(each)
    if end == "key":
        assert process.returncode == 0
        assert "port 0: 1 frames in, 0 out, 0 dropped; port 1: 0 frames in, 1 out" in said
    assert said.endswith("moderato: wrote record\n")
    record = (tmp_path / "record").read_bytes()
    report = json.loads(record[record.rindex(b'{"start_cycle"') :])
    assert report["keys"] == 4 and report["ports"][1]["out"]["frames"] == 1
    (reply,) = sim({"do": "live", "replay": "record", "until": report["end_cycle"]}, restore="prompted")
    assert reply["difference"] is None and reply["keys"] == 4


@pytest.mark.parametrize("name", ["record", "capture"])
def test_reader_that_closes_its_pipe(live, tmp_path, name):
    """The session continues, and completes the other file."""
    os.mkfifo(tmp_path / "pipe")
    files = {"record": "record", "capture": "capture", name: "pipe"}
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    session = live(**files)
    conversation(session)
    os.close(reader)
    conversation(session)
    reply = session.end()
    assert reply["ports"][0]["in"]["frames"] == 40
    (other,) = {"record", "capture"} - {name}
    assert reply["written"] == [other]
    assert [note.partition(";")[0] for note in session.notes] == ["pipe: its reader has left"]
    if other == "capture":
        assert len(list(PcapNgReader(str(tmp_path / "capture")))) == 80 + 4 * 7


def test_pipe_without_a_reader(live, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    session = live(capture="pipe", record="record")
    conversation(session)
    reply = session.end()
    assert reply["written"] == ["record"] and len(session.notes) == 1


def test_deleted_host(binary, rom, tmp_path):
    """Reading from a deleted TAP device fails with an error other than EAGAIN."""
    read, write = os.pipe()
    nothing = os.open(tmp_path, os.O_RDONLY)  # reading from a folder is EISDIR
    with subprocess.Popen(
        [binary, "--load", rom, "--script", "-"],
        stdin=subprocess.PIPE,
        text=True,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        pass_fds=[read, nothing],
    ) as process:
        os.close(read)
        os.close(nothing)
        command = {"do": "live", "hosts": [nothing], "until_closed": read}
        process.stdin.write(json.dumps(PROMPT) + "\n" + json.dumps(command) + "\n")
        process.stdin.flush()
        while "notes" not in (told := json.loads(process.stdout.readline())).get("progress", {}):
            assert "ok" not in told or told["do"] == "expect", told
        os.close(write)
        *_, reply = map(json.loads, process.communicate(timeout=WAIT)[0].splitlines())
    (note,) = told["progress"]["notes"]
    assert note.startswith("port 0: its TAP device is gone") and reply["ok"] and not reply["notes"]


def waiting(pipe) -> int:
    """Number of octets in the pipe."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def test_session_ends_while_its_pipe_is_full(binary, rom, tmp_path):
    """The guest's output fills the pipe, so that a write waits; the recording is complete."""
    live = json.dumps({"keys": "k" * 20_000, "record": "record"})
    with subprocess.Popen(
        [binary, "--load", rom, "--interactive", "--live", live],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
    ) as process:
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)
        before, end = 0, time.monotonic() + WAIT
        while not (unread := waiting(process.stdout)) == before > 3000:
            assert time.monotonic() < end, unread
            before = unread
            time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT) == 143
    record = (tmp_path / "record").read_bytes()
    report = json.loads(record[record.rindex(b'{"start_cycle"') :])
    assert struct.pack("<QHH", report["end_cycle"], 4, 0) in record and report["keys"] == 20_000


def test_simulated_time_keeps_its_pace(live):
    """At a tenth of real time. The mock does nothing, and would be much faster."""
    begin = time.monotonic()
    session = live(pace=0.1)
    time.sleep(1)
    reply = session.end()
    cycles = reply["end_cycle"] - reply["start_cycle"]
    assert 0 < cycles < 0.1 * 100e6 * (time.monotonic() - begin) + 3e6


@pytest.mark.parametrize(
    "fields, says",
    [
        ({"hosts": [1, 2, 3]}, "hosts: not a list"),
        ({"hosts": ["eth0"]}, 'hosts: "eth0" is not'),
        ({"hosts": [-1]}, "hosts: -1 is not"),
        ({"hosts": [2**32 + 1], "until": 1}, "hosts: 4294967297 is not"),
        ({"from": 1}, "from: is of a replay"),
        ({"pace": 0}, "pace: has to be 0.000001"),
        ({"pace": 1e-300, "until": 1}, "pace: has to be"),
        ({"replay": "record"}, "until: is missing"),
        ({"replay": "record", "until": 1, "record": "other"}, "is not recorded again"),
        ({"replay": "nowhere", "until": 1}, "nowhere: cannot be read"),
        ({"record": "no/folder", "until": 1}, "no/folder: cannot be written"),
    ],
)
def test_wrong_sessions(sim, fields, says):
    (reply, after) = sim({"do": "live", **fields}, {"do": "run", "cycles": 1})
    assert not reply["ok"] and says in reply["error"] and after["ok"]


def test_a_full_disk_ends_the_session(live):
    session = live(record="/dev/full")
    *_, reply = map(json.loads, session.process.communicate(timeout=WAIT)[0].splitlines())
    assert not reply["ok"] and "No space left on device" in reply["error"]
