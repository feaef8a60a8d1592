# SPDX-License-Identifier: BSD-2-Clause
"""Strategies beyond the six, on Linux: their specified behaviour, independent of the published
figures."""

import pytest

from moderato.sim.lab.explain import symbols
from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.strategies import ping

US = 100  # clocks
NO_POLL = "ethtool --set-priv-flags eth1 tx-reclaim-on-xmit on"
SLOT_US = 84 * 0.08  # of a frame of 64 octets at 100 Mb/s


@pytest.fixture
def guest():
    """guest(variant, commands) → a guest with that variant; it ends with the test."""
    sessions = []

    def start(variant: str, *commands: str):
        session = state.ready(machine(), variant).open(udp_echo=True)
        sessions.append(session)
        for command in commands:
            session.type(command)  # ethtool returns 80 if the value is already set
        session.call("run", cycles=state.SETTLE)
        return session

    yield start
    for session in sessions:
        session.end()


def trial(session, pause_us: float, frames: int, second: dict | None = None, **offer) -> dict:
    """The fates of frames that enter port 0, one each `pause_us`, and port 1, if `second` has the
    differences of its offer. Fails if a frame was damaged.
    """
    load = round(100 * SLOT_US / pause_us, 4)
    port = {"frame_bytes": 64, "load_percent": load, "frames": frames}
    reply = session.call(
        "trial", ports=[port | offer, second and port | second], max_cycles=1_000_000_000
    )
    port = reply["ports"][0]
    assert reply["quiet"] and port["corrupted"] == port["reordered"] == port["duplicated"] == 0
    return reply


def latency_us(reply: dict, kind: str = "latency_cycles") -> dict[str, float]:
    return {name: cycles / US for name, cycles in reply[kind].items()}


def events(reply: dict, port: int = 0) -> dict[str, int]:
    return reply["ports"][port]["events"]


# By the clock -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ring", [pytest.param(64, marks=pytest.mark.slow), 128])
def test_a_ring_of_frames_each_tick(guest, ring):
    """Between two ticks, as many frames as the ring has descriptors arrive without loss, plus those that
    arrive while the driver empties it. More are lost."""
    pause = 10_000 / ring  # us
    for share, all_of_them in ((0.9, True), (1.06, False)):
        session = guest("napi-timer", f"ethtool -G eth0 rx {ring}")
        reply = trial(session, pause / share, 5 * ring)
        assert (reply["ports"][0]["lost"] == 0) == all_of_them
        assert events(reply)["rx_drop_ring"] == reply["ports"][0]["lost"]
        ticks = 5 / share
        assert ticks - 2 <= events(reply)["rx_interrupt"] <= ticks + 2


def test_a_timer_of_high_resolution(guest):
    """Frames wait for the period of the timer, also between two ticks."""
    reply = trial(guest("napi-timer", "ethtool -C eth0 rx-usecs-irq 2000"), 100, 400)
    assert 2000 <= latency_us(reply)["max"] <= 2000 + 3000  # 20 frames and more are received at once
    assert 400 / 40 <= events(reply)["rx_interrupt"] <= 400 / 20 + 1
    assert reply["ports"][0]["lost"] == 0


# Polled -------------------------------------------------------------------------------------------


def test_rx_interrupt_masks_both_directions(guest):
    """Port 0's frame arrives while port 1's is being forwarded. The poll that it schedules also frees
    port 1's. Port 0's leaves when polling has ended."""
    reply = trial(guest("napi-full"), 1000, 20, second={"phase": 0}, phase=20 * US)
    ours, other = (events(reply, port)["tx_interrupt"] for port in (0, 1))
    assert ours <= 2 and other >= 15  # with cold caches, the first frames take longer


# By the MAC ---------------------------------------------------------------------------------------


def waits(session, folder, act) -> list[float]:
    """For each interrupt of port 0 during `act`: how long the first frame after the re-arm had waited
    for it, in us. Port 1 must not poll.
    """
    symbols.write(symbols.of_guest(state.loaded(machine(), True)), folder / "symbols")
    session.call("profile", symbols=str(folder / "symbols"), timeline=str(folder / "timeline"))
    act()
    session.call("profile", stop=str(folder / "stacks"))
    found, first = [], None
    for line in (folder / "timeline").read_text().splitlines():
        cycle, *what = line.split()
        if what == [">", "napi_complete_done"]:  # earlier frames have been received
            first = None
        elif what == ["!", "0", "rx_completed"] and first is None:
            first = int(cycle)
        elif what == ["!", "0", "rx_interrupt"]:
            found.append((int(cycle) - (first or int(cycle))) / US)
    return found


@pytest.mark.slow
def test_absolute_timer_bounds_latency(guest, tmp_path):
    """Frames that arrive just before the packet timer expires restart it each time."""
    waiting = "ethtool -C eth0 rx-frames 128 rx-usecs-low 200"
    session = guest("hw-moderated", f"{waiting} rx-usecs 2000", NO_POLL)
    bounded = waits(session, tmp_path, lambda: trial(session, 195, 200))
    assert 200 / 20 <= len(bounded) <= 200 / 11 + 2  # more arrive during the poll
    # Exact to a clock or two where the ring is armed. A frame that arrives while a poll ends waits for
    # the full time from the re-arm on, and the next frame waits less. The packet timer ends the last
    # wait, because no further frame arrives.
    assert bounded[0] <= 2000.02 and max(bounded) <= 2000 + 5 and min(bounded[:-1]) >= 2000 - 200
    session = guest("hw-moderated", f"{waiting} rx-usecs 0", NO_POLL)
    not_bounded = waits(session, tmp_path, lambda: trial(session, 195, 200))
    assert len(not_bounded) == 2 and not_bounded[0] > 127 * 194


