# SPDX-License-Identifier: BSD-2-Clause
"""Bus errors, and a DMA that does not stop, in the simulated SoC: recovery, or a clean end."""

import pytest

import modified
from guests import collect, complaints, offer

# The driver never sees the direction idle.
NEVER_IDLE = ("moderato_hw.c", "(status & idle) == idle", "(status & idle) == idle && 0")
ONLY_AT_PROBE = ("moderato_hw.c", "	if (moderato_hw_reset(priv))", "	if (0)")


@pytest.mark.parametrize("command", ["ethtool -G eth0 rx 128", "ethtool -G eth0 tx 128",
                                     "ip link set eth0 down"])
def test_dma_that_does_not_stop(tmp_path, command):
    """What it holds is never freed, no ring is started again, and the rest of the system is well."""
    with modified.guest(tmp_path, NEVER_IDLE, ONLY_AT_PROBE) as guest:
        enabled = int(guest.check("devmem 0xf1000010"), 16) & 3
        assert enabled == 3
        offer(guest, 10, ports=1)
        guest.type(command)
        collect(guest)
        log = guest.check("dmesg")
        assert "DMA does not stop" in log and "out of order" in log
        assert int(guest.check("devmem 0xf1000010"), 16) & 3 == 0
        guest.check("ip link set eth0 down")
        assert guest.type("ip link set eth0 up")[0] != 0
        guest.check("rmmod moderato")
        assert complaints(guest) == []
