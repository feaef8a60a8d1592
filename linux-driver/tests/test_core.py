# SPDX-License-Identifier: BSD-2-Clause
"""The driver of the series for Linux, in the simulated SoC: it forwards, and has only its own
settings."""

import modified
import pytest
from guests import collect, complaints, interrupts, offer, poll_a_ring_of_8, statistics

from moderato.soc.linux import series

pytestmark = pytest.mark.slow


def rejected(guest, command: str) -> bool:
    return guest.check(f"{command} 2>/dev/null && echo done || echo rejected").split()[-1] == "rejected"


def test_core_forwards(tmp_path):
    """Frames pass while settings and rings change. The driver rejects settings of the lab's module."""
    series.write_sources(tmp_path)
    with modified.loaded(tmp_path / series.PLACE, "CONFIG_MODERATO=m") as guest:
        offer(guest, 20)
        assert [port["lost"] for port in collect(guest)] == [0, 0]
        assert interrupts(guest, "eth0-rx") > 0

        for wrong in (
            "ethtool --set-priv-flags eth0 rx-napi off",
            "ethtool -C eth0 rx-usecs-low 10",
            "ethtool -C eth0 rx-usecs-high 10",
            "ethtool -A eth0 rx on",
            "ethtool -C eth0 adaptive-rx off rx-frames 0 rx-usecs 0",
        ):
            assert rejected(guest, wrong), wrong
        assert "RX:\t\toff" in guest.check("ethtool -a eth0")

        # The count alone raises the interrupt, since no timer does for 50 ms. Nor do sent frames, whose
        # poll would also receive.
        guest.check("ethtool -C eth0 adaptive-rx off rx-frames 10 rx-usecs 50000 tx-usecs 50000")
        before = interrupts(guest, "eth0-rx")
        offer(guest, 20)
        assert [port["lost"] for port in collect(guest)] == [0, 0]
        assert interrupts(guest, "eth0-rx") - before == 2

        guest.check("ethtool -G eth0 rx 64 tx 64; ethtool -C eth1 adaptive-tx on")
        guest.check("coalesce eth0 rx cqe-mode on")
        guest.check("ip link set eth1 mtu 1000; ip link set eth1 mtu 1500")
        offer(guest, 20)
        assert [port["lost"] for port in collect(guest)] == [0, 0]

        names = statistics(guest, "eth0")
        assert "rx_interrupts" in names and "ring_halts" in names
        assert not {"rx_drop_fifo", "rx_drop_ring", "rx_drop_buffer", "rx_alloc_failed"} & set(names)
        guest.check("ip link set eth0 down; ip link set eth1 down; rmmod moderato")
        assert complaints(guest) == []


def test_core_netpoll(tmp_path):
    """A poll with a budget of 0 frees frames and wakes the queue, which is all that netpoll needs."""
    series.write_sources(tmp_path)
    work = tmp_path / series.PLACE
    modified.change(
        work,
        (
            "moderato_tx_poll.c",
            "	if (!moderato_tx_is_polled(tx))\n		return 0;",
            "	if (budget || !moderato_tx_is_polled(tx))\n		return 0;",
        ),
        (
            "moderato_stats.c",
            "	moderato_stats_read(priv, total);\n	stats->rx_dropped",
            "	if (priv->queue[0].tx) {\n		local_irq_disable();\n"
            "		moderato_napi_poll(&priv->queue[0].napi, 0);\n"
            "		local_irq_enable();\n	}\n	moderato_stats_read(priv, total);\n	stats->rx_dropped",
        ),
    )
    with modified.loaded(work, "CONFIG_MODERATO=m") as guest:
        guest.check("ethtool -C eth1 tx-frames 0 tx-usecs 100000; ethtool -G eth1 tx 8")
        poll_a_ring_of_8(guest)
