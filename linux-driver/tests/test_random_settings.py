# SPDX-License-Identifier: BSD-2-Clause
"""Random changes of settings under traffic. Meanwhile netpoll polls with interrupts off, a tap has a
clone of each frame, some received frames find no memory, and allocations of the change itself fail. A
seed selects the changes, and the log lists those of each seed.

    ./moderato test linux-driver/tests/test_random_settings.py -m 'slow or not slow' -s
"""

import errno
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import watched
from debug_guest import QUIET, DebugGuest
from guests import collect, offer
from test_debug_kernel import NETPOLL, POLLER, netconsole

from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.session import Session
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import OFFLOAD
from moderato.soc.linux.kernel import DEBUG

TWO_QUEUES, TWO_HARTS = System(nic=OFFLOAD), System(harts=2)
BOTH = System(nic=OFFLOAD, harts=2)
DEBUGGED = System(nic=OFFLOAD, kernel=DEBUG)
STEPS = 24
FAST = [(TWO_QUEUES, 6, 8)]
SLOW = [(system, seed, STEPS) for seed in range(10, 20) for system in (TWO_QUEUES, TWO_HARTS, BOTH)]
FRAMES_OFFERED = 60
LOAD = 0.7  # percent, with 512 octets; with tap and polls, more would keep the CPU busy

# The choices: each is valid with all others.
SIZES = (64, 128, 256)
FRAMES = (1, 4, 16, 32)
USECS = (10, 100, 1000)
# The number of the failing allocation of a change, from 1; 0 (most often): none fails.
FAILS = (*[0] * 8, 1, 2, 4, 6, 9, 20, 70, 150)

# Settings for the end of a test, so that frames leave soon.
USUAL = [
    "0 up 1",
    "0 rule 0",
    "0 flags 9",
    "0 mtu 1500",
    "0 rings 256 256",
    "0 coalesce 1 0 1 10 32 1000 0",
]
# A missing rule cannot be deleted, and an unused queue has no moderation of its own.
MEANT = {"rule 0": errno.ENOENT, "queue 1": errno.EINVAL}
# Rules and two queues exclude each other.
WITH_TWO, WITH_A_RULE = {"rule 184": errno.EOPNOTSUPP}, {"channels 2": errno.EBUSY}


def moderation(rng: random.Random) -> str:
    """Adaptive Rx and Tx, frames and usecs of both, rx-usecs-irq."""
    return " ".join(
        map(
            str,
            (
                rng.randrange(2),
                rng.randrange(2),
                rng.choice(FRAMES),
                rng.choice(USECS),
                rng.choice(FRAMES),
                rng.choice(USECS),
                rng.choice((0, 200, 300_000)),
            ),
        )
    )


def draw(seed: int, system: System, steps: int) -> list[str]:
    """Lines for watched/settings.c."""
    rng = random.Random(seed)
    flags = 6 if system.harts > 1 else 5  # the last one exists only with several harts
    kinds = {
        "rings": (3, lambda: f"{rng.choice(SIZES)} {rng.choice(SIZES)}"),
        "flags": (4, lambda: str(rng.randrange(1 << flags))),
        "mtu": (1, lambda: str(rng.choice((1300, 1500, 2000)))),
        "coalesce": (2, lambda: moderation(rng)),
        "up": (3, lambda: str(int(rng.random() < 0.7))),
        "rule": (1, lambda: rng.choice(("0", "184"))),
        "tso": (1, lambda: str(rng.randrange(2))),
        "gro": (1, lambda: str(rng.randrange(2))),
    }
    if system.nic == OFFLOAD:
        kinds |= {
            "channels": (4, lambda: str(1 + rng.randrange(2))),
            "queue": (2, lambda: f"{rng.randrange(2)} {moderation(rng)}"),
        }
    names = rng.choices(list(kinds), [weight for weight, _ in kinds.values()], k=steps)
    return [f"{rng.choice(FAILS)} {name} {kinds[name][1]()}" for name in names]


