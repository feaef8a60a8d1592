# SPDX-License-Identifier: BSD-2-Clause
"""The driver's copies, sums and segments (tx_copy.c), as they leave the simulated SoC. Also with a MAC
that inserts checksums, so that the driver computes no sum.
"""

import shlex
import struct
import subprocess
from pathlib import Path

import pytest
from guests import complaints

from moderato.sim.lab.captures import pcap
from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import KNOWN, OFFLOAD
from moderato.soc.linux import userspace
from moderato.soc.linux.kernel import DEBUG

HERE = Path(__file__).parent
FIRST = 0xFFFFF000  # sequence number
CWR, PSH, FIN = 0x80, 0x08, 0x01
STATISTICS = "(cd /sys/class/net/eth0/statistics; cat tx_packets tx_bytes tx_dropped tx_errors)"


@pytest.fixture(
    params=[
        pytest.param(System(), id="normal"),
        pytest.param(System(nic=OFFLOAD), marks=pytest.mark.slow, id="offload"),
        pytest.param(System(kernel=DEBUG), marks=pytest.mark.slow, id="debug"),
    ]
)
def guest(request, tmp_path):
    m = machine(system=request.param)
    program = tmp_path / "send_tcp"
    subprocess.run([userspace.toolchain().cc, "-O2", "-o", program, HERE / "send_tcp.c"], check=True)
    with state.loaded(m, True).open() as session:
        session.call("mailbox", file=str(program), address=m.mailbox)
        session.check("mailbox > /tmp/send_tcp; chmod +x /tmp/send_tcp")
        yield session


def sent(guest, tmp_path: Path, mss: int, lengths: list[int]) -> list[bytes]:
    """The TCP frames that leave port 0."""
    nothing, out = tmp_path / "in.pcap", tmp_path / "out.pcap"
    foreign = bytes.fromhex("0200000000ff02000000000088b5") + bytes(46)  # to nobody
    nothing.write_bytes(
        struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
        + struct.pack("<IIII", 0, 0, len(foreign), len(foreign))
        + foreign
    )
    words = ["/tmp/send_tcp", "eth0", str(mss), *map(str, lengths)]
    guest.check(f"{shlex.join(words)} &")
    guest.call(
        "replay",
        **{"in": [str(nothing), None]},
        out=[str(out), str(tmp_path / "1.pcap")],
        quiet_cycles=8_000_000,
        max_cycles=100_000_000,
    )
    return [frame for _, frame in pcap.read(out) if frame[12:14] == b"\x08\x00" and frame[23] == 6]


def summed(octets: bytes) -> int:
    """The sum of RFC 1071: 0xffff if the checksum is correct."""
    octets += bytes(len(octets) % 2)
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def expect(frames: list[bytes], mss: int, lengths: list[int]):
    """Check that `frames` are the segments of skbs of these lengths, in order: RFC 9293, RFC 3168
    (CWR)."""
    n, frames = 0, iter(frames)
    for index, length in enumerate(lengths):
        start = n
        while n < start + length:
            size = min(mss, start + length - n)
            frame = next(frames)
            ip, tcp = frame[14:34], frame[34:54]
            payload = frame[54 : 34 + struct.unpack("!H", ip[2:4])[0] - 20]
            assert len(payload) == size and len(frame) == max(60, 54 + size)
            assert payload == bytes((7 * k + k // 256) % 256 for k in range(n, n + size))
            assert summed(ip) == 0xFFFF
            assert struct.unpack("!H", ip[4:6])[0] == 100 * (index + 3) + (n - start) // mss
            pseudo = ip[12:20] + struct.pack("!HH", 6, 20 + size)
            assert summed(pseudo + tcp + payload) == 0xFFFF
            assert struct.unpack("!I", tcp[4:8])[0] == (FIRST + n) % 2**32
            flags = tcp[13]
            assert bool(flags & CWR) == (n == start)
            n += size
            assert flags & (PSH | FIN) == (PSH | FIN if n == start + length else 0)
    assert next(frames, None) is None


LENGTHS = [1448, 1449, 46336, 1, 30000, 2 * 1448, 333, 46335]  # 46336: 32 segments of 1448


@pytest.mark.parametrize(
    "variant",
    [
        "napi-full",
        *(
            pytest.param(variant, marks=pytest.mark.slow)
            for variant in ("original", "napi-tx-128", "napi-tx-off")
        ),
    ],
)
def test_segments_with_each_strategy(guest, tmp_path, variant):
    for command in KNOWN[variant].commands():
        guest.type(command)
    before = [int(word) for word in guest.check(STATISTICS).split()]
    frames = sent(guest, tmp_path, 1448, LENGTHS)
    expect(frames, 1448, LENGTHS)
    after = [int(word) for word in guest.check(STATISTICS).split()]
    octets = sum(map(len, frames))  # with padding
    assert octets > sum(LENGTHS) + 54 * len(frames)
    assert [new - old for old, new in zip(before, after)] == [len(frames), octets, 0, 0]
    guest.check("ip link set eth0 down; ip link set eth0 up; rmmod moderato")
    assert complaints(guest) == []


def test_more_segments_than_announced(guest, tmp_path):
    """The stack does not limit the segments of a packet socket: the driver accepts those that half of
    the ring holds."""
    lengths = [50000, 537, 20000]
    expect(sent(guest, tmp_path, 537, lengths), 537, lengths)
    assert complaints(guest) == []


@pytest.mark.slow
def test_short_rings_and_switches(guest, tmp_path):
    """A ring that is too short for the longest skb gets no skbs to cut. All offloads can be turned
    off."""
    features = "ethtool -k eth0 | grep -E '^(tx-checksumming|scatter-gather|tcp-seg)'"
    assert guest.check(features).count(": on") == 3
    guest.check("ethtool -G eth0 tx 64")
    expect(sent(guest, tmp_path, 1448, LENGTHS), 1448, LENGTHS)
    guest.check("ethtool -C eth0 tx-frames 8; ethtool -G eth0 tx 32")
    assert guest.check(features).count(": on") == 2  # the stack cuts; its fragments have no sums
    expect(sent(guest, tmp_path, 1448, LENGTHS), 1448, LENGTHS)
    guest.check("ethtool -G eth0 tx 256")
    assert guest.check(features).count(": on") == 3
    guest.check("ethtool -K eth0 tx off sg off tso off")
    assert guest.check(features).count(": on") == 0
    expect(sent(guest, tmp_path, 1448, LENGTHS), 1448, LENGTHS)
    assert complaints(guest) == []
