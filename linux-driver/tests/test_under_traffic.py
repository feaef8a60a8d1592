# SPDX-License-Identifier: BSD-2-Clause
"""The driver in the simulated SoC: settings change while frames arrive, and no frame is corrupted."""

import pytest
from guests import collect, complaints, interrupts, offer

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import KNOWN
from moderato.sim.lab.show.errors import LabError
from moderato.soc.linux.kernel import DEBUG, NORMAL

RX_RING_BASE = "devmem 0xf1000100"  # of eth0


@pytest.fixture(
    params=[pytest.param(NORMAL, id="normal"), pytest.param(DEBUG, marks=pytest.mark.slow, id="debug")]
)
def guest(request):
    """A guest with both interfaces up, static neighbours, and the driver's own settings."""
    with state.loaded(machine(system=System(kernel=request.param)), True).open() as session:
        yield session


@pytest.mark.slow
def test_strategies_change_under_traffic(guest):
    changes = [
        command for variant in KNOWN.values() for command in variant.commands() if "eth0" in command
    ]
    before = guest.call("counters")["ports"][0]["events"]
    offer(guest, 250)
    for command in changes:
        guest.type(command)  # ethtool's status is 80 if a value is set already
    ports = collect(guest)

    for port in ports:
        # A change of the Rx strategy takes a new ring; all other changes cost nothing.
        assert port["lost"] <= 2
        assert port["events"]["rx_completed"] == port["forwarded"]
    events = guest.call("counters")["ports"][0]["events"]
    for direction in ("rx", "tx"):
        raised = events[f"{direction}_interrupt"] - before[f"{direction}_interrupt"]
        assert abs(interrupts(guest, f"eth0-{direction}") - raised) <= len(changes)
    assert complaints(guest) == []


def test_rings_and_mtu_change_under_traffic(guest):
    offer(guest, 100)
    before = guest.check(RX_RING_BASE)
    guest.check("ethtool -G eth0 tx 100")
    assert guest.check(RX_RING_BASE) == before  # a ring whose length stays is not replaced
    guest.check("ethtool -G eth0 rx 500")
    assert guest.check(RX_RING_BASE) != before
    assert guest.check("ethtool -g eth0").count("512") == 1  # rounded up to a power of two
    guest.check("ip link set eth0 mtu 2000")
    guest.check("ethtool --set-priv-flags eth0 rx-napi off")
    guest.check("ip link set eth0 mtu 1500")
    ports = collect(guest)
    assert all(port["lost"] <= 4 for port in ports)
    assert complaints(guest) == []


@pytest.mark.slow
def test_rules_change_under_traffic(guest):
    """The driver takes urgent frames off the ring before their descriptors, while rings and strategies
    change."""
    rule, none = "ethtool -N eth0 flow-type ip4 tos 184", "ethtool -N eth0 delete 0"
    counted = "cat /sys/class/net/eth0/statistics/rx_packets"
    guest.check("ethtool -C eth0 rx-usecs-low 0 rx-usecs-high 10000")  # several in each poll
    before = int(guest.check(counted))
    offer(guest, 200, probe_every=3)
    for command in (
        rule,
        "ethtool -G eth0 rx 64",
        none,
        rule,
        "ip link set eth0 mtu 2000",
        "ethtool --set-priv-flags eth0 rx-napi off",
        "ethtool --set-priv-flags eth0 rx-napi on rx-timer on",
        none,
    ):
        guest.check(command)
    ports = collect(guest)
    assert all(port["lost"] <= 4 for port in ports)
    assert int(guest.check(counted)) == before + ports[0]["events"]["rx_completed"]  # each once
    assert guest.check("cat /sys/class/net/eth0/statistics/rx_errors").strip() == "0"
    assert complaints(guest) == []


def leave_free(guest, mib: int):
    """Leave `mib` MiB free: a file takes the rest. The debug kernel has more memory."""
    spare = int(guest.check("awk '/MemFree/ { print $2 }' /proc/meminfo")) // 1024 - mib
    if spare > 0:
        guest.check(f"dd if=/dev/zero of=/taken bs=16k count={64 * spare}")