def wrong(outcomes: list[watched.Outcome], system: System) -> Iterator[watched.Outcome]:
    """Outcomes of settings that failed but changed something, or failed without a reason."""
    may_be_two, a_rule = system.nic == OFFLOAD, False
    for outcome in outcomes:
        fail, _, setting = outcome.setting.partition(" ")
        meant = MEANT | (WITH_TWO if may_be_two else {}) | (WITH_A_RULE if a_rule else {})
        allowed = {error for start, error in meant.items() if setting.startswith(start)}
        if outcome.changed or fail == "0" and outcome.error not in {0, *allowed}:
            yield outcome
        if not outcome.error and setting.startswith("channels"):
            may_be_two = setting == "channels 2"
        if not outcome.error and setting.startswith("rule"):
            a_rule = setting != "rule 0"


def run(session: Session, seed: int, system: System, steps: int, folder: Path) -> list[str]:
    """Change settings while frames arrive; return messages about errors."""
    place = machine(system=system).mailbox
    outcomes = watched.change(session, draw(seed, system, steps), folder, place)
    for outcome in outcomes:
        print(f"seed {seed}: {outcome.setting}: {outcome.error}", flush=True)
    outcomes += watched.change(session, USUAL, folder, place)
    return [f"seed {seed}: {outcome}" for outcome in wrong(outcomes, system)]


def at_rest(session: Session) -> list[str]:
    """Take the ports down and remove the driver. Return the kernel's reports until after the longest
    timer."""
    session.check("ip link set eth0 down; ip link set eth1 down")
    found = watched.judged(session)
    session.check("rmmod moderato; sleep 1.2")
    return found or watched.complaints(session)


@pytest.mark.parametrize(
    "system, seed, steps",
    [*FAST, *(pytest.param(*each, marks=pytest.mark.slow) for each in SLOW)],
    ids=lambda value: f"{value.nic}-{value.harts}" if isinstance(value, System) else None,
)
def test_random_settings(tmp_path, system, seed, steps):
    with watched.guest(tmp_path, system) as guest:
        guest.check("/tmp/tap &")
        guest.check(f"cd {watched.PARAMETERS}; echo 5 > starve; echo 1000 > poll; cd /")
        offer(guest, FRAMES_OFFERED, load=LOAD, flows=16, probe_every=5)
        found = run(guest, seed, system, steps, tmp_path)
        guest.check(f"cd {watched.PARAMETERS}; echo 0 > starve; echo 0 > poll; cd /; kill %1")
        for port in guest.call("collect")["ports"]:
            assert port["corrupted"] == port["duplicated"] == port["left"]["bad_fcs"] == 0
        guest.check("/etc/moderato/up static")  # a port that was down has forgotten its neighbours
        offer(guest, 20)
        assert [port["lost"] for port in collect(guest)] == [0, 0]
        assert found == []
        assert watched.judged(guest) == []
        assert at_rest(guest) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 24))
def test_on_the_debug_kernel(tmp_path, seed):
    """With netpoll itself, through a network console."""
    lab = machine(system=DEBUGGED)
    with watched.guest(tmp_path, DEBUGGED) as session:
        guest = DebugGuest(session, lab)
        guest.check("dmesg -c > /dev/null")
        for module in (POLLER, netconsole(guest.built_kernel, tmp_path)):
            guest.send_module(module, tmp_path / "built")
        guest.check(NETPOLL[0])
        guest.check("/tmp/tap &")
        guest.check("insmod /tmp/poller.ko polls=20000 &")
        guest.offer(200, quiet=QUIET)
        found = run(session, seed, DEBUGGED, STEPS // 2, tmp_path)
        guest.check("wait %2; rmmod poller; rmmod netconsole; kill %1")
        guest.collect()
        assert found == []
        assert guest.news() == []
        assert at_rest(session) == []
        assert guest.mapped() == 0
        assert guest.last_words() == []
