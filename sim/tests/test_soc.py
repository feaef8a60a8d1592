# SPDX-License-Identifier: BSD-2-Clause
"""The SoC's Verilog: reproducible, as the build cache needs it, and with the names that the harness
uses."""

import dataclasses
import json
import re
import subprocess
import sys
import time

import pytest

from moderato.sim.harness import values
from moderato.sim.harness.cores import core
from moderato.sim.harness.rings import rings_header
from moderato.sim.harness.top import model_name, soc_config
from moderato.sim.lab.wave import signals
from moderato.sim.sim_soc import SimConfig, soc_verilog
from moderato.soc.cpu import CpuConfig


@pytest.mark.parametrize(
    "config", [SimConfig(macs=1), SimConfig(macs=1, dram="versa_ecp5", sys_clk_hz=80_000_000)]
)
def test_equal_designs_are_equal_files(config, tmp_path):
    """Otherwise each change of a file, even of a comment, would make new simulators and checkpoints."""
    folders = tmp_path / "first", tmp_path / "second"
    for folder in folders:
        folder.mkdir()
        subprocess.run(
            [
                sys.executable,
                "-m",
                "moderato.sim.sim_soc",
                json.dumps(dataclasses.asdict(config)),
                folder,
            ],
            check=True,
        )
        time.sleep(1)  # the time of day must not appear
    first, second = ({file.name: file.read_bytes() for file in folder.iterdir()} for folder in folders)
    assert first.keys() == second.keys() and "sim.v" in first
    assert all(first[name] == second[name] for name in first)


@pytest.mark.parametrize("harts", [1, 2])
def test_the_profiler_finds_the_registers_of_every_hart(harts):
    """Some names contain a number that depends on the number of harts."""
    folder = soc_verilog(SimConfig(macs=2, cpu=CpuConfig(harts=harts)))
    soc = json.loads((folder / "soc.json").read_text())
    config = soc_config(soc, "")
    cache, walks = re.findall(r"SOC_HART\(hart, (dataCache_\d|MmuPlugin_shared_state_\d)", config)
    netlist = (folder / "ModeratoCluster.v").read_text()
    for number in range(harts):
        assert f"root.{model_name(core(soc).harts[number])}__DOT__##name" in config
        (module,) = re.findall(rf"(\w+) harts_{number}_cpu \(", netlist)
        (hart,) = re.findall(rf"^module {module} \(.*?^endmodule", netlist, re.MULTILINE | re.DOTALL)
        assert re.search(rf"DataCache {cache} \(", hart) and re.search(rf"reg .* {walks};", hart)


@pytest.mark.parametrize(
    "config, queues", [(SimConfig(macs=2), 1), (SimConfig(macs=2, offloads=True), 2)]
)
def test_the_window_finds_the_fill_of_every_queue(config, queues):
    """The registers' names depend on the MAC's options, and on the number of earlier parts of their
    kind."""
    verilog = (soc_verilog(config) / "sim.v").read_text()
    registers = re.findall(r"^(?:reg|wire)\s.*?\b(moderatomac\w+)", verilog, re.MULTILINE)
    header = rings_header("\n".join(f"top__DOT__soc__DOT__{name};" for name in registers), 2)
    for port in range(2):
        (case,) = re.findall(rf"case {port}:.*?;", header, re.DOTALL)
        used = re.findall(r"__DOT__(moderatomac\w+)", case)
        assert all(name.startswith(f"moderatomac{port}_") for name in used)
        # The FIFO; for each queue three registers of the ring, and twice its order; moderations with
        # nine, a pacing.
        assert len(used) == 1 + queues * (4 + 2 * 9 + 2)
        assert len(set(used)) == len(used) - queues
        (fifo,) = (name.removesuffix("_frames") for name in used if "framefifo" in name)
        assert f"{fifo}_param_broadcast" in verilog  # the FIFO of received frames
        for line in re.findall(r"^ +\{.*armed.*$", case, re.MULTILINE):
            (number,) = set(re.findall(r"_moderation(\d+)_", line))
            (way,) = set(re.findall(r"_reg_((?:rx|tx)1?)_(?:frames|packet)", line))
            # The strobe with which the driver re-arms it.
            assert re.search(rf"moderation{number}_rearm\b.*strobe_{way}_rearm", verilog), line
    assert "case" not in rings_header("nothing", 2)


@pytest.mark.parametrize("config", [SimConfig(macs=2), SimConfig(macs=2, offloads=True, flows=True)])
def test_signals_with_names_of_values_are_new_ones_of_the_macs(config):
    """A wave shows them (harness/values.py); no other simulator has them."""
    folder = soc_verilog(config)
    verilog, more = ((folder / name).read_text() for name in ("sim.v", values.FILE))
    names = re.findall(r"^wire (?:\[\d+:0\] )?(\w+) =", more, re.MULTILINE)
    assert len(names) == len(set(names)) == len(more.splitlines())
    assert not set(names) & set(re.findall(r"\w+", verilog))
    of_macs = [name for name in names if name.startswith("moderatomac")]
    assert len(of_macs) >= len(names) - 1  # LiteX's bridge to its CSR bus has an FSM, too
    rooms = {signal.room for signal in signals.in_rooms([(signals.SOC + name, 1) for name in of_macs])}
    assert {"mac0.rx", "mac1.tx", "mac0.dma", "mac1.queue0.rx", "mac0.queue0.tx"} <= rooms
    assert not {room for room in rooms if room.endswith(".other")}
