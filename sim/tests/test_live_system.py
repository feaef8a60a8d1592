# SPDX-License-Identifier: BSD-2-Clause
"""Live sessions of the whole system: hosts on this machine, Linux on the simulated SoC, and replays."""

import contextlib
import hashlib
import json
import sys

import namespaces
import pytest
from scapy.layers.inet import ICMP, IP, TCP
from scapy.utils import PcapNgReader

from moderato.sim.lab import cli

PING = """\
from scapy.layers.inet import ICMP, IP
from scapy.sendrecv import sr1
for number, address in enumerate(["198.18.0.1", "198.19.0.2", "198.18.0.1"]):
    reply = sr1(IP(dst=address) / ICMP(seq=number) / b"moderato", timeout=60, verbose=False)
    print(reply.src, reply[ICMP].type, reply[ICMP].seq, reply.ttl)
"""
SHELL = """\
import socket
for command in "uname -m", "nproc; echo $((6 * 7))":
    with socket.create_connection(("198.18.0.1", 2323)) as connection:
        connection.sendall(f"{command}; exit\\n".encode())
        said = b"".join(iter(lambda: connection.recv(4096), b"")).decode()
        print(said.rpartition("# ")[2].split())
"""
SERVE = """\
import socket
listener = socket.create_server(("198.19.0.2", 5001))
connection, _ = listener.accept()
with open("received", "wb") as file:
    while octets := connection.recv(1 << 16):
        file.write(octets)
"""
SEND = """\
import socket, time, urllib.request
def choose(name):
    address = f"http://198.18.0.1/cgi-bin/variant?{name}"
    print(urllib.request.urlopen(address, timeout=120).read().decode().strip())
time.sleep(1)
with open("sent", "rb") as file, socket.create_connection(("198.19.0.2", 5001)) as connection:
    connection.sendall(file.read(30_000))
    choose("original")
    connection.sendall(file.read(30_000))
    choose("napi-tx-off")
    connection.sendall(file.read())
"""
OCTETS = 90_000


@pytest.fixture
def run(tmp_path, monkeypatch):
    """run(words of `moderato live`) → its exit status, in a folder of its own."""
    namespaces.need()
    monkeypatch.chdir(tmp_path)
    return lambda *words: cli.main(["live", *words])


def reports(folder) -> list[dict]:
    """The reports of a session and of its replay, without values that depend on the host's time."""
    found = [json.loads((folder / name).read_text()) for name in ("session.json", "replay.json")]
    for each in found:
        assert each.pop("simulation")["cycles_per_second"] > 0
    return found


def test_ping_and_its_replay(run, tmp_path, capfd):
    """The box answers, and forwards; a replay repeats all outputs in the same cycles."""
    (tmp_path / "ping.py").write_text(PING)
    assert (
        run(
            "--variant",
            "napi",
            "--record",
            "session",
            "--json",
            "session.json",
            "--capture",
            "session.pcapng",
            "-c",
            f"{sys.executable} ping.py",
        )
        == 0
    )
    assert capfd.readouterr().out.splitlines() == [
        "198.18.0.1 0 0 64",
        "198.19.0.2 0 1 63",
        "198.18.0.1 0 2 64",
    ]
    assert run("--replay", "session", "--json", "replay.json", "--capture", "replay.pcapng") == 0
    session, replay = reports(tmp_path)
    assert session == replay
    pings = [frame for frame in PcapNgReader(str(tmp_path / "session.pcapng")) if ICMP in frame]
    assert [(frame.sniffed_on, frame[IP].src) for frame in pings[2:4]] == [
        ("eth0", "198.18.0.2"),
        ("eth1", "198.18.0.2"),
    ]
    assert (tmp_path / "session.pcapng").read_bytes() == (tmp_path / "replay.pcapng").read_bytes()
    middle = (session["start_cycle"] + session["end_cycle"]) // 2
    assert run("--replay", "session", "--from", str(middle), "--folded", "stacks") == 0
    cycles = [int(line.rpartition(" ")[2]) for line in (tmp_path / "stacks").read_text().splitlines()]
    assert sum(cycles) == session["end_cycle"] - middle


def test_a_shell_for_each_connection(run, tmp_path, capfd):
    """Two connections, one after the other."""
    (tmp_path / "shell.py").write_text(SHELL)
    assert run("--variant", "napi", "-c", f"{sys.executable} shell.py") == 0
    assert capfd.readouterr().out.splitlines() == ["['riscv32']", "['1', '42']"]


@pytest.mark.slow
def test_a_file_while_the_strategy_changes(run, tmp_path, capfd):
    """Over TCP through the box, between two hosts' own stacks; then its replay."""
    octets = b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(OCTETS // 32))
    (tmp_path / "serve.py").write_text(SERVE)
    (tmp_path / "send.py").write_text(SEND)
    (tmp_path / "sent").write_bytes(octets)
    python = sys.executable
    assert (
        run(
            "--variant",
            "napi",
            "--record",
            "session",
            "--json",
            "session.json",
            "--capture",
            "session.pcapng",
            "-c",
            f"$HOST1 {python} serve.py & {python} send.py && wait",
        )
        == 0
    )
    assert capfd.readouterr().out.splitlines() == ["both ports: original", "both ports: napi-tx-off"]
    assert (tmp_path / "received").read_bytes() == octets
    assert run("--replay", "session", "--json", "replay.json") == 0
    session, replay = reports(tmp_path)
    assert session == replay
    with contextlib.closing(PcapNgReader(str(tmp_path / "session.pcapng"))) as frames:
        carried = sum(
            len(frame[TCP].payload)
            for frame in frames
            if TCP in frame
            and frame[TCP].dport == 5001
            and frame.sniffed_on == "eth1"
            and frame[IP].len > 52
        )
    assert carried >= len(octets)
