# SPDX-License-Identifier: BSD-2-Clause
"""LiteX's VexRiscv-SMP: an error names an option that the wheel's generator does not support."""

import pytest
from litex.soc.cores.cpu.vexriscv_smp import VexRiscvSMP

from moderato.soc.cpu import stock


@pytest.mark.parametrize(
    "name, value",
    [
        ("reset_vector", 0x1000),
        ("expose_time", True),
        ("privileged_debug", True),
        ("hardware_breakpoints", 1),
        ("wishbone_force_32b", True),
        ("jtag_tap", True),
    ],
)
def test_rejects_options_unknown_to_the_generator(name, value, monkeypatch):
    monkeypatch.setattr(VexRiscvSMP, name, value)
    with pytest.raises(ValueError, match=f"^{name} = {value}"):
        stock.netlist(VexRiscvSMP)


def test_passes_on_all_attributes_of_the_class():
    """A newer LiteX may have more attributes, with other netlists."""
    chosen = {
        name
        for name, value in vars(VexRiscvSMP).items()
        if isinstance(value, (bool, int)) and not name.startswith("_")
    }
    elsewhere = {"data_width", "coherent_dma", "csr_base", "clint_base", "plic_base"}
    assert chosen - elsewhere == {*stock.OPTIONS, *stock.FIXED}
