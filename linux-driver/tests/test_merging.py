# SPDX-License-Identifier: BSD-2-Clause
"""Segments that the hardware marks become one packet, octet for octet what GRO makes of them; what is
wrong, or out of order, does not.
"""

from pathlib import Path

import pytest
from guests import complaints
from netlink_answers import answer, install_groups, number
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import rdpcap, wrpcap

from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import OFFLOAD
from moderato.sim.lab.tcp import exchange, transfers
from moderato.sim.lab.tcp.transfer import FAULTS, IN, Transfer
from moderato.soc.linux import userspace

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
SYSTEM = System(nic=OFFLOAD)
# Of netdev's qstats, by the kernel's uapi.
HW_GRO_PACKETS, HW_GRO_WIRE_PACKETS = 19, 21
MSS = 1000


def transfer(**changes) -> Transfer:
    return Transfer(
        **{
            "direction": IN,
            "variant": "napi-full",
            "link_mbps": 1000,
            "gro": True,
            "octets": 400_000,
            "check": True,
        }
        | changes
    )


def opened(wanted: Transfer):
    return transfers.ready(machine(1000, SYSTEM), wanted).open()


def merged(guest) -> tuple[int, int]:
    """Packets that eth0 made of several, and those that they were made of."""
    found = dict(answer(guest, "eth0", "qstats"))
    return number(found[HW_GRO_PACKETS]), number(found[HW_GRO_WIRE_PACKETS])


@pytest.mark.parametrize("variant", ["napi-full", "adaptive-hw"])
@pytest.mark.parametrize("faults", [(), FAULTS])
def test_all_octets_arrive(tmp_path, variant, faults):
    """Over two connections, with segments that are lost, doubled, damaged and exchanged."""
    wanted = transfer(variant=variant, connections=2, faults=faults)
    with opened(wanted) as guest:
        install_groups(guest, tmp_path)
        made = exchange.run(wanted, guest, 100_000_000, lambda _: None)
        assert not [problem for problem in made["problems"] if "steady" not in problem]
        assert made["corrupted"] == 0
        packets, of = merged(guest)
        assert 2 * packets <= of and of > 150
        assert complaints(guest) == []


def test_off(tmp_path):
    """As it says: with `rx-gro-hw off`, without GRO, or sums, nothing is merged, and all arrives."""
    wanted = transfer()
    with opened(wanted) as guest:
        install_groups(guest, tmp_path)
        for feature in ("rx-gro-hw", "gro", "rx"):
            guest.check(f"ethtool -K eth0 {feature} off")
            assert "rx-gro-hw: off" in guest.check("ethtool -k eth0")
            guest.check(f"ethtool -K eth0 {feature} on")
            assert "rx-gro-hw: on" in guest.check("ethtool -k eth0")
        guest.check("ethtool -K eth0 rx-gro-hw off")
        made = exchange.run(wanted, guest, 100_000_000, lambda _: None)
        assert made["corrupted"] == 0 and merged(guest) == (0, 0)


def test_does_not_merge_urgent_frames(tmp_path):
    """A rule that comes and goes while a stream comes in: what it takes out of turn leaves marked
    descriptors behind, of which nothing is taken twice."""
    wanted = transfer()
    with opened(wanted) as guest:
        install_groups(guest, tmp_path)
        guest.check(
            "while :; do ethtool -N eth0 flow-type ip4 tos 0; ethtool -N eth0 delete 0; "
            "done > /dev/null 2>&1 &"
        )
        made = exchange.run(wanted, guest, 400_000_000, lambda _: None)
        guest.check("kill $!")
        assert made["corrupted"] == 0
        packets, of = merged(guest)
        assert 0 < 2 * packets <= of
        assert complaints(guest) == []


def segments(count: int, wrong: dict[int, int]) -> list[bytes]:
    """A stream to a port where nobody listens; wrong: octets of which one bit is, by segment."""
    made = []
    for n in range(count):
        frame = bytearray(
            bytes(
                Ether(dst="02:4d:6f:64:00:00", src="02:54:73:74:00:00")
                / IP(src="198.18.0.2", dst="198.18.0.1", id=n, flags="DF")
                / TCP(sport=1000, dport=9999, seq=MSS * n, ack=1, flags="A")
                / Raw(bytes([n % 256]) * MSS)
            )
        )
        if n in wrong:
            frame[wrong[n]] ^= 1
        made.append(bytes(frame))
    return made


def counted(guest, protocol: str, name: str) -> int:
    names, values = [
        line.split()[1:] for line in guest.check(f"grep ^{protocol}: /proc/net/snmp").splitlines()
    ]
    return int(values[names.index(name)])


