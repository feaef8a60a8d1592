# SPDX-License-Identifier: BSD-2-Clause
"""Linux on two simulated SoCs, joined by a wire; and their replay."""

import contextlib
import json
import sys

import namespaces
import pytest
from scapy.utils import PcapNgReader

from moderato.sim.lab import cli

DELAY = 500  # ns
# Host 0 pings the guest of box 1 and host 1, then loads a page for which box 0 connects to box 1.
HOST = """\
import socket
from scapy.layers.inet import ICMP, IP
from scapy.sendrecv import sr1
listener = socket.create_server(("198.18.0.2", 5000))
for number, address in enumerate(["198.18.1.2", "198.19.0.2"]):
    reply = sr1(IP(dst=address) / ICMP(seq=number), timeout=300, verbose=False)
    print(reply.src, reply[ICMP].type, reply[ICMP].seq, reply.ttl)
connection, _ = listener.accept()
page = b""
while octets := connection.recv(1 << 16):
    page += octets
print(page.decode())
"""
FETCH = "wget -q -O - http://198.18.1.2/cgi-bin/counters | nc 198.18.0.2 5000"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """run(words of `moderato live`) → its exit status, in a folder of its own."""
    namespaces.need()
    monkeypatch.chdir(tmp_path)
    return lambda *words: cli.main(["live", *words])


def frames(path, interface, direction):
    """(ns of the first bit, octets) of the frames that passed a port in one direction."""
    with contextlib.closing(PcapNgReader(str(path))) as read:
        return [
            (round(float(frame.time) * 1e9), bytes(frame))
            for frame in read
            if (frame.sniffed_on, frame.direction) == (interface, direction)
        ]


def test_ping_and_tcp_through_two_boxes(run, tmp_path, capfd):
    (tmp_path / "host.py").write_text(HOST)
    assert (
        run(
            "--boxes",
            "2",
            "--delay",
            str(DELAY),
            "--variant",
            "napi",
            "--record",
            "session",
            "--capture",
            "frames",
            "--json",
            "session.json",
            "--type0",
            FETCH,
            "-c",
            f"{sys.executable} host.py",
        )
        == 0
    )
    first, second, *page = capfd.readouterr().out.splitlines()
    assert (first, second) == ("198.18.1.2 0 0 63", "198.19.0.2 0 1 62")
    assert any("eth1-rx" in line for line in page)  # a line of its /proc/interrupts
    there, here = frames(tmp_path / "frames", "eth1", 2), frames(tmp_path / "frames.1", "eth0", 1)
    assert [(time + DELAY, octets) for time, octets in there[: len(here)]] == here
    assert len(there) - len(here) <= 1 and len(here) > 10  # one may have been in progress

    assert_replayed(run, tmp_path, capfd)


def assert_replayed(run, tmp_path, capfd):
    """Frames and report are those of the session, to the cycle."""
    assert run("--replay", "session", "--capture", "again", "--json", "replay.json") == 0
    assert "the same as the recording, to the cycle, to its end" in capfd.readouterr().err
    played, again = (
        json.loads((tmp_path / name).read_text()) for name in ("session.json", "replay.json")
    )
    assert played.pop("simulation") and again.pop("simulation") and played == again
    for end in ("", ".1"):
        assert (tmp_path / f"frames{end}").read_bytes() == (tmp_path / f"again{end}").read_bytes()
