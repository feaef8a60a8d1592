# SPDX-License-Identifier: BSD-2-Clause
"""Flows of Linux' flow table that the MACs of the simulated SoC forward. Their frames equal those of
software in each octet. A flow ends when its route, neighbour or interface changes.
"""

import re
from pathlib import Path

import modified
import pytest
from guests import collect, complaints, interrupts, offer, replay, statistics
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import PINNED, System
from moderato.sim.lab.run.variants import FLOWS
from moderato.soc.linux import kernel, userspace

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
PORTS = ("eth0", "eth1")
GUEST, TESTER = "02:4d:6f:64:00:0{}", "02:54:73:74:00:0{}"
ENTRIES = 512  # of each MAC


@pytest.fixture(params=[1, 2], ids=["one hart", "two harts"])
def guest(request):
    """A guest with a flow table for hardware. With two harts, each serves a port."""
    system = System(nic=FLOWS, kernel=kernel.Choice(kernel.XDP), harts=request.param, spread=PINNED)
    m = machine(system=system)
    with state.loaded(m, True).open() as session:
        session.mailbox = m.mailbox
        for command in system.commands():
            session.check(command)
        session.check("echo 1 > /proc/sys/net/netfilter/nf_conntrack_acct")
        session.check(f"flowtable --offload {' '.join(PORTS)}")
        yield session
        assert complaints(session) == []


def entries(guest) -> list[int]:
    return [statistics(guest, port)["flow_entries"] for port in PORTS]


def by_hardware(guest) -> list[int]:
    """The frames that the hardware has forwarded, by the port that received them."""
    return [statistics(guest, port)["rx_flow_frames"] for port in PORTS]


def begin(guest):
    """Start one flow each way. Afterwards each MAC has it in both directions."""
    offer(guest, 20)
    collect(guest)
    assert entries(guest) == [2, 2]


def forward(guest, frames: int = 50, **choices) -> list[int]:
    """The number of these frames that the hardware forwards, at each port. Checks that none is lost."""
    before = by_hardware(guest)
    offer(guest, frames, **choices)
    assert [port["lost"] for port in collect(guest)] == [0, 0]
    return [now - then for now, then in zip(by_hardware(guest), before, strict=True)]


def test_hardware_forwards(guest):
    """The hardware forwards without interrupts, and Linux' statistics count the frames."""
    begin(guest)
    before = [interrupts(guest, f"{port}-rx") for port in PORTS]
    assert forward(guest, 200) == [200, 200]
    assert [interrupts(guest, f"{port}-rx") for port in PORTS] == before

    guest.check("flowtable --off")
    assert entries(guest) == [0, 0]
    for port in PORTS:
        received, sent = (
            int(guest.check(f"cat /sys/class/net/{port}/statistics/{way}_packets"))
            for way in ("rx", "tx")
        )
        assert received == sent >= 220
    assert forward(guest) == [0, 0]


def connections(guest) -> list[tuple[int, int, int, int]]:
    """conntrack's packets and octets of each connection, in its first direction, then in the other."""
    lines = guest.check("cat /proc/net/nf_conntrack").splitlines()
    return [
        tuple(map(int, re.findall(r"(?:packets|bytes)=(\d+)", line)))
        for line in lines
        if "[HW_OFFLOAD]" in line
    ]


def test_connections_count_frames_of_the_hardware(guest):
    """Connections count all sent packets and octets, forwarded by software or by hardware."""
    # Linux asks once a second, except for flows whose last report is younger than a tenth of this time.
    guest.check("echo 4 > /proc/sys/net/netfilter/nf_flowtable_udp_timeout")
    begin(guest)
    sent = [(20, 512), (200, 512), (150, 64), (100, 1518)]  # the first frames start the flow
    for frames, frame_bytes in sent[1:]:
        offer(guest, frames, frame_bytes, load=50)
        assert [port["lost"] for port in collect(guest)] == [0, 0]
    assert min(by_hardware(guest)) >= 450
    packets = sum(frames for frames, _ in sent)
    octets = sum(frames * (frame_bytes - 18) for frames, frame_bytes in sent)  # without header and FCS
    guest.check("sleep 1.5")
    assert connections(guest) == 2 * [(packets, octets, 0, 0)]


