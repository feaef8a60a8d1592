# SPDX-License-Identifier: BSD-2-Clause
"""A change of settings has three steps: allocate, configure, swap. Each allocation of each change fails
once, and the state must not change: see the table in linux-driver/README.md.
"""

import pytest
import watched
from guests import collect, offer

from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import OFFLOAD

NAPI, TIMER, TX_NAPI = 1, 4, 8  # of --set-priv-flags
FOUR = "coalesce 0 0 1 0 1 0"  # frames: a number that a ring of four allows
# Allocations of a ring of 4 with its buffers: with NAPI, which has a pool, without NAPI, of a Tx ring.
PER_RX, PER_RX_IRQ, PER_TX, IRQS = 4 + 4, 3 + 4, 3, 2

# And how many allocations there are at least, with one queue or two.
CHANGES = [
    ("each rings 4 8", PER_TX),
    ("each rings 4 4", PER_TX),
    ("each mtu 1400", PER_RX),
    (f"each flags {TX_NAPI}", PER_RX_IRQ),
    (f"each flags {NAPI | TIMER | TX_NAPI}", PER_RX),
]
OF_QUEUES = [
    ("each channels 2", PER_RX + PER_TX + IRQS + 1),
    ("each rings 4 8", 2 * PER_TX),
    ("each mtu 1500", 2 * PER_RX),
    (f"each flags {TX_NAPI}", 2 * PER_RX_IRQ),
    ("0 channels 1", 0),
    ("0 channels 2", 0),
]
UP = [("0 up 0", 0), ("each up 1", PER_RX_IRQ + PER_TX + IRQS + 1)]
FEW = [CHANGES[0], OF_QUEUES[0]]

CASES = [
    pytest.param(System(nic=OFFLOAD), [*FEW, *UP], id="few"),
    pytest.param(System(nic=OFFLOAD), [*CHANGES, *OF_QUEUES, *UP], id="queues", marks=pytest.mark.slow),
    pytest.param(System(harts=2), [*CHANGES, *UP], id="two-harts", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("system, changes", CASES)
def test_each_allocation_fails_once(tmp_path, system, changes):
    """Frames arrive all the time, and a failed change loses none."""
    place = machine(system=system).mailbox
    with watched.guest(tmp_path, system) as guest:
        first = watched.change(guest, [f"0 {FOUR}", "0 rings 8 4", "0 rings 4 4"], tmp_path, place)
        assert [each.error for each in first] == [0, 0, 0]
        offer(guest, 200, load=1)
        outcomes = watched.change(guest, [change for change, _ in changes], tmp_path, place)
        for outcome, (_, least) in zip(outcomes, changes, strict=True):
            assert outcome.error == 0 and not outcome.changed, outcome
            assert outcome.attempts > least, outcome  # the number of failures
        for port in guest.call("collect")["ports"]:
            assert port["corrupted"] == port["duplicated"] == port["left"]["bad_fcs"] == 0
        # Polls with a timer are too rare for a ring of four
        watched.change(guest, [f"each flags {NAPI | TX_NAPI}"], tmp_path, place)
        guest.check("/etc/moderato/up static")  # a port that was down has forgotten its neighbours
        offer(guest, 20)
        assert [port["lost"] for port in collect(guest)] == [0, 0]
        assert watched.judged(guest) == []
        guest.check("ip link set eth0 down; ip link set eth1 down")
        assert watched.judged(guest) == []
