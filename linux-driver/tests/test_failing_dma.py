# SPDX-License-Identifier: BSD-2-Clause
"""Bus errors, and a DMA that does not stop, in the simulated SoC: recovery, or a clean end."""

import modified
from guests import collect, complaints, offer

# Registers of port 0, and how far those of port 1 are from them.
CTRL, ENABLES = 0xF1000010, 3
PORT = 0x1000

# The driver never sees the direction idle.
NEVER_IDLE = ("moderato_hw.c", "(status & idle) == idle", "(status & idle) == idle && 0")
ONLY_AT_PROBE = ("moderato_hw.c", "	if (moderato_hw_reset(priv))", "	if (0)")


def test_dma_that_does_not_stop(tmp_path):
    """What it holds is never freed, no ring is started again, and the rest of the system is well."""
    with modified.guest(tmp_path, NEVER_IDLE, ONLY_AT_PROBE) as guest:
        offer(guest, 10)
        guest.type("ethtool -G eth0 rx 128")
        guest.type("ethtool -G eth1 tx 128")
        collect(guest)
        for port in (0, 1):
            assert int(guest.check(f"devmem {CTRL + port * PORT:#x}"), 16) & ENABLES == 0
            guest.check(f"ip link set eth{port} down")
            assert guest.type(f"ip link set eth{port} up")[0] != 0
        log = guest.check("dmesg")
        assert log.count("DMA does not stop") == 4
        assert log.count("out of order") == 2
        guest.check("rmmod moderato")
        assert complaints(guest) == []
