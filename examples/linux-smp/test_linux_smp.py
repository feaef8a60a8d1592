# SPDX-License-Identifier: BSD-2-Clause
"""The example as a user runs it: the SoC elaborates; Linux boots on it and forwards frames."""

import json
from pathlib import Path

import pytest
from forward_smp import OURS, STOCK, SYSTEMS, measure, table
from litex.soc.cores.cpu.vexriscv_smp import VexRiscvSMP
from smp_soc import MACS, LinuxSoC

from moderato.sim.harness.top import soc_config, top_verilog
from moderato.sim.sim_soc import SimConfig, write
from moderato.soc.cpu import stock
from moderato.soc.linux.devicetree import dts


def test_elaborates(tmp_path, monkeypatch):
    """MACs are at the coherent port and have their own interrupts; lab and device tree describe the SoC.

    The test replaces the CPU's Verilog, which takes minutes, by a stub.
    """

    def netlist(cpu) -> Path:
        stub = tmp_path / f"{cpu.cluster_name}.v"
        stub.write_text(f"module {cpu.cluster_name}; endmodule\n")
        return stub

    monkeypatch.setattr(stock, "netlist", netlist)
    monkeypatch.setattr(VexRiscvSMP, "generate_netlist", VexRiscvSMP.generate_netlist)
    monkeypatch.setattr(VexRiscvSMP, "coherent_dma", True)
    netlists, folder = tmp_path / "netlists", tmp_path / "verilog"
    for each in netlists, folder:
        each.mkdir()
    stock.provide(netlists)
    soc = LinuxSoC(SimConfig(macs=MACS))
    write(soc, folder)

    assert [soc.constants[f"ETH{number}_DMA_COHERENT"] for number in range(MACS)] == [1, 1]
    assert soc.dma_bus.masters.keys() == {"eth0_dma", "eth1_dma"}
    described = json.loads((folder / "soc.json").read_text())
    cluster = described["cpu"]["netlist"]
    verilog = (folder / "sim.v").read_text()
    assert f"{cluster} {cluster}(" in verilog
    lines = [mac[line] for mac in described["macs"] for line in ("rx_irq", "tx_irq")]
    assert len({0, described["uart"]["irq"], *lines}) == 6
    assert all(f"ethernet@{mac['base']:x}" in dts(described) for mac in described["macs"])
    assert f"wfi[0] = soc.{cluster}.cores_0_cpu_logic_cpu.CsrPlugin_inWfi;" in top_verilog(described)
    assert f"{cluster}__DOT__clint_logic__DOT__logic_time" in soc_config(described, "")


@pytest.mark.slow
def test_linux_forwards():
    """The example finds no problem in frames and interrupts. The stock port is by far the slower one."""
    rows = {system: measure(system) for system in SYSTEMS}
    print(table(list(rows.values())))
    for row in rows.values():
        assert row.profile.result.problems == []
        assert row.profile.result.total("forwarded") > 500
    assert rows[STOCK].per_second < rows[OURS].per_second
    assert rows[STOCK].cycles_a_beat > 10 * rows[OURS].cycles_a_beat