def test_does_not_merge_wrong_checksums(tmp_path):
    """TCP's or IP's, in the first segment or a later one: the kernel finds each of them, for none is
    merged; it answers what the others became."""
    wrong = {0: 54, 5: 60, 6: 54 + MSS - 1, 20: 50, 30: 24, 39: 54}  # 24: IP's
    with opened(transfer()) as guest:
        install_groups(guest, tmp_path)
        before = [counted(guest, "Tcp", "InCsumErrors"), counted(guest, "Ip", "InHdrErrors")]
        files = [tmp_path / f"{name}.pcap" for name in ("in", "0", "1")]
        wrpcap(str(files[0]), [Ether(frame) for frame in segments(40, wrong)])
        guest.call(
            "replay",
            **{"in": [str(files[0]), None]},
            out=[str(file) for file in files[1:]],
            quiet_cycles=8_000_000,
            max_cycles=100_000_000,
        )
        after = [counted(guest, "Tcp", "InCsumErrors"), counted(guest, "Ip", "InHdrErrors")]
        assert [now - was for now, was in zip(after, before)] == [len(wrong) - 1, 1]
        resets = [packet[TCP] for packet in rdpcap(str(files[1])) if TCP in packet]
        assert all("R" in str(reset.flags) for reset in resets)
        packets, of = merged(guest)
        # Four rows of right ones lie between wrong ones.
        assert packets <= len(resets) < of <= 40 - len(wrong) and len(resets) >= 4
        assert complaints(guest) == []


def stream(destination: str, count: int = 40) -> list[Ether]:
    """Each eighth segment has PSH, behind which GRO does not wait for more."""
    return [
        Ether(dst="02:4d:6f:64:00:00", src="02:54:73:74:00:00")
        / IP(src="198.18.0.2", dst=destination, id=n, flags="DF")
        / TCP(sport=1000, dport=9999, seq=MSS * n, ack=1, flags="A" if (n + 1) % 8 else "PA")
        / Raw(bytes([n % 256]) * MSS)
        for n in range(count)
    ]


def replayed(guest, tmp_path, frames) -> list[Ether]:
    """What leaves port 1 when these arrive at port 0."""
    files = [tmp_path / f"{name}.pcap" for name in ("in", "0", "1")]
    wrpcap(str(files[0]), frames)
    guest.call(
        "replay",
        **{"in": [str(files[0]), None]},
        out=[str(file) for file in files[1:]],
        quiet_cycles=8_000_000,
        max_cycles=200_000_000,
    )
    return list(rdpcap(str(files[2])))


def test_merged_packets_equal_those_of_gro(tmp_path):
    """Also those that GRO lets through as they are: the sum of the pseudo-header, of the whole length,
    and the rest for whoever sends it on."""
    program = userspace.compiled("tap", HERE / "tap.c", userspace.toolchain())
    with opened(transfer()) as guest:
        install_groups(guest, tmp_path)
        guest.call("mailbox", file=str(program), address=machine(1000, SYSTEM).mailbox)
        guest.check("mailbox > /tmp/tap; chmod +x /tmp/tap; /tmp/tap eth0 > /tmp/said &")
        replayed(guest, tmp_path, stream("198.18.0.1"))
        said = [list(map(int, line.split())) for line in guest.check("cat /tmp/said").splitlines()]
        assert merged(guest)[0] > 0 and said
        for octets, *rest in said:
            assert octets > 2 * MSS and rest == [1, 34, 16, 0xFFFF]
        assert complaints(guest) == []


@pytest.mark.parametrize("tso", ["on", "off"])
def test_merged_packets_are_forwarded(tmp_path, tso):
    """Cut again by the hardware or by the kernel: the same segments, with right checksums."""
    sent = stream("198.19.0.2")
    with opened(transfer()) as guest:
        install_groups(guest, tmp_path)
        guest.check(f"ethtool -K eth1 tso {tso}; ip link set eth1 up")
        left = [frame for frame in replayed(guest, tmp_path, sent) if TCP in frame]
        assert merged(guest)[0] > 0
        assert [frame[TCP].seq for frame in left] == [frame[TCP].seq for frame in sent]
        for frame, was in zip(left, sent, strict=True):
            assert bytes(frame[TCP].payload) == bytes(was[TCP].payload)
            again = Ether(bytes(frame))
            del again[IP].chksum, again[TCP].chksum
            assert bytes(again) == bytes(frame)
        assert complaints(guest) == []
