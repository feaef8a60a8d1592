# SPDX-License-Identifier: BSD-2-Clause
"""Every interrupt and every frame is counted once, for all strategies, sizes and loads."""

import random

import pytest

from moderato.sim.lab.measure import forward
from moderato.sim.lab.measure.replay import unaccounted
from moderato.sim.lab.measure.results import Result, Trial, frame_rate
from moderato.sim.lab.measure.traffic import Traffic
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import COMMON, PINNED, QUEUES, System
from moderato.sim.lab.run.variants import KNOWN, OFFLOAD, VARIANTS

FAST = (*VARIANTS, "napi-full")  # their states exist for other fast tests
SYSTEMS = [
    System(),
    System(harts=2, spread=COMMON),
    System(harts=2, spread=PINNED),
    System(nic=OFFLOAD, harts=2, spread=QUEUES),
]
MANY = 100


def chosen(seed: int, variants) -> Trial:
    """A trial of some ms with a random size and a random load."""
    dice = random.Random(seed)
    size, load = dice.randint(64, 1518), round(100 ** dice.uniform(0, 1), 2)
    seconds = dice.uniform(0.005, 0.03)
    frames = max(3, min(400, round(frame_rate(size, load, 100) * seconds)))
    traffic = Traffic(streams=dice.choice((1, 1, 5)), one_way=dice.random() < 0.2)
    return Trial(dice.choice(list(variants)), size, load, frames, 100, traffic=traffic)


def require_complete_counts(results: list[Result]):
    for result in results:
        what = f"{result.trial}, {result.conditions}"
        assert result.problems == [], what
        assert unaccounted(result.ports) == [], what
        assert result.dropped_elsewhere >= 0, what


@pytest.mark.slow
def test_withdrawn_interrupts_are_counted():
    """When napi-full's poll re-arms in the same clocks as the next frame raises the line, the line falls
    and rises again six clocks later, and the hart takes one interrupt for both. At this rate, that
    happens once or twice in a thousand frames. The mock of the SoC does it each time
    (harness/test_harness_trial.py)."""
    (result,) = forward.run(machine(), [Trial("napi-full", 333, 5, 1000, 100)])
    require_complete_counts([result])


def test_counts_are_complete():
    require_complete_counts(forward.run(machine(), [chosen(seed, FAST) for seed in range(4)]))


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: f"{system.harts} {system.spread}")
def test_counts_are_complete_on_other_systems(system):
    first = 1000 * SYSTEMS.index(system)
    trials = [chosen(first + number, KNOWN) for number in range(MANY // len(SYSTEMS))]
    require_complete_counts(forward.run(machine(system=system), trials))
