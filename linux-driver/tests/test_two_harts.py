# SPDX-License-Identifier: BSD-2-Clause
"""The driver on two harts under traffic: both take frames off one ring, and a hart goes offline and
returns."""

import re

import pytest
from guests import collect, complaints, offer

from moderato.sim.lab.explain import profile, symbols, terms, timeline
from moderato.sim.lab.measure.results import Trial
from moderato.sim.lab.measure.trial import read_counters
from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import COMMON, IPI, PINNED, SPREADS, System

RX = ("eth0-rx", "eth1-rx")  # in /proc/interrupts
ONLINE = "/sys/devices/system/cpu/cpu1/online"


@pytest.fixture
def guest():
    with state.loaded(machine(system=System(harts=2)), True).open() as session:
        yield session


def spread(guest, way: str):
    for command in System(harts=2, spread=way).commands():
        guest.type(command)  # ethtool's status is 80 if a flag is set already


def per_hart(guest, line: str) -> list[int]:
    """The counts of each hart, from /proc/interrupts or /proc/softirqs."""
    (row,) = guest.check(f"grep -h {line} /proc/interrupts /proc/softirqs").splitlines()
    return list(map(int, re.findall(r"(?<=\s)\d+(?=\s|$)", row.split(":")[1])[:2]))


@pytest.mark.slow
def test_two_harts_share_one_ring(guest):
    """More traffic than hart 0 can forward. It wakes hart 1, whose frames overtake others."""
    spread(guest, IPI)
    before = per_hart(guest, "NET_RX")
    offer(guest, 1500, frame_bytes=64, load=20)
    ports = guest.call("collect")["ports"]
    for port in ports:
        assert port["corrupted"] == port["duplicated"] == port["left"]["bad_fcs"] == 0
        assert port["events"]["rx_completed"] == port["forwarded"] > 512
    assert sum(port["reordered"] for port in ports) > 0
    assert all(after > some for after, some in zip(per_hart(guest, "NET_RX"), before))
    assert per_hart(guest, "eth0-rx")[1] == per_hart(guest, "eth1-rx")[1] == 0
    assert read_counters(guest)[1] == []
    assert complaints(guest) == []


@pytest.mark.slow
def test_spread_changes_under_traffic(guest, tmp_path):
    """The way changes while frames arrive at both ports. None is lost, and interrupts go to the chosen
    harts."""
    ways = [*SPREADS, COMMON]
    script = tmp_path / "ways"
    script.write_text(
        "case $1 in\n"
        + "".join(
            f"{way})\n{chr(10).join(System(harts=2, spread=way).commands())}\n;;\n" for way in SPREADS
        )
        + "esac\nexit 0\n"
    )  # ethtool's status is 80 if a flag is set already
    guest.call("mailbox", file=str(script), address=machine(system=System(harts=2)).mailbox)
    guest.check("mailbox > /tmp/ways")
    frames = 50 * len(ways)  # a change of the way takes 0.3 s, in which 36 frames arrive
    offer(guest, frames, load=0.5)
    for way in ways:
        guest.check(f"sh /tmp/ways {way}")
        before = [per_hart(guest, name) for name in RX]
        guest.check("sleep 0.1")
        after = [per_hart(guest, name) for name in RX]
        served = [[now > was for now, was in zip(*each)] for each in zip(after, before)]
        assert served == [[True, False], [way != PINNED, way == PINNED]], way
    offered = [port["offered"] for port in guest.call("status")["ports"]]
    assert max(offered) < frames, "frames ended before the last way was chosen"
    for port in guest.call("collect")["ports"]:
        assert port["lost"] == port["corrupted"] == port["duplicated"] == 0
    assert read_counters(guest)[1] == []
    assert complaints(guest) == []


@pytest.mark.slow
def test_hart_goes_offline_and_online_under_traffic(guest):
    """Its interrupts move to the other hart, and return when their affinity is set."""
    spread(guest, PINNED)
    offer(guest, 400, frame_bytes=64, load=2)
    guest.check(f"echo 0 > {ONLINE}")
    assert guest.check("nproc").strip() == "1"
    guest.check(f"echo 1 > {ONLINE}")
    spread(guest, PINNED)
    ports = collect(guest)
    assert all(port["lost"] == 0 for port in ports)
    before = per_hart(guest, "eth1-rx")
    offer(guest, 50)
    assert all(port["lost"] == 0 for port in collect(guest))
    after = per_hart(guest, "eth1-rx")
    assert after[0] == before[0] and after[1] > before[1]
    assert read_counters(guest)[1] == []  # the PLIC's counts of each hart equal the kernel's
    assert complaints(guest) == []


def test_rejects_absent_hart(guest):
    line = guest.check("grep eth0-rx /proc/interrupts").split(":")[0].strip()
    status, says = guest.type(f"echo 4 > /proc/irq/{line}/smp_affinity")
    assert status != 0 and "Value too large" in says
    status, says = guest.type("pin 4 1")
    assert status == 1 and "Invalid argument" in says


def test_each_hart_is_shown():
    """With a port for each hart, each has a column in the profile, a track in the timeline, and a client
    of the memory port."""
    ready = state.ready(machine(system=System(harts=2, spread=PINNED)), "napi")
    functions = symbols.of_guest(ready)
    found = profile.run(Trial("napi", 64, 10, 150, 100), ready, functions, lambda done: None)
    window = found.result.window
    for hart in (0, 1):
        own = [stack for stack in found.stacks if stack.hart == hart]
        assert sum(stack.cycles for stack in own) == window[1] - window[0]
        assert any(stack.functions[-1] == "moderato_napi_poll" for stack in own)
    for client in (
        "hart 0, data",
        "hart 1, data",
        "hart 0, instructions",
        "hart 1, instructions",
        "MAC 0",
        "MAC 1",
    ):
        assert 0 < found.memory[client]["beats"] < window[1] - window[0]
        assert found.memory[client]["behind"] > 0
        assert found.memory[client]["stalled"] == 0  # the simulated memory takes a word in each cycle
    assert found.result.problems == []

    burst = timeline.run(Trial("napi", 64, 100, 16, 100), ready, functions, lambda done: None)
    for port, calls in enumerate(burst.calls):
        completed = next(
            event.time for event in burst.events if (event.port, event.name) == (port, "rx_completed")
        )
        poll = next(call for call in calls if call.stack[-1] == "moderato_napi_poll")
        assert completed < poll.end
    assert len(burst.taken) == len(burst.sent) == 32
    assert b"CPU 0" in timeline.trace(burst) and b"CPU 1" in timeline.trace(burst)


def test_every_function_of_a_term_exists():
    """The functions of several harts; sim/tests/test_profile.py checks all others."""
    of = machine(system=System(harts=2))
    known = {
        terms.base(symbol.name) for symbol in [*symbols.of_kernel(of), *symbols.of_module(of.driver, 0)]
    }
    assert {
        function for term in (*terms.SEVERAL, terms.SHARED) for function in term.functions
    } - known == set()
