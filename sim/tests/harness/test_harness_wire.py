# SPDX-License-Identifier: BSD-2-Clause
"""Two simulators joined by a wire: words arrive in the right cycles, however the host schedules them."""

import contextlib
import itertools
import json
import os
import pty
import signal
import socket
import struct
import subprocess
import time

import pytest
from harness_commands import GUEST, PROMPT, TESTER, packet
from scapy.layers.inet import IP
from scapy.layers.l2 import ARP, Ether
from scapy.utils import PcapNgReader

WAIT = 20  # seconds in which an answer must arrive
DELAY = 100  # cycles


class Boxes:
    """Two simulators. A wire joins port 1 of the first and port 0 of the second. Hosts are at the other
    ports, with the ends `hosts`, or a recording replaces them."""

    def __init__(
        self,
        binary,
        rom,
        folder,
        fields,
        hosted=True,
        delays=(DELAY, DELAY),
        first=(),
        mbps=100,
        wired=socket.socketpair,
    ):
        self.hosts, self.processes, self.open = [], [], None
        read, self.open = os.pipe()
        for number, wire in enumerate(wired()):
            keep, live = [wire.fileno()], {"do": "live", "link_mbps": mbps, **fields(number)}
            live["wire"] = {"port": 1 - number, "socket": wire.fileno(), "delay": delays[number]}
            if hosted:
                ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                ours.settimeout(WAIT)
                theirs.setblocking(False)
                self.hosts.append(ours)
                keep.append(theirs.fileno())
                live["hosts"] = [None] * number + [theirs.fileno()]
            if hosted and number == 0:
                keep.append(read)
                live["until_closed"] = read
            process = subprocess.Popen(
                [binary, "--load", rom, "--script", "-"],
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                pass_fds=keep,
            )
            process.stdin.write(
                "".join(json.dumps(each) + "\n" for each in (PROMPT, *first[number : number + 1], live))
            )
            process.stdin.close()
            process.stdin = None
            self.processes.append(process)
            wire.close()
            if hosted:
                theirs.close()
        os.close(read)

    def end(self):
        """Both replies, when the session has ended."""
        self.stop()
        return [self.reply(process) for process in self.processes]

    @staticmethod
    def reply(process):
        *_, reply = map(json.loads, process.communicate(timeout=WAIT)[0].splitlines())
        for name in ("wall_seconds", "cpu_seconds"):
            reply.pop(name)
        return reply

    def stop(self):
        if self.open is not None:
            os.close(self.open)
        self.open = None

    def close(self):
        self.stop()
        for process in self.processes:
            process.kill()
            process.communicate()
        for host in self.hosts:
            host.close()


@pytest.fixture
def boxes(binary, rom, tmp_path):
    """boxes(fields of `live` of box n, ...) → Boxes."""
    with contextlib.ExitStack() as closing:

        def begin(fields=lambda _: {}, **more):
            both = Boxes(binary, rom, tmp_path, fields, **more)
            closing.callback(both.close)
            return both

        yield begin


def recorded(number):
    return {"record": f"record{number}", "capture": f"live{number}.pcapng"}


def conversation(both, frames=12):
    for n in range(frames):
        both.hosts[0].send(bytes(packet(n, size=30 * n)))
        both.hosts[1].recv(2000)
        if n % 3 == 0:
            back = packet(n)
            back.src, back.dst = TESTER.format(1), GUEST.format(1)
            both.hosts[1].send(bytes(back))
            both.hosts[0].recv(2000)