def test_failed_ring_allocation_keeps_old_ring(guest):
    """The driver rejects a ring without enough memory, and the current ring keeps running."""
    leave_free(guest, mib=21)
    guest.check("ip link set eth1 mtu 2000; ethtool -G eth1 rx 4096")  # 16 of them
    offer(guest, 20)
    status, said = guest.type("ethtool -G eth0 rx 4096")
    assert status != 0 and "Out of memory" in said
    assert [port["lost"] for port in collect(guest)] == [0, 0]
    guest.check("ethtool -G eth0 rx 128")
    assert complaints(guest) == []


REJECTED = [
    "ethtool -C eth0 tx-frames 0 tx-usecs 0",  # nothing would raise an interrupt
    "ethtool -C eth0 rx-frames 129",  # beyond half of the ring
    "ethtool -N eth0 flow-type udp6 dst-port 7",  # a rule that it cannot compare
    "ethtool -G eth0 rx 8192",  # beyond the hardware
    "ip link set eth0 mtu 4000",  # beyond the FIFOs
]
REJECTED_TOO = [
    "ethtool -C eth0 tx-frames 2 tx-usecs 0",  # nothing would report the last frame
    "ethtool -C eth0 rx-usecs 167773",  # beyond the timers
    "ethtool -C eth0 tx-usecs-irq 10",  # not a parameter of this hardware
    "ethtool -C eth0 rx-usecs-irq 1000001",  # longer than a second
    "ethtool -N eth0 flow-type ip4 tos 0xb8 action 1",  # there is one ring
    "ethtool -G eth0 tx 32",  # shorter than twice tx-frames
]


@pytest.mark.parametrize(
    "rejected",
    [pytest.param(REJECTED, id="some"), pytest.param(REJECTED_TOO, id="others", marks=pytest.mark.slow)],
)
def test_rejects_wrong_settings(guest, rejected):
    shown = "ethtool -c eth0; ethtool -g eth0; ethtool -n eth0; cat /sys/class/net/eth0/mtu"
    before = guest.check(shown)
    for command in rejected:
        status, said = guest.type(command)
        assert status != 0 or "Cannot insert RX class rule" in said  # ethtool 6.1: with status 0
    assert guest.check(shown) == before


def test_down_up_and_rmmod_under_traffic(guest):
    offer(guest, 75)
    guest.check("ip link set eth0 down")
    guest.check("ip link set eth0 up")
    guest.check("ip link set eth1 down; ip link set eth1 up")
    guest.check("rmmod moderato")
    collect(guest)
    assert "eth0" not in guest.check("cat /proc/interrupts /proc/net/dev")
    assert complaints(guest) == []


def test_change_of_strategy_cancels_timer(guest):
    """Tx interrupts occur all the time while the strategy changes from polls with a timer of 0.3 s. The
    module is removed before they end."""
    guest.check(
        "ethtool --set-priv-flags eth0 rx-timer on; ethtool -C eth0 adaptive-rx off "
        "adaptive-tx off tx-frames 1 tx-usecs 0 rx-frames 1 rx-usecs 0 rx-usecs-irq 300000"
    )
    offer(guest, 300, load=4)
    guest.check(
        "ethtool --set-priv-flags eth0 rx-timer off; ip link set eth0 down; "
        "ip link set eth1 down; rmmod moderato"
    )
    collect(guest)
    guest.check("sleep 0.35")
    assert complaints(guest) == []


def test_no_dma_after_shutdown(guest):
    """After a shutdown, the MAC must not write into the memory of the next kernel."""
    guest.call("send", text="poweroff -f\n")
    with pytest.raises(LabError, match="the guest powered off"):
        guest.call("run", cycles=500_000_000)
    before = guest.call("counters")["ports"]
    offer(guest, 10, load=50)
    collect(guest)
    for old, new in zip(before, guest.call("counters")["ports"]):
        assert new["events"]["rx_completed"] == old["events"]["rx_completed"]