def test_frames_equal_those_of_software(guest, tmp_path):
    """Each octet, including frames among them that the hardware leaves to software."""

    def datagram(octets: bytes = b"octets", **fields) -> Ether:
        fields = {"src": "198.18.0.2", "dst": "198.19.0.2", "ttl": 9} | fields
        return (
            Ether(dst=GUEST.format(0), src=TESTER.format(0))
            / IP(**fields)
            / UDP(sport=7, dport=9)
            / Raw(octets)
        )

    lengths = (0, 1, 18, 19, 100, 1471, 1472)
    frames = [datagram(bytes([n] * n if n < 256 else n), tos=n % 256) for n in lengths]
    frames += [datagram(options=[b"\x01\x01\x01\x00"]), datagram(ttl=1)]
    guest.check("flowtable --off")
    without = replay(guest, tmp_path, frames)
    guest.check(f"flowtable --offload {' '.join(PORTS)}")
    for _ in range(2):
        replay(guest, tmp_path, [datagram()])
    assert entries(guest) == [1, 1]
    before = by_hardware(guest)
    withal = replay(guest, tmp_path, frames)
    assert by_hardware(guest)[0] - before[0] == len(lengths)
    assert sorted(withal[1]) == sorted(without[1]) and len(without[1]) == len(lengths) + 1


def test_forwards_established_connections(guest):
    """Two TCP connections. The hardware forwards all segments between begin and end, both ways, and both
    connections end."""
    octets, count = 500_000, 2
    guest.call(
        "talk",
        direction="through",
        connections=count,
        octets=octets,
        window=65536,
        link_mbps=100,
        quiet_cycles=1_000_000,
        max_cycles=500_000_000,
    )
    report = guest.call("collect")
    assert report["done"]
    assert [
        (each["state"], each["octets"], each["corrupted"]) for each in report["connections"]
    ] == count * [("closed", octets, 0)]
    # At the handover, segments may overtake one that Linux holds. TCP then assumes that it is lost.
    assert sum(port["retransmitted"]["in"] for port in report["ports"]) <= count
    for port, frames in zip(report["ports"], by_hardware(guest), strict=True):
        came = port["segments"]["in"] + port["acks"]["in"]
        assert frames > 0.9 * came
    guest.check("sleep 1.1")  # Linux checks once a second for ended connections
    assert entries(guest) == [0, 0]


