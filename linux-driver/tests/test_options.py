# SPDX-License-Identifier: BSD-2-Clause
"""Options of the MAC that the lab's default machine lacks: addresses, pause, jumbo frames, RMON."""

import re
from pathlib import Path

import modified
import pytest
from guests import collect, complaints, offer
from netlink_answers import answer, attributes, install_groups, number

from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import OFFLOAD

HERE = Path(__file__).parent
MACHINE = {"system": System(nic=OFFLOAD)}
BASE = 0xF1000000  # registers of eth0
UNICAST = 4  # addresses of the simulated MACs
RX, TX = 1, 2  # bits of PAUSE
GROUPS = {1: "eth-mac", 2: "eth-ctrl", 3: "rmon"}

pytestmark = pytest.mark.slow


def register(guest, offset: int) -> int:
    return int(guest.check(f"devmem {BASE + offset:#x}"), 16)


# Output that ethtool's netlink half would have ---------------------------------------------------


def pause_frames(guest, interface: str) -> tuple[int, int]:
    """Sent and received pause frames, as `ethtool -I -a` shows them."""
    (stats,) = [payload for kind, payload in answer(guest, interface, "pause") if kind == 5]
    shown = {kind: number(payload) for kind, payload in attributes(stats)}
    return shown[2], shown[3]


def groups(guest, interface: str) -> dict:
    """The statistics of `ethtool -S --all-groups`: counters by group and number in uapi's enums,
    histograms by range."""
    found = {}
    for kind, payload in answer(guest, interface, "stats"):
        if kind != 4:
            continue
        inside = attributes(payload)
        name = GROUPS[number(dict(inside)[2])]
        found[name] = {}
        for kind, payload in inside:
            if kind not in (4, 5, 6):
                continue
            nested = [(which, number(value)) for which, value in attributes(payload) if value]
            if kind == 4:
                ((which, value),) = nested
                found[name][which] = value
            else:
                low, high, value = (value for _, value in nested)
                found[name]["rx" if kind == 5 else "tx", low, high] = value
    return found


# Tests --------------------------------------------------------------------------------------------


def test_addresses(tmp_path):
    """The hardware has each of the interface's addresses. One too many makes the interface
    promiscuous."""
    change = (
        "moderato_ethtool.c",
        "	return phylink_ethtool_nway_reset(priv->phylink);",
        "	static u8 count;\n	u8 more[ETH_ALEN];\n\n	ether_addr_copy(more, ndev->dev_addr);\n"
        "	more[5] = 0x10 + ++count % 16;\n"
        f"	if (count == {UNICAST + 2})\n		dev_uc_flush(ndev);\n"
        "	return dev_uc_add(ndev, more);",
    )
    with modified.guest(tmp_path, change, **MACHINE) as guest:
        station = register(guest, 0x18), register(guest, 0x1C)
        for count in range(1, UNICAST + 3):
            guest.check("ethtool -r eth0")
            held = UNICAST if count == UNICAST + 1 else 1 if count == UNICAST + 2 else count
            assert bool(register(guest, 0x10) & 4) == (count == UNICAST + 1)
            for n in range(UNICAST):
                low, high = register(guest, 0x60 + 8 * n), register(guest, 0x64 + 8 * n)
                assert bool(high >> 16) == (n < held), n
                if n < held:
                    last = 0x10 + (count if held == 1 else n + 1)
                    assert (low, high & 0xFFFF) == (station[0], station[1] & 0xFF | last << 8)
        offer(guest, 20)
        assert [port["lost"] for port in collect(guest)] == [0, 0]
        assert complaints(guest) == []


