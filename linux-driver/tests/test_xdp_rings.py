# SPDX-License-Identifier: BSD-2-Clause
"""XDP's rings without memory for new rings when the last program is detached, and without interrupts for
sent frames.
"""

import pytest
import watched
from guests import collect, offer, statistics
from test_xdp import KERNEL, bring
from test_xsk import begin, end, put

from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System

SYSTEM = System(kernel=KERNEL)
FAIL = f"{watched.PARAMETERS}/fail"
# Rings of four, with a moderation that they allow.
SHORT = [
    f"ethtool -C {port} adaptive-rx off rx-frames 1 rx-usecs 0 tx-frames 1 tx-usecs 0; "
    f"ethtool -G {port} rx 4 tx 4"
    for port in ("eth0", "eth1")
]
LEAST = 11  # allocations of a ring for each direction, with four buffers
XDP_FRAMES, MESSAGES = 30, 600


@pytest.fixture
def guest(tmp_path):
    with watched.guest(tmp_path, SYSTEM) as session:
        session.mailbox = machine(system=SYSTEM).mailbox
        yield session


def forwards(guest):
    """Check that the stack forwards all frames."""
    offer(guest, 20)
    assert [port["lost"] for port in collect(guest)] == [0, 0]


@pytest.mark.slow
def test_detach_succeeds_without_memory(guest):
    """Detaching succeeds if any allocation fails, because a bpf_link cannot report an error. Afterwards
    no frame reaches the program or a socket's memory. The next change that needs rings makes new
    ones."""
    guest.check(SHORT[0])
    said = guest.check(
        f"n=0; left=0; while [ $left = 0 ]; do n=$((n + 1)); xdp drop eth0 || break; echo $n > {FAIL}; "
        f"xdp off eth0 || break; left=$(cat {FAIL}); echo 0 > {FAIL}; done; echo $n $left"
    )
    failed, left = map(int, said.split())
    assert failed > LEAST and left > 0

    guest.check(f"xdp drop eth0; echo {LEAST} > {FAIL}; xdp off eth0; echo 0 > {FAIL}")
    assert guest.type("ethtool --set-priv-flags eth0 rx-napi off")[0] != 0
    forwards(guest)

    guest.check("ethtool -G eth0 rx 256 tx 256")
    put(guest, guest.mailbox)
    guest.check(f"xdp {bring(guest, 'sockets')} eth0")
    begin(guest, "zero echo eth0 100")
    guest.check(f"echo 1 > {FAIL}; xdp off eth0; echo 0 > {FAIL}")
    forwards(guest)
    said = end(guest)
    assert said["received"] == said["posted"] == "0"
    guest.check("ethtool -G eth0 rx 128; ethtool --set-priv-flags eth0 rx-napi off")
    forwards(guest)
    assert watched.judged(guest) == []
    guest.check("ip link set eth0 down; ip link set eth1 down; rmmod moderato")
    assert watched.complaints(guest) == []


def test_netpoll_takes_xdp_frames(guest):
    """Netpoll sends more messages than the ring holds, as in a panic. XDP frames already on the ring
    leave it, and a later poll frees their memory."""
    guest.check("ethtool -C eth1 adaptive-tx off tx-frames 100 tx-usecs 100000")
    guest.check("ip neigh | xdp forward eth0 eth1")
    port = {"frame_bytes": 64, "load_percent": 50, "frames": XDP_FRAMES}
    guest.call("offer", ports=[port])
    guest.check(f"echo {MESSAGES} > {watched.PARAMETERS}/panic")
    assert statistics(guest, "eth1")["tx_xdp_xmit"] == XDP_FRAMES
    first = guest.call("collect")["ports"][0]
    assert (first["corrupted"], first["duplicated"], first["left"]["bad_fcs"]) == (0, 0, 0)
    forwards(guest)
    assert watched.judged(guest) == []
    guest.check("xdp off eth0 eth1; ip link set eth0 down; ip link set eth1 down; rmmod moderato")
    assert watched.complaints(guest) == []
