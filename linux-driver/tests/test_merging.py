# SPDX-License-Identifier: BSD-2-Clause
"""Segments that the hardware marks become one packet, equal to GRO's in each octet. Incorrect segments,
and those out of order, are not merged.
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
# Numbers of netdev's qstats in the kernel's uapi.
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
    """The merged packets of eth0, and the number of their segments."""
    found = dict(answer(guest, "eth0", "qstats"))
    return number(found[HW_GRO_PACKETS]), number(found[HW_GRO_WIRE_PACKETS])


@pytest.mark.parametrize("variant", ["napi-full", "adaptive-hw"])
@pytest.mark.parametrize("faults", [(), FAULTS])
def test_all_octets_arrive(tmp_path, variant, faults):
    """Two connections, with segments lost, duplicated, damaged and reordered."""
    wanted = transfer(variant=variant, connections=2, faults=faults)
    with opened(wanted) as guest:
        install_groups(guest, tmp_path)
        made = exchange.run(wanted, guest, 100_000_000, lambda _: None)
        assert not [problem for problem in made["problems"] if "steady" not in problem]
        assert made["corrupted"] == 0
        packets, of = merged(guest)
        assert 2 * packets <= of and of > 150
        assert complaints(guest) == []


def test_features_turn_merging_off(tmp_path):
    """With `rx-gro-hw off`, without GRO, or without sums, no segment is merged, and all arrive."""
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
    """A rule is added and deleted while a stream arrives. Urgent frames leave marked descriptors on the
    ring, and the driver takes none of them twice."""
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
    """A stream to a port without a listener. wrong: the octet with an inverted bit, by segment."""
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
    """Wrong checksums of TCP or IP, in the first segment or a later one. None of these segments is
    merged, so the kernel counts each. It answers the packets that the other segments became."""
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
        # Four runs of correct segments are between the wrong ones.
        assert packets <= len(resets) < of <= 40 - len(wrong) and len(resets) >= 4
        assert complaints(guest) == []


def stream(destination: str, count: int = 40) -> list[Ether]:
    """Each eighth segment has PSH, after which GRO does not wait for more."""
    return [
        Ether(dst="02:4d:6f:64:00:00", src="02:54:73:74:00:00")
        / IP(src="198.18.0.2", dst=destination, id=n, flags="DF")
        / TCP(sport=1000, dport=9999, seq=MSS * n, ack=1, flags="A" if (n + 1) % 8 else "PA")
        / Raw(bytes([n % 256]) * MSS)
        for n in range(count)
    ]


def replayed(guest, tmp_path, frames) -> list[Ether]:
    """The frames that leave port 1 after these arrive at port 0."""
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
    """Also packets that GRO passes unchanged. Their checksum is the pseudo-header's sum with the whole
    length; the sender of the next hop completes it."""
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
    """Hardware or kernel cuts them into the same segments, with correct checksums."""
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
