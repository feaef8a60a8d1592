# SPDX-License-Identifier: BSD-2-Clause
"""XDP on two harts: both redirect frames of one port to the other port, and the counters are correct."""

import pytest
from guests import complaints, statistics

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import PINNED, QUEUES, System
from moderato.sim.lab.run.variants import ALL, OFFLOAD
from moderato.soc.linux import kernel

pytestmark = pytest.mark.slow

KERNEL = kernel.Choice(kernel.XDP)
SYSTEMS = {
    "a port for each": System(kernel=KERNEL, harts=2, spread=PINNED),
    "two queues": System(nic=OFFLOAD, kernel=KERNEL, harts=2, spread=QUEUES),
    "two queues into one": System(nic=OFFLOAD, kernel=KERNEL, harts=2, spread=QUEUES),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_counts_all_sent_frames(name):
    """A low load, so that both harts often send at the same time, and then an overload."""
    system = SYSTEMS[name]
    *base, forward = ALL["xdp"].commands()
    with state.loaded(machine(system=system), True).open() as guest:
        for command in [*system.commands(), *base]:
            guest.check(command)
        if system.nic == OFFLOAD:
            guest.check("ethtool -K eth0 rx-gro-hw off; ethtool -K eth1 rx-gro-hw off")
        if name == "two queues into one":
            guest.check("ethtool -L eth1 combined 1")
        guest.check(forward)
        before, total = work(guest), 0
        for load, frames in ((20, 3000), (100, 2000)):
            port = {"frame_bytes": 64, "load_percent": load, "frames": frames, "streams": 16}
            guest.call("offer", ports=[port] * (2 if system.spread == PINNED else 1))
            first = guest.call("collect")["ports"][0]
            assert (first["corrupted"], first["reordered"], first["duplicated"]) == (0, 0, 0)
            total += first["forwarded"]
            here, there = (statistics(guest, port) for port in ("eth0", "eth1"))
            assert here["rx_xdp_redirect"] == there["tx_xdp_xmit"] + there["tx_xdp_xmit_errors"]
            assert there["tx_xdp_xmit"] == total
            assert first["lost"] == 0 or load == 100
        assert min(now - then for now, then in zip(work(guest), before, strict=True)) > 100
        guest.check("xdp off eth0 eth1")
        assert complaints(guest) == []


def test_redirects_survive_ring_change():
    """Frames redirected by another hart while the ring is replaced: each leaves, or counts as
    dropped."""
    system = SYSTEMS["a port for each"]
    *base, forward = ALL["xdp"].commands()
    with state.loaded(machine(system=system), True).open() as guest:
        for command in [*system.commands(), *base, forward]:
            guest.check(command)
        port = {"frame_bytes": 64, "load_percent": 40, "frames": 20_000}
        guest.call("offer", ports=[port])
        # On the hart that does not send
        guest.check(f"pin 2 $$; for size in {10 * '128 256 '}; do ethtool -G eth1 tx $size; done")
        first = guest.call("collect")["ports"][0]
        assert (first["corrupted"], first["reordered"], first["duplicated"]) == (0, 0, 0)
        dropped = int(guest.check("cat /sys/class/net/eth1/statistics/tx_dropped"))
        assert statistics(guest, "eth1")["tx_xdp_xmit"] == first["forwarded"] + dropped
        assert complaints(guest) == []


def work(guest) -> list[int]:
    """Interrupts for received frames at each hart."""
    lines = guest.check("grep -e eth0-r -e eth1-r /proc/interrupts").splitlines()
    return [sum(int(line.split()[1 + hart]) for line in lines) for hart in (0, 1)]
