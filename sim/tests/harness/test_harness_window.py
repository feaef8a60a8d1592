# SPDX-License-Identifier: BSD-2-Clause
"""The page's connection to a live session: moderato-sim's messages, and its reactions to controls."""

import contextlib
import json
import os
import socket
import struct
import subprocess
import time

import pytest
from harness_commands import PROMPT, packet
from scapy.utils import PcapNgReader

WAIT = 20  # seconds in which an answer must arrive


class Watched:
    """A simulator with a session, and the page's end of the connection."""

    def __init__(self, binary, rom, folder, fields):
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2)]
        (self.host, host), (self.window, window) = pairs
        host.setblocking(False)
        for ours, _ in pairs:
            ours.settimeout(WAIT)
        read, self.open = os.pipe()
        self.process = subprocess.Popen(
            [binary, "--load", rom, "--script", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            pass_fds=[host.fileno(), window.fileno(), read],
        )
        live = {"do": "live", "window": window.fileno(), "link_mbps": 100, **fields}
        if "replay" not in fields:
            live |= {"hosts": [host.fileno(), None], "until_closed": read}
        self.process.stdin.write(json.dumps(PROMPT) + "\n" + json.dumps(live) + "\n")
        self.process.stdin.flush()
        for _, theirs in pairs:
            theirs.close()
        os.close(read)

    def ask(self, do, **fields):
        self.window.send(json.dumps({"do": do, **fields}).encode())

    def told(self, kind):
        """The next message of a kind."""
        while True:
            message = json.loads(self.window.recv(1 << 20))
            if kind in message:
                return message[kind]

    def until(self, reached):
        end = time.monotonic() + WAIT
        while not reached(state := self.told("state")):
            assert time.monotonic() < end, state
        return state

    def step(self, to, before):
        """The state after a step; `before`: the state that it starts from."""
        self.ask("step", to=to)
        return self.until(lambda state: state["paused"] and state["cycle"] > before["cycle"])

    def end(self):
        if self.open is not None:
            os.close(self.open)
            self.open = None
        *told, reply = map(json.loads, self.process.communicate(timeout=WAIT)[0].splitlines())
        pieces = [
            message["progress"]["printed"]
            for message in told
            if "printed" in message.get("progress", {})
        ]
        self.printed = bytes.fromhex("".join(pieces) + reply.get("printed", "")).decode()
        self.notes = [note for message in told for note in message.get("progress", {}).get("notes", [])]
        assert reply["ok"], reply
        return reply

    def close(self):
        if self.open is not None:
            os.close(self.open)
        self.process.kill()
        self.process.communicate()
        self.host.close()
        self.window.close()


@pytest.fixture
def watched(binary, rom, tmp_path):
    """watched(fields of the command) → a Watched with an open page."""
    with contextlib.ExitStack() as closing:

        def begin(opened=True, **fields):
            session = Watched(binary, rom, tmp_path, fields)
            closing.callback(session.close)
            if opened:
                session.ask("open")
            return session

        yield begin


def test_messages(watched):
    session = watched()
    about = session.told("about")
    assert (about["sys_clk_hz"], about["mbps"], about["replaying"]) == (100_000_000, 100, False)
    assert len(about["lines"]) == 2 and "rx_interrupt" in about["events"]
    assert about["queues"] == [0, 0]
    session.host.send(bytes(packet(1)))
    state = session.until(lambda state: state["ports"][1]["out"])
    assert state["ports"][0]["in"] == 1 and "fill" not in state["ports"][0]  # the mock has no ring
    session.end()
    assert session.told("ended") >= state["cycle"]


def test_no_messages_while_no_page_is_open(watched):
    session = watched(opened=False)
    session.window.settimeout(0.3)
    with pytest.raises(TimeoutError):
        session.window.recv(1)
    session.end()
    assert session.window.recv(1) == b""


def test_load_is_recorded_and_replayed(watched, sim):
    """A third of the line rate, then none. The session continues, and its replay is equal."""
    session = watched(record="record")
    session.ask("load", port=0, percent=30, octets=128)
    first = session.until(lambda state: state["ports"][1]["out"] > 50)
    assert first["ports"][0]["load"] == {"percent": 30, "octets": 128}
    last = session.until(lambda state: state["cycle"] > first["cycle"] + 1_000_000)
    frames = last["ports"][0]["in"] - first["ports"][0]["in"]
    # 8 octets of preamble and 12 of gap with each frame; an octet takes 8 cycles.
    due = (last["cycle"] - first["cycle"]) * 0.3 / ((8 + 128 + 12) * 8)
    assert abs(frames - due) < 2
    session.ask("load", port=0, percent=0, octets=128)
    quiet = session.until(lambda state: not state["ports"][0]["load"]["percent"])
    session.host.send(bytes(packet(1)))
    session.until(lambda state: state["ports"][0]["in"] == quiet["ports"][0]["in"] + 1)
    reply = session.end()
    assert reply["undelivered"] == [0, 0]
    *_, again = sim(PROMPT, {"do": "live", "replay": "record", "until": reply["end_cycle"]})
    assert again["difference"] is None and again["ports"] == reply["ports"]


def test_each_load_has_distinct_frames(watched, tmp_path):
    """Otherwise a lost frame could be mistaken for one that left later."""
    session = watched(capture="capture")
    for octets in 100, 64, 100:
        before = session.told("state")["ports"][1]["out"]
        session.ask("load", port=0, percent=10, octets=octets)
        session.until(lambda state, before=before: state["ports"][1]["out"] > before + 10)
    session.end()
    frames = [
        bytes(frame) for frame in PcapNgReader(str(tmp_path / "capture")) if frame.sniffed_on == "eth0"
    ]
    assert len(frames) > 30 and len(set(frames)) == len(frames)


def test_a_hosts_frames_go_between_those_of_full_load(watched):
    session = watched()
    session.ask("load", port=0, percent=100, octets=64)
    session.until(lambda state: state["ports"][0]["in"] > 100)
    session.host.send(bytes(packet(1, size=600)))
    sent = session.until(lambda state: state["ports"][0]["waiting"] == 0)
    session.until(lambda state: state["cycle"] > sent["cycle"] + 300_000)
    left = session.end()["ports"][1]["out"]
    assert left["octets"] - 64 * left["frames"] == len(packet(1, size=600)) + 4 - 64


def test_keys_are_typed(watched, tmp_path):
    session = watched(record="record")
    session.ask("type", text="variant")
    printed = ""
    while "variant" not in printed:
        printed += session.told("state")["printed"]
    assert session.end()["keys"] == 7
    # Like any other key: cycle, kind 1, port 0, length, text.
    assert struct.pack("<HHI", 1, 0, 7) + b"variant" in (tmp_path / "record").read_bytes()


def test_a_page_that_is_opened_later(watched):
    """It gets the earlier output and the last chosen strategy, also if no page was open at that time."""
    session = watched()
    assert session.told("about")["strategy"] is None
    for name in "napi", "tx-off":
        session.ask("type", text=f"both ports: {name}\r\n")
        printed = ""
        while f"{name}\r\n" not in printed:
            printed += session.told("state")["printed"]
        session.ask("open")
        about = session.told("about")
        assert about["strategy"] == name and about["printed"].endswith(f"both ports: {name}\r\n")
    session.ask("close")
    session.ask("type", text="both ports: original\n" + "x" * 500)
    keys = sum(len(f"both ports: {name}\r\n") for name in ("napi", "tx-off"))
    session.ask("open")
    while not (
        (about := session.told("about"))["strategy"] == "original"
        and about["printed"].endswith(500 * "x")
    ):
        time.sleep(0.05)
        session.ask("open")
    assert session.end()["keys"] == keys + 521


def test_second_page_does_not_affect_the_first(watched):
    """All output still reaches the first page."""
    session = watched()
    session.told("about")
    session.ask("type", text="0123456789" * 100)
    printed, opened = "", 0
    while len(printed) < 1000:
        session.ask("open")
        message = json.loads(session.window.recv(1 << 20))
        printed += message.get("state", {}).get("printed", "")
        opened += "about" in message
    assert printed == "0123456789" * 100 and opened > 3
    session.end()


def test_window_process_ended(watched):
    session = watched()
    session.told("about")
    session.window.close()
    session.host.send(bytes(packet(1)))
    end = time.monotonic() + WAIT
    while "notes" not in (told := json.loads(session.process.stdout.readline())).get("progress", {}):
        assert time.monotonic() < end, told
    assert told["progress"]["notes"] == [
        "the window's process is gone; the session goes on without a page"
    ]
    assert session.end()["ports"][0]["in"]["frames"] == 1 and session.notes == []


def test_pause_and_step(watched):
    session = watched()
    session.ask("load", port=0, percent=10, octets=64)
    session.ask("pause")
    paused = session.until(lambda state: state["paused"])
    assert session.told("state")["cycle"] == paused["cycle"]
    for _ in range(3):
        state = session.step("frame", before=paused)
        _, cycle, _, octets, *_ = [one for one in state["moments"] if one[0] in "io"][-1]
        # It stops when the packet begins, or has left; the time is that of the frame's first bit.
        assert octets == 64 and abs(cycle - state["cycle"]) < (8 + 64) * 8 + 3
        paused = state
    state = session.step("interrupt", before=paused)
    assert state["moments"][-1][:2] == ["u", state["cycle"]]
    session.ask("run")
    session.until(lambda later: later["cycle"] > state["cycle"] + 100_000)
    session.end()


def test_slow_motion(watched):
    session = watched()
    session.ask("pace", ratio=1e-4)
    first = session.until(lambda state: state["ratio"] == 1e-4)
    later = session.told("state")
    assert 0 < later["cycle"] - first["cycle"] < 100_000  # at 10 000 cycles per second
    session.end()


def test_a_replay_waits_and_goes_to_a_cycle(watched, sim):
    session = watched(record="record")
    session.ask("load", port=0, percent=5, octets=64)
    session.until(lambda state: state["ports"][1]["out"] > 20)
    end = session.end()["end_cycle"]

    replay = watched(replay="record", until=end)
    assert replay.told("about")["replaying"] is True
    first = replay.told("state")
    assert first["paused"] and first["cycle"] == replay.told("state")["cycle"]
    replay.ask("goto", cycle=end // 2)
    assert replay.until(lambda state: state["cycle"] > first["cycle"])["paused"] in (True, False)
    assert replay.until(lambda state: state["paused"])["cycle"] == end // 2
    for control in {"do": "load", "port": 0, "percent": 1, "octets": 64}, {"do": "type", "text": "x"}:
        replay.ask(**control)
        assert replay.told("note").startswith("a recording plays; ")
    replay.ask("run")
    assert replay.until(lambda state: state["paused"])["cycle"] == end
    replay.ask("run")  # all cycles are played
    assert replay.until(lambda state: state["paused"])["cycle"] == end
    replay.ask("goto", cycle=first["cycle"])
    assert replay.until(lambda state: state["paused"] and state["cycle"] == first["cycle"])
    replay.ask("run")
    replay.until(lambda state: state["paused"] and state["cycle"] == end)
    replay.ask("close")
    assert replay.end()["difference"] is None


def test_replay_ends_when_its_page_is_closed(watched):
    """After its last cycle, page and server are closed."""
    session = watched(record="record")
    start = session.told("about")["start"]
    session.until(lambda state: state["cycle"] > start)
    end = session.end()["end_cycle"]
    replay = watched(replay="record", until=end)
    replay.ask("goto", cycle=end)
    replay.until(lambda state: state["paused"] and state["cycle"] == end)
    replay.window.close()
    assert replay.end()["end_cycle"] == end


def shown(state):
    """The part of a state that depends on the simulation alone, without events since the last state."""
    return {
        name: value
        for name, value in state.items()
        if name not in ("moments", "left_out", "printed", "stacks", "ratio")
    }


def test_going_back_in_a_replay(watched, sim, tmp_path):
    """To a stored state, or the first one: from there on, all is as before."""
    session = watched(record="record", capture="session.pcapng")
    session.ask("load", port=0, percent=40, octets=200)
    session.until(lambda state: state["ports"][1]["out"] > 100)
    session.ask("type", text="typed")
    session.until(lambda state: "typed" in state["printed"])
    session.ask("load", port=1, percent=20, octets=64)
    session.until(lambda state: state["ports"][0]["out"] > 2000)
    report = session.end()
    start, end = report["start_cycle"], report["end_cycle"]

    replay = watched(replay="record", until=end, capture="replay.pcapng", stream=True)

    def go(cycle):
        replay.ask("goto", cycle=cycle)
        return replay.until(lambda state: state["paused"] and state["cycle"] == cycle)

    first = replay.told("state")["cycle"]
    middle, late = start + (end - start) // 2, end - (end - start) // 10
    states = [go(cycle) for cycle in (middle, late)]
    replay.ask("goto", cycle=middle)
    kept = replay.told("state")
    while kept["cycle"] > middle:  # states of earlier messages
        kept = replay.told("state")
    assert first < kept["cycle"] <= middle
    replay.until(lambda state: state["paused"])
    assert [shown(go(cycle)) for cycle in (late, middle, late)] == [
        shown(states[at]) for at in (1, 0, 1)
    ]
    assert go(first)["ports"][0]["in"] == 0
    for cycle in (first - 1, 0):
        replay.ask("goto", cycle=cycle)
        assert replay.told("note") == f"cycle {cycle} was before the recording, which begins at {first}"
    assert shown(go(late)) == shown(states[1])
    go(end)
    replay.ask("close")
    again = replay.end()
    assert again["difference"] is None and again["ports"] == report["ports"]
    assert replay.printed.count("typed") == 1
    assert (tmp_path / "replay.pcapng").read_bytes() == (tmp_path / "session.pcapng").read_bytes()


def test_session_cannot_go_back(watched):
    session = watched()
    session.ask("pause")
    cycle = session.until(lambda state: state["paused"])["cycle"] - 1
    session.ask("goto", cycle=cycle)
    assert (
        session.told("note")
        == f"cycle {cycle} has passed; only in the replay of a recording one can go back"
    )
    session.end()


def moments(session, kind, count):
    """The first `count` moments of a kind."""
    found = []
    while len(found) < count:
        found += [moment for moment in session.told("state")["moments"] if moment[0] == kind]
    return found[:count]


def test_latency(watched):
    """From the last bit in to the first bit out. Equal frames count in order; without an entry, none."""
    session = watched()
    session.ask("pause")
    session.until(lambda state: state["paused"])
    session.ask("pace", ratio=1e-4)  # the mock's lines change often, and a state omits some changes
    session.ask("run")
    one, other = bytes(packet(1)), bytes(packet(2, size=300))
    for frame in one, one, other:
        session.host.send(frame)
    came, left = {}, []
    while len(left) < 3:
        for kind, cycle, _, octets, *latency in session.told("state")["moments"]:
            if kind == "i":
                came.setdefault(octets, []).append(cycle + 8 * octets)
            if kind == "o":
                left.append((cycle, octets, latency))
    assert len(left) == 3
    for cycle, octets, latency in left:
        assert latency == [cycle - came[octets].pop(0)] and latency[0] > 0
    # The page was not open when it entered.
    session.ask("pause")
    session.until(lambda state: state["paused"])
    session.host.send(one)
    session.ask("step", to="frame")
    session.until(lambda state: any(moment[0] == "i" for moment in state["moments"]))
    session.ask("open")
    session.ask("run")
    ((*_, octets),) = moments(session, "o", 1)
    assert octets == len(one) + 4
    session.end()


def test_stacks_of_the_hart(watched, tmp_path):
    """The mock's hart waits in every fourth cycle; programs have the other cycles."""
    (tmp_path / "symbols").write_text("0xc0001000 256 main\n")
    session = watched(symbols="symbols")
    first = session.told("state")
    assert first["stacks"][0]["from"] == 0 and first["stacks"][0]["nodes"][0] == [0, "[unknown]"]
    names = [name for _, name in first["stacks"][0]["nodes"]]
    busy, end = 0, first["cycle"] + 2_000_000
    while (state := session.told("state"))["cycle"] < end:
        (hart,) = state["stacks"]
        assert hart["from"] == len(names)
        names += [name for _, name in hart["nodes"]]
        busy += sum(cycles for node, cycles in hart["busy"] if names[node] == "[user]")
        last = state["cycle"]
    assert names.count("[user]") == 1
    assert abs(busy / (last - first["cycle"]) - 0.75) < 0.001
    session.ask("close")
    session.ask("open")
    assert session.told("about") and session.told("state")["stacks"][0]["from"] == 0
    assert session.end()


def test_no_symbols(watched):
    session = watched()
    assert session.told("state")["stacks"] is None
    session.end()
    session = watched(symbols="missing")
    assert session.told("note").startswith("missing: cannot be read")
    assert session.told("state")["stacks"] is None  # the rest of the state is shown
    session.end()


def test_pause_ends_when_the_page_is_closed(watched):
    """The page is closed, or its server ends: the session continues."""
    session = watched()
    session.ask("pause")
    paused = session.until(lambda state: state["paused"])
    session.ask("close")
    session.host.send(bytes(packet(1)))
    session.ask("open")
    session.until(lambda state: state["cycle"] > paused["cycle"] and not state["paused"])
    session.ask("pause")
    session.until(lambda state: state["paused"])
    session.window.close()
    reply = session.end()
    assert reply["ports"][0]["in"]["frames"] == 1


@pytest.mark.parametrize(
    "control, says",
    [
        (b"no JSON", "this is not understood"),
        (b"{}", "do: is missing"),
        (b'{"do": "fly"}', "a window has no control 'fly'"),
        (b'{"do": "step", "to": "moon"}', "to: is neither frame nor interrupt"),
        (b'{"do": "load", "port": 2, "octets": 64}', "port: 2 is not"),
        (b'{"do": "load", "port": 0, "octets": 64, "percent": 101}', "percent: is not 0 to 100"),
        (b'{"do": "load", "port": 0, "octets": 63, "percent": 1}', "octets: a frame has 64 to 1518"),
        (b'{"do": "pace", "ratio": "slow"}', "this is not understood"),
        (b'{"do": "pace", "ratio": 1e-300}', "ratio: has to be 0.000001 at least, or 0"),
        (b'{"do": "goto"}', "cycle: is missing"),
    ],
)
def test_wrong_controls(watched, control, says):
    session = watched()
    session.window.send(control)
    assert says in session.told("note")
    session.end()
