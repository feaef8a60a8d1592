# SPDX-License-Identifier: BSD-2-Clause
"""Paths that the lab's default machine does not take: smaller hardware, netpoll, suspend, a full
ring."""

import modified
import pytest
from guests import collect, complaints, offer, poll_a_ring_of_8, statistics

from moderato.sim.lab.run.system import PINNED, System
from moderato.sim.lab.run.variants import OFFLOAD

pytestmark = pytest.mark.slow


def test_defaults_fit_small_hardware(tmp_path):
    """With FIFOs of 2 KiB, rings of 16 descriptors, timers of 12 bits and RGMII, no default exceeds a
    limit."""
    changes = [
        (
            "moderato_hw.c",
            "capability = readl(priv->regs + MODERATO_CAPABILITY);\n	priv->max_order",
            "capability = 4 | 12 << 8 | 11 << 16 | 11 << 20;\n	priv->max_order",
        ),
        (
            "moderato_link.c",
            "mode = device_get_phy_mode(priv->dev);",
            "mode = PHY_INTERFACE_MODE_RGMII_ID;",
        ),
    ]
    with modified.guest(tmp_path, *changes) as guest:
        assert guest.check("cat /sys/class/net/eth0/mtu") == "1002\n"
        assert guest.check("ethtool -g eth0").split().count("16") == 4
        coalesce = guest.check("ethtool -c eth0")
        assert "tx-frames: 8\n" in coalesce and "tx-usecs: 40\n" in coalesce
        assert "Adaptive RX: off" in coalesce
        # RGMII does not support the device tree's fixed link of 100 Mb/s here.
        modes = guest.check("ethtool eth0")
        assert "10baseT" not in modes and "100baseT" not in modes
        offer(guest, 20)
        assert [port["lost"] for port in collect(guest)] == [0, 0]
        assert complaints(guest) == []


def test_probe_waits_for_interrupt_controller(tmp_path):
    """The interrupt controller is probed after the MAC. The kernel probes the MAC again, and then it has
    both queues."""
    change = (
        "moderato_channels.c",
        "	irqs = platform_irq_count(pdev);",
        "	static int asked;\n\n	irqs = asked++ ? platform_irq_count(pdev) : -EPROBE_DEFER;",
    )
    system = System(harts=2, nic=OFFLOAD)
    with modified.guest(tmp_path, change, system=system) as guest:
        for interface in ("eth0", "eth1"):
            assert "Combined:\t2" in guest.check(f"ethtool -l {interface}")
        assert complaints(guest) == []


def test_full_ring_loses_nothing(tmp_path):
    """Without the early stop, transmissions find the ring full. No frame is lost or remains on it."""
    change = (
        "moderato_tx.h",
        "netif_txq_maybe_stop(tx->txq, moderato_tx_space(tx), tx->reserve,",
        "if (moderato_tx_space(tx) || tx->full++ % 2) netif_txq_maybe_stop(tx->txq,"
        " moderato_tx_space(tx), tx->reserve,",
    )
    field = ("moderato_tx.h", "	bool draining;", "	bool draining;\n	u8 full;")
    with modified.guest(tmp_path, change, field) as guest:
        guest.check("ethtool -C eth1 tx-frames 1 tx-usecs 0; ethtool -G eth1 tx 4")
        guest.check("ethtool --set-priv-flags eth1 tx-reclaim-on-xmit on")
        # Many at once: the wire takes 123 us for each, the CPU half of that.
        guest.check("ethtool -C eth0 adaptive-rx off rx-frames 0 rx-usecs 5000")
        offer(guest, 60, frame_bytes=1518, load=60)
        assert [port["lost"] for port in collect(guest)] == [0, 0]
        assert "Tx ring full" in guest.check("dmesg")
        assert complaints(guest) == []


