# SPDX-License-Identifier: BSD-2-Clause
"""The kernel accepts the hardware's sums of received packets. All correct packets reach UDP, with any
length, padding and fragments, and no incorrect one does. (Sent packets: test_copies.py.)
"""

import random

import pytest
from guests import complaints
from scapy.layers.inet import IP, UDP, fragment
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import OFFLOAD

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def guest():
    with state.loaded(machine(system=System(nic=OFFLOAD)), True).open() as session:
        yield session


def counters(guest) -> dict[str, int]:
    """UDP's counters, by name."""
    names, values = [line.split()[1:] for line in guest.check("grep ^Udp: /proc/net/snmp").splitlines()]
    return dict(zip(names, map(int, values), strict=True))


def packet(octets: int) -> IP:
    """A datagram to a port without a listener: UDP checks its checksum, then counts it."""
    return (
        IP(src="198.18.0.2", dst="198.18.0.1", id=random.getrandbits(16))
        / UDP(sport=9, dport=9999)
        / Raw(random.randbytes(octets))
    )


def framed(content: bytes) -> bytes:
    """A frame with the packet. If it is short, its padding is not zero."""
    frame = bytes(Ether(dst="02:4d:6f:64:00:00", src="02:54:73:74:00:00", type=0x0800)) + content
    return frame + random.randbytes(max(0, 60 - len(frame)))


def damaged(content: bytes) -> bytes:
    """The packet with one bit of the payload inverted."""
    wrong = bytearray(content)
    wrong[random.randrange(28, len(wrong))] ^= 1 << random.randrange(8)
    return bytes(wrong)


@pytest.mark.parametrize("by_hardware", ["on", "off"])
def test_udp_counts_checksum_errors(guest, tmp_path, by_hardware):
    guest.check(f"ethtool -K eth0 rx {by_hardware}")
    assert f"rx-checksumming: {by_hardware}" in guest.check("ethtool -k eth0")
    random.seed(1)
    right = [bytes(packet(octets)) for octets in [*range(30), 100, 101, 1471, 1472]]
    wrong = [damaged(bytes(packet(octets))) for octets in (1, 2, 17, 18, 19, 500, 1472)]
    parts = [bytes(part) for octets in (1600, 3001) for part in fragment(packet(octets), 1480)]
    frames = [framed(content) for content in [*right, *wrong, *parts]]
    wrpcap(str(tmp_path / "in.pcap"), [Ether(frame) for frame in frames])
    before = counters(guest)
    guest.call(
        "replay",
        **{"in": [str(tmp_path / "in.pcap"), None]},
        out=[str(tmp_path / "0.pcap"), str(tmp_path / "1.pcap")],
        quiet_cycles=8_000_000,
        max_cycles=100_000_000,
    )
    counted = {name: value - before[name] for name, value in counters(guest).items()}
    assert counted["NoPorts"] == len(right) + 2  # and those in fragments
    assert counted["InCsumErrors"] == len(wrong)
    assert complaints(guest) == [] and "csum" not in guest.check("dmesg")
