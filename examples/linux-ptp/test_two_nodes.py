# SPDX-License-Identifier: BSD-2-Clause
"""The example as a user runs it: the SoC elaborates; two simulated systems agree on the time."""

import json
import statistics

import pytest
from two_nodes import PPM, WITNESS_BASE, Node, measure, report

from moderato.sim.sim_soc import SimConfig, write


def test_elaborates(tmp_path):
    """Both MACs have a clock and a witness; one MAC gets a wrong sys_clk_freq."""
    soc = Node(SimConfig(macs=2, offloads=True))
    write(soc, tmp_path)
    for number, origin in enumerate(WITNESS_BASE):
        assert soc.bus.regions[f"witness{number}"].origin == origin
    verilog = (tmp_path / "sim.v").read_text()
    assert f"'d{100_000_000 + PPM * 100};" in verilog and "'d100000000;" in verilog
    assert len(json.loads((tmp_path / "soc.json").read_text())["macs"]) == 2


@pytest.mark.slow
def test_clocks_agree():
    """ptp4l's offsets and the true ones are within the 10 ns of the system clock. Each frame has the
    same path delay, and ptp4l corrects the slave's 37 ppm."""
    result = measure()
    print(report(result))
    assert abs(result.first) > 1000
    assert result.ppm == pytest.approx(PPM, abs=0.5)
    for offsets in (result.said, result.true):
        assert len(offsets) > 10
        assert abs(statistics.mean(offsets)) < 10 and statistics.pstdev(offsets) < 10
    assert statistics.pstdev(result.delay) < 10