def test_netpoll(tmp_path):
    """Without any interrupt, netpoll's call frees frames and wakes the queue."""
    changes = [
        (
            "moderato_tx.c",
            "	enable_irq(tx->queue->tx_irq);\n	moderato_rearm(",
            "	moderato_rearm(",
        ),
        (
            "moderato_stats.c",
            "	moderato_stats_read(priv, total);\n	stats->rx_dropped",
            "	if (priv->queue[0].tx) {\n		local_irq_disable();\n"
            "		moderato_poll_controller(ndev);\n		local_irq_enable();\n	}\n"
            "	moderato_stats_read(priv, total);\n	stats->rx_dropped",
        ),
    ]
    changes += [("moderato_stats.c", '#include "moderato_priv.h"', '#include "moderato_variants.h"')]
    with modified.guest(tmp_path, *changes) as guest:
        guest.check("ethtool --set-priv-flags eth1 tx-napi off")
        guest.check("ethtool -C eth1 tx-frames 4 tx-usecs 100000; ethtool -G eth1 tx 8")
        poll_a_ring_of_8(guest)


def test_suspend_and_resume(tmp_path):
    """Suspend and resume of a MAC that loses its registers. The settings are restored, and no event
    counts twice."""
    changes = [
        ("moderato_main.c", "static int moderato_sleep(", "int moderato_sleep("),
        ("moderato_main.c", "static int moderato_wake(", "int moderato_wake("),
        (
            "moderato_ethtool.c",
            "	return phylink_ethtool_nway_reset(priv->phylink);",
            "	int moderato_sleep(struct moderato_priv *), moderato_wake(struct moderato_priv *);"
            "\n	int err = moderato_sleep(priv);\n"
            "	writel(0, priv->regs + MODERATO_MAC_LOW);\n"
            "	writel(0, priv->regs + MODERATO_MAX_FRAME);\n"
            "	writel(0, priv->regs + MODERATO_RX_BASE);\n"
            "	return err ?: moderato_wake(priv);",
        ),
    ]
    with modified.guest(tmp_path, *changes) as guest:
        offer(guest, 20)
        guest.check("ethtool -r eth0")
        assert sum(port["lost"] for port in collect(guest)) <= 8
        offer(guest, 20)
        assert [port["lost"] for port in collect(guest)] == [0, 0]
        guest.check("ip link set eth1 down; ethtool -r eth1; ip link set eth1 up")
        guest.check("ip link set eth0 down; rmmod moderato")
        assert complaints(guest) == []


def test_interrupt_extends_counters(tmp_path):
    """The interrupt also extends counters, which wrap every 64 events here, not only a work item."""
    changes = [
        ("moderato_stats.c", "(u32)(now - stats->last[i])", "(now - stats->last[i]) & 63"),
        ("moderato_rx.c", "rx->ring.consumer < done->taken", "(rx->ring.consumer & 15) < done->taken"),
    ]
    with modified.guest(tmp_path, *changes) as guest:
        guest.check("ethtool --set-priv-flags eth0 rx-napi off")
        guest.type("ethtool -C eth0 rx-frames 1 rx-usecs 0")
        offer(guest, 200, load=80)
        collect(guest)
        raised = guest.call("counters")["ports"][0]["events"]["rx_interrupt"]
        assert raised >= 200
        assert statistics(guest, "eth0")["rx_interrupts"] == raised


def test_ring_outlives_poll_that_rearms_it(tmp_path):
    """Hart 0 replaces the ring after a poll of hart 1 has completed, and before it re-arms."""
    changes = [
        (
            "rx_napi.c",
            "	if (work < budget && napi_complete_done(napi, work))\n"
            "		moderato_napi_end(rx, tx, work, freed);",
            "	if (work < budget && napi_complete_done(napi, work)) {\n"
            "		if (raw_smp_processor_id())\n			mdelay(50);\n"
            "		WARN_ON(rx == READ_ONCE(moderato_freed));\n"
            "		moderato_napi_end(rx, tx, work, freed);\n	}",
        ),
        ("moderato_rx.c", "	kfree(rx);\n", "	WRITE_ONCE(moderato_freed, rx);\n	kfree(rx);\n"),
        (
            "moderato_rx.c",
            "void moderato_rx_destroy(",
            "void *moderato_freed;\n\nvoid moderato_rx_destroy(",
        ),
        (
            "moderato_rx.h",
            "struct moderato_rx_ops {",
            "extern void *moderato_freed;\n\nstruct moderato_rx_ops {",
        ),
    ]
    system = System(harts=2, spread=PINNED)
    with modified.guest(tmp_path, *changes, system=system) as guest:
        for command in system.commands():
            guest.type(command)
        guest.check("pin 1 $$")
        offer(guest, 200)
        guest.check("ethtool -G eth1 rx 64")
        collect(guest)
        assert complaints(guest) == []
