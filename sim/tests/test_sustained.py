# SPDX-License-Identifier: BSD-2-Clause
"""The rule that decides short trials (docs/results.md), compared with trials twenty times as long."""

from dataclasses import replace

import pytest

from moderato.sim.lab.rfc2544 import metrics, tests, trials
from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.session import Session

LONGER = 20
CLOSE = 0.05  # accuracy of a throughput: the guest may become slower than in the short trial


def run(task: trials.Task) -> dict:
    ready = state.ready(machine(), task.variant)
    with Session(ready.machine.simulator, restore=ready.checkpoint) as session:
        return trials.run(task, session, ready.machine.sys_clk_hz, lambda done: None)


def throughput(cell: tests.Cell) -> tests.Throughput:
    search = tests.throughput(cell, [0.5])
    task = next(search)
    try:
        while True:
            task = search.send(run(task))
    except StopIteration as end:
        return end.value[0]


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["napi-tx-off", "napi-tx-128"])
def test_a_throughput_is_close_to_what_is_sustained_for_long(variant):
    found = throughput(tests.Cell(variant, 64, 100, 1.0))
    task = trials.Task(**found.sustained["task"])

    def long(factor: float) -> dict:
        return run(
            replace(
                task,
                kind="loss",
                frames=LONGER * task.frames,
                load_percent=round(factor * task.load_percent, 4),
            )
        )

    below = long(1 - CLOSE)
    assert below["passed"], below["why"]
    assert metrics.frames(below) == 2 * LONGER * task.frames
    # At higher loads, the rings fill up before the end.
    above = long(1 + CLOSE)
    assert not above["passed"]
    assert sum(port["events"]["rx_drop_ring"] for port in above["report"]["ports"]) > 0
