# SPDX-License-Identifier: BSD-2-Clause
"""The rule that decides short trials (docs/rfc2544.md), against trials twenty times as long."""

from dataclasses import replace

import pytest

from moderato.sim.lab import state
from moderato.sim.lab.machine import machine
from moderato.sim.lab.rfc2544 import metrics, tests, trials
from moderato.sim.lab.session import Session

LONGER = 20


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
@pytest.mark.parametrize("variant", ["napi-tx-128", pytest.param(
    "napi-tx-off", marks=pytest.mark.xfail(strict=True, reason="2.7 % too much for over a second"))])
def test_a_sustained_rate_is_sustained(variant):
    found = throughput(tests.Cell(variant, 64, 100, 1.0))
    task = trials.Task(**found.sustained["task"])
    long = replace(task, kind="loss", frames=LONGER * task.frames)
    sustained = run(long)
    assert sustained["passed"], sustained["why"]
    assert metrics.frames(sustained) == 2 * LONGER * task.frames
    # Above it, what the rings hold is used up before the end.
    above = run(replace(long, load_percent=round(1.05 * task.load_percent, 4)))
    assert not above["passed"]
    assert sum(port["events"]["rx_drop_ring"] for port in above["report"]["ports"]) > 0
