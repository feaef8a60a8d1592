# SPDX-License-Identifier: BSD-2-Clause
"""Commands and packets that the harness's tests share."""

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

MAILBOX = 0x4000_1000
GUEST, TESTER = "02:4d:6f:64:00:0{}", "02:54:73:74:00:0{}"
PROMPT = {"do": "expect", "text": "# ", "max_cycles": 100_000}


def offer(frame_bytes=64, load_percent=100, frames=100, **more):
    return {"frame_bytes": frame_bytes, "load_percent": load_percent, "frames": frames, **more}


def trial(*ports, **fields):
    return {"do": "trial", "ports": list(ports), "quiet_cycles": 10_000, **fields}


def replay(*ports, **fields):
    return {"do": "replay", "in": list(ports), "quiet_cycles": 10_000, **fields}


def packet(n, size=80):
    head = Ether(dst=GUEST.format(0), src=TESTER.format(0)) / IP(
        src="198.18.0.9", dst="198.19.0.9", ttl=10 + n
    )
    return head / UDP(sport=n, dport=9) / bytes(size)


def damage(path, change):
    path.write_bytes(change(path.read_bytes()))
