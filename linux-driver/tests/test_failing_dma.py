# SPDX-License-Identifier: BSD-2-Clause
"""Bus errors, and a DMA that does not stop, in the simulated SoC: recovery, or a clean end."""

import modified
import pytest
from guests import collect, complaints, offer, statistics

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine

# Registers of port 0, and the offset of port 1's.
CTRL, ENABLES = 0xF1000010, 3
RX_RING_BASE, TX_RING_BASE = 0xF1000100, 0xF1000200
PORT = 0x1000

# An address without memory: the cluster's DMA port answers DECERR.
NOWHERE = 0x10000000

# A ring that halts

RESET_INTERVAL = 10_000_000  # cycles: the driver's tenth of a second

RX = {"NAPI": "rx-napi on", "interrupt per frame": "rx-napi off", "NAPI with a timer": "rx-timer on"}
FLAGS = "ethtool --set-priv-flags eth1"
TX = {
    "interrupt": f"{FLAGS} tx-napi off; ethtool -C eth1 tx-frames 1 tx-usecs 0",
    "count": f"{FLAGS} tx-napi off; ethtool -C eth1 tx-frames 8 tx-usecs 500",
    "none": f"{FLAGS} tx-reclaim-on-xmit on",
    "polled": "ethtool -C eth1 tx-frames 1 tx-usecs 0",
}


def each(named: dict):
    """The first one is in the fast set, the others are slow."""
    return [
        pytest.param(value, id=name, marks=pytest.mark.slow if number else ())
        for number, (name, value) in enumerate(named.items())
    ]


@pytest.fixture
def guest():
    with state.loaded(machine(), True).open() as session:
        yield session


def free_kbytes(guest) -> int:
    return int(guest.check("awk '/MemFree/{print $2}' /proc/meminfo"))


def halt_and_recover(guest, base: int, interface: str, direction: str, least: int = 1):
    """Point the ring at no memory. The driver's reset restores it, at once or a tenth of a second after
    the previous reset."""
    free = []
    for rounds, kept in ((1, 5), (2, 0)):
        guest.check(f"devmem {base:#x} 32 {NOWHERE:#x}")
        offer(guest, 20, load=5)
        assert all(port["forwarded"] >= kept for port in collect(guest))
        guest.call("run", cycles=RESET_INTERVAL)
        offer(guest, 20, load=5)
        assert [port["lost"] for port in collect(guest)] == [0, 0]
        counted = statistics(guest, interface)
        assert counted["ring_halts"] == rounds
        # One interrupt for earlier completions, one for the halt, then the reset. None if a poll for
        # received frames sees the halt.
        assert least * rounds <= counted[f"{direction}_interrupts_halted"] <= 2 * rounds
        assert counted["dma_errors"] >= rounds
        free.append(free_kbytes(guest))
    assert free[0] - free[1] < 400  # a ring's buffers are 512 KiB
    assert guest.check("dmesg").count("ring halted by a bus error") == 2
    assert complaints(guest) == []


@pytest.mark.parametrize("flag", each(RX))
def test_halted_rx(guest, flag):
    guest.check(f"ethtool --set-priv-flags eth0 {flag}")
    halt_and_recover(guest, RX_RING_BASE, "eth0", "rx")


@pytest.mark.parametrize("command", each(TX))
def test_halted_tx(guest, command):
    guest.check(command)
    halt_and_recover(guest, TX_RING_BASE + PORT, "eth1", "tx", 0 if command == TX["polled"] else 1)


@pytest.mark.slow
def test_limits_resets_of_halting_ring(tmp_path):
    """Ten resets a second at most, each with an interrupt or two, and the guest keeps working."""
    change = (
        "moderato_hw.c",
        "	moderato_hw_ctrl(priv, 0, ring->dir->enable);",
        "	if (ring->dir == moderato_rx_directions)\n"
        f"		writel({NOWHERE:#x}, ring->regs + MODERATO_DIR_RING_BASE);\n"
        "	moderato_hw_ctrl(priv, 0, ring->dir->enable);",
    )
    with modified.guest(tmp_path, change) as guest:
        guest.call("run", cycles=20_000_000)
        counted = statistics(guest, "eth0")
        halts, interrupts = counted["ring_halts"], counted["rx_interrupts"]
        seconds = guest.call("counters")["cycle"] / 100e6
        assert 2 <= halts <= 10 * seconds + 1
        assert interrupts <= 2 * halts + 2
        guest.check("ip link set eth0 down; ip link set eth1 down; rmmod moderato")
        assert complaints(guest) == []


# A DMA that does not stop

# The driver never sees the direction idle.
NEVER_IDLE = ("moderato_hw.c", "(status & idle) == idle", "(status & idle) == idle && 0")
ONLY_AT_PROBE = ("moderato_hw.c", "	if (moderato_hw_reset(priv))", "	if (0)")


@pytest.mark.slow
def test_dma_that_does_not_stop(tmp_path):
    """The driver never frees the ring's memory, starts no ring again, and the rest of the system keeps
    working."""
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
