# SPDX-License-Identifier: BSD-2-Clause
"""A trial of `offload`: the hardware has its flows before it begins."""

from moderato.sim.lab.measure import trial
from moderato.sim.lab.measure.results import Trial
from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import FLOWS
from moderato.soc.linux import kernel


def test_the_cpu_sees_no_frame():
    """Both ports carry the shortest frames at line rate, and none is lost."""
    lab = machine(system=System(nic=FLOWS, kernel=kernel.Choice(kernel.XDP)))
    ready = state.ready(lab, "offload")
    result = trial.run(Trial("offload", 64, 100.0, 1000, 100), ready, lambda done: None)
    assert result.problems == []
    assert result.by_hardware == result.total("forwarded") == 2000
    assert result.dropped_elsewhere == 0
    for name in "received", "lost", "rx_interrupts", "tx_interrupts":
        assert result.total(name) == 0, name
    assert result.nanoseconds(result.latency["max"]) < 2000