def passed(folder, name):
    """(interface, direction, cycle of the first bit, octets) of each frame."""
    with contextlib.closing(PcapNgReader(str(folder / name))) as frames:
        return [
            (frame.sniffed_on, frame.direction, round(float(frame.time) * 1e9) // 10, bytes(frame))
            for frame in frames
        ]


def test_frames_go_through_both(boxes):
    both = boxes()
    both.hosts[0].send(bytes(packet(5)))
    frame = Ether(both.hosts[1].recv(2000))
    assert (frame.dst, frame[IP].ttl) == (TESTER.format(1), 10 + 5 - 2)
    first, second = both.end()
    assert first["end_cycle"] == second["end_cycle"]
    assert first["ports"][1]["out"] == second["ports"][0]["in"] == first["ports"][0]["in"]
    assert second["ports"][1]["out"]["frames"] == 1


@pytest.mark.parametrize("mbps", [10, 100, 1000])
def test_words_arrive_in_their_cycles(boxes, tmp_path, mbps):
    """From one capture to the other, a frame takes a fixed number of cycles, in both directions."""
    both = boxes(recorded, mbps=mbps)
    conversation(both)
    both.end()
    there, here = (passed(tmp_path, f"live{number}.pcapng") for number in range(2))
    for (near, sent), (far, received) in itertools.permutations((("eth1", there), ("eth0", here))):
        left = [(cycle + DELAY, octets) for port, way, cycle, octets in sent if (port, way) == (near, 2)]
        came = [(cycle, octets) for port, way, cycle, octets in received if (port, way) == (far, 1)]
        assert left == came and len(came) >= 4


def over_tcp():
    """Like a wire between two machines."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    for end in (near, far):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return near, far


@pytest.mark.parametrize("wire", [socket.socketpair, over_tcp])
def test_a_replay_is_the_same_to_the_cycle(boxes, tmp_path, wire):
    """Also if it was recorded over TCP, and is replayed over a socket pair."""
    both = boxes(recorded, wired=wire)
    conversation(both)
    played = both.end()
    until = played[0]["end_cycle"]

    def replayed(number, until=until):
        return {"replay": f"record{number}", "until": until, "capture": f"again{number}.pcapng"}

    again = boxes(replayed, hosted=False).end()
    assert again == [
        {**reply, "difference": None, "undelivered": [0, 0], "written": ["capture"]} for reply in played
    ]
    for number in range(2):
        assert (tmp_path / f"again{number}.pcapng").read_bytes() == (
            tmp_path / f"live{number}.pcapng"
        ).read_bytes()
    part = boxes(lambda number: replayed(number, until // 2), hosted=False).end()
    assert all(reply["difference"] is None and reply["end_cycle"] == until // 2 for reply in part)


def test_host_scheduling_has_no_effect(boxes, tmp_path):
    """One of the two is stopped repeatedly, first one, then the other."""
    both = boxes(recorded)
    conversation(both, frames=24)
    until = both.end()[0]["end_cycle"]
    for slow in range(2):
        again = boxes(lambda number: {"replay": f"record{number}", "until": until}, hosted=False)
        for _ in range(10):
            for what in (signal.SIGSTOP, signal.SIGCONT):
                again.processes[slow].send_signal(what)
                time.sleep(0.01)
        assert [reply["difference"] for reply in again.end()] == [None, None]


def test_a_wire_of_another_length_is_noticed(boxes):
    """Otherwise two different recordings could match by mistake."""
    both = boxes(recorded)
    conversation(both)
    until = both.end()[0]["end_cycle"]
    again = boxes(
        lambda number: {"replay": f"record{number}", "until": until},
        hosted=False,
        delays=(DELAY + 1, DELAY + 1),
    ).end()
    assert "a frame of port" in again[1]["difference"]


NEVER = 2**64 - 1


def statement(next_, seen=0, end=NEVER, words=()):
    """A box's message as in README.md; words: (cycle, octets, whether they end a frame)."""
    return struct.pack("<QQQI", next_, seen, end, len(words)) + b"".join(
        struct.pack("<Q4sBB", cycle, octets.ljust(4, b"\0"), len(octets), last)
        for cycle, octets, last in words
    )


def test_a_damaged_frame_crosses_the_wire_unchanged(binary, rom, tmp_path):
    """This test is the wire's other end. The mock ignores the FCS, and makes a new one. A box waits for
    the other one's end, because messages may still be in transit."""
    frame = bytes(Ether(dst=GUEST.format(0), src=TESTER.format(0)) / ARP()).ljust(60, b"\0") + b"fcs?"
    packet_ = b"\x55" * 7 + b"\xd5" + frame
    begin, until = 5000, 100_000
    words = [
        (begin + 8 * at, packet_[at : at + 4], at + 4 >= len(packet_))
        for at in range(0, len(packet_), 4)
    ]
    near, far = socket.socketpair()
    near.settimeout(WAIT)
    live = {
        "do": "live",
        "wire": {"port": 0, "socket": far.fileno(), "delay": DELAY},
        "until": until,
        "capture": "pcapng",
    }
    with (
        near,
        far,
        subprocess.Popen(
            [binary, "--load", rom, "--script", "-"],
            text=True,
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[far.fileno()],
        ) as process,
    ):
        process.stdin.write(json.dumps(PROMPT) + "\n" + json.dumps(live) + "\n")
        process.stdin.flush()
        far.close()
        greeting = near.recv(28, socket.MSG_WAITALL)
        assert greeting[:8] == b"ModeWire"
        near.sendall(greeting + statement(NEVER, end=until, words=words))
        while near.recv(4096):  # it reports its end, and waits for ours
            pass
        near.shutdown(socket.SHUT_WR)
        reply = Boxes.reply(process)
    first, second = reply["ports"]
    assert first["in"] == {"frames": 1, "octets": len(frame)} and second["out"]["frames"] == 1
    came, left = passed(tmp_path, "pcapng")
    assert came == ("eth0", 1, begin + DELAY + 8 * 8, frame[:-4])
    assert left[0] == "eth1" and left[3] == frame[:-4]


def test_replay_at_a_wire_cannot_go_back(binary, sim, rom, tmp_path):
    """This test is the wire's other end: messages that were sent cannot be repeated."""
    sim(PROMPT, {"do": "live", "until": 50_000, "record": "record"})
    near, far = socket.socketpair()
    window, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in near, window:
        end.settimeout(WAIT)
    live = {
        "do": "live",
        "replay": "record",
        "until": 50_000,
        "window": theirs.fileno(),
        "wire": {"port": 0, "socket": far.fileno(), "delay": DELAY},
    }

    def ask(do, **fields):
        window.send(json.dumps({"do": do, **fields}).encode())

    def told(kind, right=lambda _: True):
        end = time.monotonic() + WAIT
        while not (kind in (message := json.loads(window.recv(1 << 20))) and right(message[kind])):
            assert time.monotonic() < end, message
        return message[kind]

    with (
        subprocess.Popen(
            [binary, "--load", rom, "--script", "-"],
            text=True,
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[far.fileno(), theirs.fileno()],
        ) as process,
        near,
        far,
        window,
        theirs,
    ):
        process.stdin.write(json.dumps(PROMPT) + "\n" + json.dumps(live) + "\n")
        process.stdin.flush()
        far.close()
        theirs.close()
        greeting = near.recv(28, socket.MSG_WAITALL)
        near.sendall(greeting + statement(NEVER, end=50_000))
        ask("open")
        ask("goto", cycle=40_000)
        told("state", lambda state: state["paused"] and state["cycle"] == 40_000)
        ask("goto", cycle=30_000)
        assert (
            told("note")
            == "cycle 30000 has passed, also for the other box at the wire, which does not go back"
        )
        assert told("state")["cycle"] == 40_000
        ask("run")
        near.shutdown(socket.SHUT_WR)
        reply = Boxes.reply(process)
    assert reply["end_cycle"] == 50_000 and reply["difference"] is None


@pytest.mark.parametrize("key, says", [("\x04", "powered off"), ("\x12", "asked for a reset")])
@pytest.mark.parametrize("box", [0, 1])
def test_end_of_one_guest_ends_both(boxes, box, key, says):
    """In the same cycle; these keys make the mock end. The replay ends in it, too."""
    both = boxes(lambda number: {**recorded(number), **({"keys": key} if number == box else {})})
    played = [both.reply(process) for process in both.processes]
    assert says in played[box]["ended"] and "ended" not in played[1 - box]
    assert played[0]["end_cycle"] == played[1]["end_cycle"]
    again = boxes(
        lambda number: {"replay": f"record{number}", "until": played[0]["end_cycle"]}, hosted=False
    ).end()
    assert again[box]["ended"] == played[box]["ended"]
    assert [reply["difference"] for reply in again] == [None, None]


@pytest.mark.parametrize("box", [0, 1])
def test_two_consoles(binary, sim, tmp_path, box):
    """Each has a terminal; quitting one console ends both, in the same cycle."""
    sim(PROMPT, {"do": "save", "file": "prompted"})
    terminals, processes = [], []
    for number, end in enumerate(wires := socket.socketpair()):
        ours, theirs = pty.openpty()
        live = {
            "wire": {"port": 1 - number, "socket": end.fileno(), "delay": DELAY},
            "record": f"record{number}",
        }
        processes.append(
            subprocess.Popen(
                [
                    binary,
                    "--restore",
                    "prompted",
                    "--interactive",
                    "--prompt",
                    "# ",
                    "--live",
                    json.dumps(live),
                ],
                stdin=theirs,
                stdout=theirs,
                stderr=subprocess.PIPE,
                cwd=tmp_path,
                text=True,
                pass_fds=[end.fileno()],
            )
        )
        os.close(theirs)
        terminals.append(ours)
    for end in wires:
        end.close()
    os.write(terminals[1], b"echo")
    seen = b""
    while b"echo" not in seen:
        seen += os.read(terminals[1], 100)
    os.write(terminals[box], b"\x01x")
    for process in processes:
        assert "s simulated" in process.communicate(timeout=WAIT)[1] and process.returncode == 0
    for each in terminals:
        os.close(each)
    ends = []
    for number in range(2):
        record = (tmp_path / f"record{number}").read_bytes()
        ends.append(json.loads(record[record.rindex(b'{"start_cycle"') :]))
    assert ends[0]["end_cycle"] == ends[1]["end_cycle"]
    assert [end["keys"] for end in ends] == [0, 4]


def test_killed_box_ends_the_other(boxes):
    both = boxes()
    conversation(both, frames=2)
    both.processes[1].kill()
    reply = both.reply(both.processes[0])
    assert not reply["ok"] and "the other box is gone" in reply["error"]


def test_boxes_must_agree(boxes):
    for wrong, says in (
        ({"delays": (DELAY, DELAY + 1)}, "delay and rate are not the same"),
        ({"first": ({"do": "run", "cycles": 1000},)}, "run the earlier one up to there"),
    ):
        both = boxes(**wrong)
        said = [both.reply(process)["error"] for process in both.processes]
        assert any(says in each for each in said), said
        both.close()


@pytest.mark.parametrize(
    "wire, says",
    [
        (7, "wire: is no object"),
        ({"port": 2, "socket": 0, "delay": 1}, "port: 2 is not"),
        ({"port": 0, "socket": 0, "delay": 10_001}, "delay: 10001 is not"),
        ({"port": 0, "socket": 0}, "delay: is missing"),
        ({"port": 1, "socket": 0, "delay": 1}, "a host is at its port"),
    ],
)
def test_wrong_wires(sim, wire, says):
    (reply,) = sim({"do": "live", "hosts": [None, 5], "wire": wire})
    assert not reply["ok"] and says in reply["error"]
