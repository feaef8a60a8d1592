# SPDX-License-Identifier: BSD-2-Clause
"""Time stamps and their clock, as programs in the guest see them."""

import re
from pathlib import Path

import pytest
from guests import complaints

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import KNOWN, OFFLOAD
from moderato.soc.linux import userspace
from moderato.soc.linux.kernel import Choice

HERE = Path(__file__).parent
SYSTEM = System(nic=OFFLOAD, kernel=Choice("ptp"))
BASE = 0xF1000000  # registers of eth0
INCREMENT = 10 << 32

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def guest():
    m = machine(system=SYSTEM)
    program = userspace.compiled("stamps", HERE / "stamps.c", userspace.toolchain())
    with state.loaded(m, True).open() as session:
        session.call("mailbox", file=str(program), address=m.mailbox)
        session.check("mailbox > /tmp/stamps; chmod +x /tmp/stamps")
        yield session


def register(guest, offset: int) -> int:
    return int(guest.check(f"devmem {BASE + offset:#x}"), 16)


def test_ethtool_reports_timestamping(guest):
    for number in range(2):
        said = guest.check(f"ethtool -T eth{number}")
        assert f"PTP Hardware Clock: {number}" in said
        for word in ("hardware-transmit", "hardware-receive", "hardware-raw-clock", "software-transmit"):
            assert word in said
        assert "all" in said.split("Hardware Receive Filter Modes:")[1]


@pytest.mark.parametrize("variant", ["napi-full", "napi-tx-off", "napi-tx-128", "original"])
def test_stamps_and_clock(guest, variant):
    """The stamps of a frame and of its answer are in order, and are times of the clock."""
    for command in KNOWN[variant].commands():
        guest.type(command)  # ethtool's status is 80 if nothing changes
    said = guest.check("/tmp/stamps eth0 /dev/ptp0")
    assert "filter 1\n" in said  # all
    stamps = [tuple(map(int, line)) for line in re.findall(r"stamps (-?\d+) (-?\d+) (-?\d+)", said)]
    assert len(stamps) == 3
    for sent, received, after in stamps:
        assert 0 < sent < 5_000_000 and 0 < after < 20_000_000
        # The request's 64 octets at 100 Mb/s; the tester sends the answer's preamble early.
        assert 5_120 < received < 12_000
    forward, back = map(int, re.findall(r"step (-?\d+)", said))
    assert 5_000_000_000 < forward < 5_002_000_000 and -3_000_000_001 < back < -2_998_000_000
    assert 0 < int(re.search(r"set (\d+)", said)[1]) < 2_000_000
    assert "output 0 0 34" in said  # ERANGE of a period that is too short
    assert register(guest, 0x400) == 3 and register(guest, 0x420) == 1_000_000
    assert register(guest, 0x424) == 250_000
    increment = register(guest, 0x418) << 32 | register(guest, 0x41C)
    assert abs(increment / INCREMENT - 1 - 37e-6) < 0.03e-9
    assert complaints(guest) == []


def test_rmmod_stops_clock_output(guest):
    """The last test here: the output and stamps of received frames end with the module."""
    guest.check("/tmp/stamps eth0 /dev/ptp0")
    assert register(guest, 0x400) == 3
    guest.check("rmmod moderato")
    assert register(guest, 0x400) == 0
    assert complaints(guest) == []
