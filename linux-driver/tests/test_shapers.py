# SPDX-License-Identifier: BSD-2-Clause
"""Shapers: frames of a queue with `cbs` leave with its idle slope, and the other queue has the rest of
the link. The tester's capture of the wire is the oracle."""

import dataclasses

import pytest
from guests import complaints

from moderato.sim.lab.captures import pcap
from moderato.sim.lab.measure import trial
from moderato.sim.lab.measure.traffic import Traffic
from moderato.sim.lab.ontime import runs
from moderato.sim.lab.ontime.ways import PRIORITY, WAYS
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import TIME
from moderato.soc.linux import userspace
from moderato.soc.linux.kernel import Choice
from moderato.toolchain.project import ROOT

PROGRAM = ROOT / "examples/linux-ptp/flood.c"
SYSTEM = System(nic=TIME, kernel=Choice("time"))
LINK = 10  # Mb/s: the CPU fills it with frames of both queues
FRAME = 1514  # octets of both queues' frames, without FCS
WIRE = FRAME + 24  # octets of the wire
FLOOD = b"\x88\xb5"  # EtherType of the program's frames
OWN = "100:2"  # the qdisc's class of queue 1

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ready():
    return runs.ready(machine(LINK, SYSTEM))


@pytest.fixture
def guest(ready):
    """The program floods queue 1."""
    with ready.open() as session:
        program = userspace.compiled("flood", PROGRAM, userspace.toolchain())
        session.call("mailbox", file=str(program), address=ready.machine.mailbox)
        session.check("mailbox > /tmp/flood; chmod +x /tmp/flood")
        session.check(f"/tmp/flood eth0 {FRAME} {PRIORITY} > /dev/null 2>&1 & echo $! > /tmp/pid")
        yield session


def cbs(kbps: int, link: int = LINK, high: int = 2 * WIRE, low: int = -2 * WIRE) -> str:
    return (
        f"tc qdisc replace dev eth0 parent {OWN} cbs idleslope {kbps} sendslope {kbps - link * 1000} "
        f"hicredit {high} locredit {low} offload 1"
    )


def sent(guest, ready, tmp_path, frames: int = 150) -> tuple[list[int], list[int]]:
    """When the program's frames left eth0, in ns, and those that the guest forwarded meanwhile. Both
    ports get `frames` at the line rate."""
    of = runs.Run(WAYS["none"], link_mbps=LINK, frame_bytes=FRAME + pcap.FCS)
    load = dataclasses.replace(of.trial(Traffic()), frames=frames)
    clock = ready.machine.sys_clk_hz
    guest.call("offer", **trial.request(load, clock), pcap=str(tmp_path))
    guest.call("run", cycles=round(load.seconds * clock))
    guest.check("kill $(cat /tmp/pid)")
    guest.call("collect")
    captured = pcap.read(tmp_path / "port0-out.pcap")
    own = [time for time, octets in captured if octets[12:14] == FLOOD]
    return own, [
        time for time, octets in captured if octets[12:14] != FLOOD and own[0] <= time <= own[-1]
    ]


def rate(times: list[int]) -> float:
    """Mb/s of the wire."""
    return (len(times) - 1) * WIRE * 8000 / (times[-1] - times[0])


@pytest.mark.parametrize("kbps", [1_000, 4_000])
def test_queue_has_its_idle_slope(guest, ready, tmp_path, kbps):
    """The other queue has what is left."""
    guest.check(cbs(kbps))
    assert "offload 1" in guest.check("tc qdisc show dev eth0")
    own, other = map(rate, sent(guest, ready, tmp_path))
    assert own == pytest.approx(kbps / 1000, rel=0.01)
    assert other == pytest.approx(LINK - kbps / 1000, rel=0.02)  # a frame more or less
    assert complaints(guest) == []


def test_unlimited_again(guest, ready, tmp_path):
    """With another qdisc, queue 1 has the whole link."""
    guest.check(cbs(1_000))
    guest.check(f"tc qdisc replace dev eth0 parent {OWN} pfifo")
    own, _ = sent(guest, ready, tmp_path)
    assert rate(own) == pytest.approx(LINK, rel=0.01)


@pytest.mark.parametrize(
    "change", ["ip link set eth0 down; ip link set eth0 up; sleep 0.1", "ethtool -G eth0 tx 64"]
)
def test_shaper_survives_changes_of_the_interface(guest, ready, tmp_path, change):
    guest.check(cbs(2_000))
    guest.check(change)
    own, _ = sent(guest, ready, tmp_path)
    assert rate(own) == pytest.approx(2, rel=0.01)
    assert complaints(guest) == []


@pytest.mark.parametrize(
    "words", [{"high": 65536}, {"low": -65536}, {"low": 1}, {"high": -1}, {"kbps": 0}]
)
def test_rejects_what_the_hardware_lacks(guest, words):
    assert guest.type(cbs(**{"kbps": 1_000} | words))[0] != 0
    assert complaints(guest) == []