def test_pause(tmp_path):
    """With both directions on: marks, quanta and sent pause frames. Without a link, there are none."""
    change = (
        "moderato_link.c",
        "moderato_hw_set_pause(priv, speed, tx_pause, rx_pause);",
        "moderato_hw_set_pause(priv, speed, true, true);",
    )
    with modified.guest(tmp_path, change, **MACHINE) as guest:
        install_groups(guest, tmp_path)
        assert register(guest, 0xA0) == RX | TX
        assert register(guest, 0xA4) == 512  # clocks of 512 bit times at 100 Mb/s and 100 MHz
        assert register(guest, 0xB0) == 128 << 16 | 64
        guest.check("ethtool -G eth0 rx 16")
        assert register(guest, 0xB0) == 0
        guest.check("ethtool -G eth0 rx 64")
        assert register(guest, 0xB0) == 32 << 16 | 16
        before = pause_frames(guest, "eth0")
        offer(guest, 2000, frame_bytes=64, load=100)
        dropped = collect(guest)[0]["events"]["rx_drop_ring"]
        sent, received = pause_frames(guest, "eth0")
        assert sent > before[0] + 1 and received == 0
        assert groups(guest, "eth0")["eth-ctrl"] == {0: sent, 1: 0, 2: 0}
        assert dropped > 0  # the tester does not obey
        guest.check("ip link set eth0 down")
        assert register(guest, 0xA0) == 0
        assert complaints(guest) == []


def test_pause_is_off_unless_agreed(tmp_path):
    """A fixed link without `pause` in the device tree has no pause, and phylink rejects a change."""
    with modified.guest(tmp_path, **MACHINE) as guest:
        assert register(guest, 0xA0) == 0
        shown = guest.check("ethtool -a eth0")
        assert re.findall(r"(RX|TX):\s+(\w+)", shown) == [("RX", "off"), ("TX", "off")]
        assert guest.type("ethtool -A eth0 rx on tx on")[0] != 0
        assert complaints(guest) == []


def test_jumbo(tmp_path):
    """Frames of 9014 octets pass both ways, also while the MTU changes. Shorter frames still pass."""
    with modified.guest(tmp_path, **MACHINE) as guest:
        assert guest.type("ip link set eth0 mtu 9001")[0] != 0
        for mtu in (9000, 1500, 4000, 9000):
            guest.check(f"ip link set eth0 mtu {mtu}")
            assert register(guest, 0x28) == mtu + 22
            said = guest.check(f"ping -c 3 -s {mtu - 28} 198.18.0.2")
            assert "3 packets received" in said, said
        guest.check("ethtool --set-priv-flags eth0 rx-napi off")
        assert "3 packets received" in guest.check("ping -c 3 -s 8972 198.18.0.2")
        guest.check("ethtool --set-priv-flags eth0 rx-napi on")
        offer(guest, 60)
        guest.check("ip link set eth0 mtu 3000")
        guest.check("ip link set eth0 mtu 9000")
        assert all(port["lost"] <= 8 for port in collect(guest))
        guest.check("ip link set eth0 mtu 1500")
        offer(guest, 20, frame_bytes=1518)
        assert [port["lost"] for port in collect(guest)] == [0, 0]
        assert complaints(guest) == []


def test_groups(tmp_path):
    """The standard groups count the tester's sent and received frames, although counters wrap every 64
    frames."""
    changes = [
        (
            "moderato_stats.c",
            "(u32)(now - stats->last[i])",
            "(now - stats->last[i]) & (i < MODERATO_RX_LENGTHS ? ~0 : 63)",
        ),
        (
            "moderato_stats.c",
            "#define MODERATO_STATS_PERIOD	(10 * HZ)",
            "#define MODERATO_STATS_PERIOD	1",
        ),
    ]
    with modified.guest(tmp_path, *changes, **MACHINE) as guest:
        install_groups(guest, tmp_path)
        before = groups(guest, "eth0")
        sizes = {64: (64, 64), 100: (65, 127), 1518: (1024, 1518)}
        for octets in sizes:
            # 64 of the shortest frames take 86 ms, and the driver reads the counters more often.
            offer(guest, 200, frame_bytes=octets, load=2 if octets == 1518 else 0.5)
            assert [port["lost"] for port in collect(guest)] == [0, 0]
        after = groups(guest, "eth0")
        rmon = {name: after["rmon"][name] - before["rmon"][name] for name in after["rmon"]}
        for low, high in sizes.values():
            assert rmon["rx", low, high] >= 200 and rmon["tx", low, high] >= 200
        assert sum(rmon.values()) <= 6 * 200 + 8  # and a few of the kernel's own
        assert ("rx", 1519, 16383) in rmon
        assert set(after["eth-mac"]) >= {0, 3, 4, 14, 15, 17, 18}  # with multicasts and broadcasts
        assert after["eth-mac"][3] - before["eth-mac"][3] >= 600
        assert complaints(guest) == []