def test_urgent_frames_do_not_wait(guest):
    """Only one of 50 frames is marked, every 9.75 ms. The others would wait longer than that: of the 49
    frames before a marked one, the CPU has at most 8. The kernel's tick has another period, 10 ms."""
    moderated = "ethtool -C eth0 rx-frames 128 rx-usecs 10000 rx-usecs-low 0"
    plain = trial(guest("napi-full"), 195, 150, probe_every=50)
    waiting = trial(guest("hw-moderated", moderated), 195, 150, probe_every=50)
    urgent = trial(
        guest("hw-moderated", moderated, "ethtool -N eth0 flow-type ip4 tos 184"),
        195,
        150,
        probe_every=50,
    )
    assert latency_us(waiting, "probe_latency_cycles")["median"] > 1000
    at_once, ahead = (latency_us(reply, "probe_latency_cycles") for reply in (plain, urgent))
    assert ahead["median"] <= at_once["median"] + 100 and ahead["max"] < 1000
    # The poll for the marked frame also receives the frames before it.
    assert latency_us(urgent)["median"] > 1000
    assert events(waiting)["rx_interrupt"] <= 150 / 50 + 2
    assert events(urgent)["rx_interrupt"] <= 3 + 150 / 50 + 2 < events(plain)["rx_interrupt"] / 15


@pytest.mark.slow
def test_a_socket_that_polls_does_not_wait(guest):
    session = guest(
        "hw-moderated",
        "ethtool -C eth0 rx-frames 128 rx-usecs 10000 rx-usecs-low 0 tx-frames 128 tx-usecs 10000",
    )
    returned, asleep = ping.parse(session.check("roundtrip -n 10 -i 5000 198.18.0.2"))
    assert returned == 10 and asleep["median"] > 9_000_000
    session.check("echo 20000 > /proc/sys/net/core/busy_read")
    returned, polling = ping.parse(session.check("roundtrip -n 10 -i 5000 198.18.0.2"))
    assert returned == 10 and polling["median"] < 1_000_000


@pytest.mark.slow
def test_cqe_mode_exchanges_the_timers(guest):
    """PACKET_TIMER and ABSOLUTE_TIMER of eth0's receive side, in clocks."""
    timers = "devmem 0xf1000114; devmem 0xf1000118"
    session = guest("napi-full", "ethtool -C eth0 rx-frames 8 rx-usecs 100 rx-usecs-low 0")
    assert [int(word, 16) for word in session.check(timers).split()] == [0, 10_000]
    session.check("coalesce eth0 rx cqe-mode on")
    assert session.check("coalesce eth0 rx cqe-mode") == "on\n"
    assert session.check("coalesce eth0 tx cqe-mode") == "off\n"
    assert [int(word, 16) for word in session.check(timers).split()] == [10_000, 0]
    assert "rx-usecs: 100\n" in session.check("ethtool -c eth0")
    session.check("ethtool -C eth0 rx-usecs-low 500")
    assert [int(word, 16) for word in session.check(timers).split()] == [10_000, 50_000]
    assert session.type("ethtool -C eth0 adaptive-rx on")[0] != 0
    session.check("coalesce eth0 rx cqe-mode off")
    assert [int(word, 16) for word in session.check(timers).split()] == [50_000, 10_000]


# Adaptive -----------------------------------------------------------------------------------------


def test_mac_paces_only_a_busy_cpu(guest, tmp_path):
    """A frame waits for 1 us, the minimum, or up to 1 ms, and 1 us again as soon as the load is over."""
    session = guest("adaptive-hw", "ethtool -C eth0 rx-usecs-high 1000", NO_POLL)
    trial(session, 1000, 5)  # with a cold cache the CPU is busy, too

    def light_alone():
        light = waits(session, tmp_path, lambda: trial(session, 1000, 10))
        assert len(light) == 10 and max(light) <= 1.1

    light_alone()
    busy = waits(session, tmp_path, lambda: trial(session, 120, 200))
    assert 100 <= max(busy) <= 1000.1 and len(busy) < 150
    light_alone()


@pytest.mark.slow
def test_dim_chooses_among_profiles(guest):
    session = guest("adaptive-dim")
    before = session.check("coalesce eth0 rx profile")
    assert before.splitlines()[0] == "0,1" and len(before.splitlines()) == 5
    session.check("coalesce eth0 rx profile 1,1 10,2 20,4 30,8 40,16")
    assert session.check("coalesce eth0 rx profile").split() == ["1,1", "10,2", "20,4", "30,8", "40,16"]
    assert session.check("coalesce eth1 rx profile") == before
    frames = "devmem 0xf1000110"  # RX_FRAMES
    seen = {session.check(frames)}
    for _ in range(4):
        reply = trial(session, 120, 600)
        assert reply["ports"][0]["lost"] == 0
        seen.add(session.check(frames))
    assert seen <= {f"0x{count:08X}\n" for count in (1, 2, 4, 8, 16)}
    for wrong in ("1,1 1,1 1,1 1,1 1,1 1,1", "1 2 3 4 5", "1,1,1 1,1"):
        assert session.type(f"coalesce eth0 rx profile {wrong}")[0] != 0