ALL = None  # once; Linux offers them again
CHANGES = {
    "a route": ("ip route add 203.0.113.0/24 via 198.19.0.2", ALL),
    "an address": ("ip addr add 203.0.113.1/24 dev eth1", ALL),
    "another neighbour": (f"ip neigh replace 198.19.0.9 lladdr {TESTER.format(9)} dev eth1", [2, 2]),
    "the same neighbour": (
        f"ip neigh replace 198.19.0.2 lladdr {TESTER.format(1)} nud reachable dev eth1",
        [2, 2],
    ),
    "an MTU": ("ip link set eth1 mtu 1400", ALL),
    "a switch": ("ethtool -K eth0 hw-tc-offload off", [0, 2]),
    "an end": ("ip link set eth1 down", [0, 0]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_end_entries(guest, change):
    """Entries end before the command that makes the change returns, while frames arrive."""
    command, left = CHANGES[change]
    begin(guest)
    offer(guest, 400)
    guest.call("run", cycles=2_000_000)
    assert all(by_hardware(guest))
    flushes = [statistics(guest, port)["flow_flushes"] for port in PORTS]
    guest.check(command)
    if left is ALL:
        for port, before in zip(PORTS, flushes, strict=True):
            found = statistics(guest, port)
            assert found["flow_flushes"] > before or found["flow_entries"] == 0
    else:
        assert entries(guest) == left
    collect(guest)
    if left == [2, 2]:
        assert forward(guest) == [50, 50]


def other_table(tmp_path) -> Path:
    """The program `flowtable`, for a table with another name."""
    source = tmp_path / "flowtable.c"
    text = (userspace.HERE / "flowtable/flowtable.c").read_text()
    assert text.count('"fast"') == 1
    source.write_text(text.replace('"fast"', '"other"'))
    return userspace.compiled("flowtable", source, userspace.toolchain())


def bring(guest, program: Path, name: str) -> str:
    """Copy a program into the guest; return its path."""
    guest.call("mailbox", file=str(program), address=guest.mailbox)
    guest.check(f"mailbox > /tmp/{name}; chmod +x /tmp/{name}")
    return f"/tmp/{name}"


def test_flow_table_ends_only_its_own_flows(guest, tmp_path):
    """A table replaces another one in one transaction, or exists next to it. The flows of a remaining
    table stay."""
    other = bring(guest, other_table(tmp_path), "other")
    interfaces = " ".join(PORTS)
    begin(guest)
    guest.check(f"{other} --offload {interfaces}")
    assert entries(guest) == [2, 2]
    guest.check(f"{other} --offload {interfaces}; {other} --off")
    assert entries(guest) == [2, 2]
    assert forward(guest) == [50, 50]

    status, said = guest.type(f"flowtable --offload --masquerade eth1 {interfaces} 2>&1")
    assert status == 1 and "the chain of addresses" in said
    assert forward(guest) == [50, 50]

    guest.check(f"flowtable --offload {interfaces}")
    assert entries(guest) == [0, 0]
    begin(guest)
    assert forward(guest) == [50, 50]


def test_reading_next_hop_statistics_keeps_entries(guest):
    program = userspace.compiled("nexthops", HERE / "nexthops.c", userspace.toolchain())
    nexthops = bring(guest, program, "nexthops")
    guest.check(f"ip nexthop add id 1 via 198.19.0.2 dev eth1; {nexthops} make; sleep 0.1")
    begin(guest)
    flushes = [statistics(guest, port)["flow_flushes"] for port in PORTS]
    guest.check(f"{nexthops} count")
    assert entries(guest) == [2, 2]
    assert [statistics(guest, port)["flow_flushes"] for port in PORTS] == flushes
    guest.check("ip nexthop del id 1")
    for port, before in zip(PORTS, flushes, strict=True):
        assert statistics(guest, port)["flow_flushes"] > before


def test_full_table_leaves_flows_to_software(guest):
    """Software forwards flows that find no room, and loses none of their frames."""
    flows = 400  # each is in each table in both directions
    offer(guest, 4 * flows, frame_bytes=64, load=1, flows=flows)
    assert [port["lost"] for port in collect(guest)] == [0, 0]
    for port in PORTS:
        found = statistics(guest, port)
        assert ENTRIES * 3 // 4 < found["flow_entries"] <= ENTRIES
        assert found["flow_full"] > 0 and found["rx_flow_frames"] > 0


def test_modules_come_and_go(guest):
    """Entries end when the driver is unbound. It finds its peer again, with either MAC bound first."""
    begin(guest)
    unbind, bind = (f"/sys/bus/platform/drivers/moderato/{word}" for word in ("unbind", "bind"))
    guest.check(f"echo f1001000.ethernet > {unbind}")
    assert statistics(guest, "eth0")["flow_entries"] == 0
    guest.check(
        f"echo f1001000.ethernet > {bind}; echo f1000000.ethernet > {unbind}; "
        f"echo f1000000.ethernet > {bind}; /etc/moderato/up static"
    )
    guest.check(f"flowtable --off; flowtable --offload {' '.join(PORTS)}")
    offer(guest, 20)
    collect(guest)
    assert entries(guest) == [2, 2]


def test_rejects_offers_before_neighbour_notifier(tmp_path):
    """Linux changes an address, and then notifies the driver. In between, it offers flows with the new
    address on the other hart. In the end, all flows have the new address."""
    system = System(nic=FLOWS, kernel=kernel.Choice(kernel.XDP), harts=2, spread=PINNED)
    heard = "\tspin_lock_bh(&moderato_offload_lock);\n\twas = moderato_watch_hop(o, ptr);"
    late = ("offload_watch.c", heard, f"\tmdelay(300);\n{heard}")
    with modified.guest(tmp_path, late, system=system) as guest:
        for command in system.commands():
            guest.check(command)
        guest.check(f"flowtable --offload {' '.join(PORTS)}")
        begin(guest)
        guest.check(
            f"ip neigh replace 198.19.0.2 lladdr {TESTER.format(7)} nud permanent dev eth1 & sleep 0.15"
        )
        offer(guest, 600, flows=2)
        guest.check("wait")
        guest.call("collect")
        assert entries(guest) == [4, 4]
        offer(guest, 40, flows=2)
        assert [port["corruption"]["addresses"] for port in guest.call("collect")["ports"]] == [40, 0]
        assert complaints(guest) == []
