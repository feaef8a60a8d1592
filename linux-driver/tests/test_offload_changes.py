# SPDX-License-Identifier: BSD-2-Clause
"""After a change of routing, frames of a flow in hardware leave as without a flow table."""

import pytest
from guests import complaints, replay
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import FLOWS
from moderato.soc.linux import kernel

GUEST, TESTER = "02:4d:6f:64:00:0{}", "02:54:73:74:00:0{}"
UP = "/etc/moderato/up static"
HOST = "ip neigh replace 198.19.0.2 lladdr {} nud permanent dev eth1"
GATEWAY = f"ip neigh replace 198.19.0.9 lladdr {TESTER.format(9)} nud permanent dev eth1"
# No notifier reports these. The driver detects them within half a second.
SWITCHES = {
    "routing off": ("echo 0 > /proc/sys/net/ipv4/ip_forward", "echo 1 > /proc/sys/net/ipv4/ip_forward"),
    "a port's routing off": (
        "echo 0 > /proc/sys/net/ipv4/conf/eth0/forwarding",
        "echo 1 > /proc/sys/net/ipv4/conf/eth0/forwarding",
    ),
    "cached routes void": ("echo 1 > /proc/sys/net/ipv4/route/flush", "true"),
}
EVENTS = SWITCHES | {
    "a neighbour moves": (HOST.format(TESTER.format(7)), HOST.format(TESTER.format(1))),
    "a neighbour is gone": ("ip neigh del 198.19.0.2 dev eth1", UP),
    "a route by a gateway": (
        f"{GATEWAY}; ip route add 198.19.0.2 via 198.19.0.9",
        "ip route del 198.19.0.2",
    ),
    "a route to nowhere": ("ip route add blackhole 198.19.0.2", "ip route del blackhole 198.19.0.2"),
    "a port without address": ("ip addr del 198.19.0.1/24 dev eth1", UP),
    "a port's MAC address": (
        "ip link set eth1 address 02:4d:6f:64:00:07",
        f"ip link set eth1 address {GUEST.format(1)}; {UP}",
    ),
    "a port's MTU": ("ip link set eth1 mtu 600", "ip link set eth1 mtu 1500"),
    "a port is down": ("ip link set eth1 down", UP),
}
SAME = "cached routes void", "a neighbour is gone"  # which is asked for its address
FAST = "a neighbour moves"
FRAMES = [
    Ether(dst=GUEST.format(0), src=TESTER.format(0))
    / IP(src="198.18.0.2", dst="198.19.0.2")
    / UDP(sport=7, dport=9)
    / Raw(bytes(size))
    for size in (100, 1000)
]


@pytest.fixture(scope="module")
def guest():
    with state.loaded(
        machine(system=System(nic=FLOWS, kernel=kernel.Choice(kernel.XDP))), True
    ).open() as session:
        yield session
        assert complaints(session) == []


def left(guest, tmp_path) -> list[bytes]:
    """The frames that leave eth1 for its host after FRAMES arrive at eth0."""
    at = replay(guest, tmp_path, FRAMES, quiet_cycles=500_000)[1]
    return sorted(frame for frame in at if frame[30:34] == bytes([198, 19, 0, 2]))


def entries(guest) -> list[int]:
    said = guest.check("for port in eth0 eth1; do ethtool -S $port | grep flow_entries; done")
    return [int(line.split()[-1]) for line in said.splitlines()]


@pytest.mark.parametrize(
    "event", [pytest.param(event, marks=[] if event == FAST else pytest.mark.slow) for event in EVENTS]
)
def test_frames_follow_changes_of_routing(guest, tmp_path, event):
    """Neither software nor hardware sends a frame by the old path. If the flow still leaves by the other
    port, the hardware has it again, with its new addresses."""
    change, undo = EVENTS[event]
    wait = 0.6 if event in SWITCHES else 0.03
    plain = left(guest, tmp_path)
    assert len(plain) == len(FRAMES)
    guest.check(change)
    expected = left(guest, tmp_path)
    assert expected != plain or event in SAME
    guest.check(f"{undo}; flowtable --offload eth0 eth1")
    for _ in range(3):
        assert left(guest, tmp_path) == plain
    assert entries(guest) == [1, 1]
    guest.check(f"{change}; sleep {wait}")
    for _ in range(2):
        assert left(guest, tmp_path) == expected
    assert entries(guest) == ([1, 1] if expected else [0, 0])
    guest.check(f"flowtable --off; {undo}")
