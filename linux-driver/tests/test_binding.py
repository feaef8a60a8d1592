# SPDX-License-Identifier: BSD-2-Clause
"""The device tree bindings: valid schemas, which our device trees and their own examples pass."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from driver_sources import BINDING, MDIO_BINDING
from pypi_tools import programs

from moderato.integrate import device_tree
from moderato.soc.linux import devicetree, kernel

# Schemas that the binding refers to.
KERNEL_SCHEMAS = ["ethernet-controller.yaml", "ethernet-phy.yaml", "mdio.yaml"]

BINDINGS = [BINDING, MDIO_BINDING]

SOC = {
    "sys_clk_hz": 100_000_000,
    "cpu": {
        "harts": 1,
        "isa": "rv32ima",
        "icache": 8192,
        "icache_ways": 2,
        "dcache": 8192,
        "dcache_ways": 2,
        "itlb": 4,
        "dtlb": 4,
        "line": 64,
    },
    "memory": {"base": 0x40000000, "size": 32 << 20},
    "rom": {"base": 0, "size": 65536},
    "clint": {"base": 0xF0010000},
    "plic": {"base": 0xF0C00000, "sources": 7},
    "soc_controller": {"base": 0xF0000000},
    "uart": {"base": 0xF0001000, "irq": 1},
    "nic": "moderato",
    "macs": [
        {"base": 0xF1000000, "size": 4096, "rx_irq": 3, "tx_irq": 4},
        {"base": 0xF1001000, "size": 4096, "rx_irq": 5, "tx_irq": 6},
    ],
}


def run(*command) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


@pytest.fixture
def schemas(tmp_path) -> Path:
    """A folder with the bindings and the schemas that they refer to."""
    folder = tmp_path / "bindings" / "net"
    folder.mkdir(parents=True)
    for binding in BINDINGS:
        shutil.copy(binding, folder)
    for name in KERNEL_SCHEMAS:
        shutil.copy(kernel.source() / "Documentation/devicetree/bindings/net" / name, folder)
    return folder


def complaints(schemas: Path, source: str) -> list[str]:
    """The checker's messages about MACs and MDIO in a device tree source."""
    text, blob = schemas.parent / "test.dts", schemas.parent / "test.dtb"
    text.write_text(source)
    compiled = run("dtc", "-I", "dts", "-O", "dtb", "-o", blob, text)
    assert blob.is_file(), compiled.stdout
    output = run(programs("dtschema") / "dt-validate", "-s", schemas, blob).stdout
    return [line for line in output.splitlines() if "ethernet@" in line or "mdio@" in line]


@pytest.mark.parametrize("binding", BINDINGS, ids=lambda path: path.stem)
def test_schema_is_valid(schemas, binding):
    result = run(programs("dtschema") / "dt-doc-validate", "-u", schemas.parent, schemas / binding.name)
    assert result.stdout == ""


def test_invalid_schema_is_noticed(schemas):
    bad = schemas / BINDING.name
    bad.write_text(bad.read_text().replace("maxItems: 1", "maxitems: 1"))
    assert "maxitems" in run(programs("dtschema") / "dt-doc-validate", "-u", schemas.parent, bad).stdout


@pytest.mark.parametrize("binding, node", [(BINDING, "ethernet@"), (MDIO_BINDING, "mdio@")])
def test_example_passes(schemas, binding, node):
    example = run(programs("dtschema") / "dt-extract-example", schemas / binding.name).stdout
    assert node in example
    assert complaints(schemas, example) == []


def test_device_tree_of_the_soc_passes(schemas):
    assert complaints(schemas, devicetree.dts(SOC)) == []


def test_device_tree_of_peers_passes(schemas):
    macs = [{**mac, "peer": 1 - port} for port, mac in enumerate(SOC["macs"])]
    source = devicetree.dts({**SOC, "macs": macs})
    assert complaints(schemas, source) == []
    two = source.replace("moderato,peer = <&mac1>", "moderato,peer = <&mac1>, <&mac0>")
    assert "moderato,peer" in " ".join(complaints(schemas, two))


def test_device_tree_with_phy_handles_passes(schemas):
    """The kernel looks for a chip without an address; the kernel's own schemas require one."""
    phys = tuple(f'phy-mode = "rgmii-id"; phy-handle = <&phy{port}>;' for port in range(2))
    macs = [{**mac, "mdio": 0xF0002804 + 0x1000 * port} for port, mac in enumerate(SOC["macs"])]
    source = devicetree.dts({**SOC, "macs": macs}, devicetree.Options(phys=phys))
    source = re.sub(
        r"(phy\d): ethernet-phy {",
        r"#address-cells = <1>; #size-cells = <0>; "
        r"\1: ethernet-phy@7 { reg = <7>;",
        source,
    )
    assert complaints(schemas, source) == []
    assert complaints(schemas, source.replace("<0xf0002804 0x8>", "<0xf0002804 0x8>, <0 8>"))


@pytest.mark.parametrize(
    "choices",
    [
        {"speed": 100, "mac_address": "02:4d:6f:64:00:00"},
        {"phy": "ethphy", "phy_mode": "rgmii-id", "phy_address": 7},
    ],
)
@pytest.mark.parametrize("coherent", [0, 1])
def test_node_for_other_socs_passes(schemas, choices, coherent):
    """The node alone, made from another SoC's csr.json, passes in a minimal tree."""
    csr = {
        "constants": {"eth0_dma_coherent": coherent, "eth0_rx_interrupt": 2, "eth0_tx_interrupt": 3},
        "memories": {"eth0": {"base": 0x80000000, "size": 4096}},
        "csr_registers": {"ethphy_mdio_w": {"addr": 0xF0002804}, "ethphy_mdio_r": {"addr": 0xF0002808}},
    }
    around = """/dts-v1/;
/ {
    #address-cells = <1>;
    #size-cells = <1>;
    compatible = "litex,soc";
    model = "a SoC";

    soc {
        #address-cells = <1>;
        #size-cells = <1>;
        compatible = "simple-bus";
        interrupt-parent = <&intc0>;
        ranges;

        intc0: interrupt-controller {
            #interrupt-cells = <1>;
            interrupt-controller;
        };
    };
};
"""
    source = around + device_tree.node(csr, **choices)
    assert complaints(schemas, source) == []
    assert complaints(schemas, source.replace('phy-mode = "', 'phy-mode = "not '))


@pytest.mark.parametrize(
    "good, bad, complaint",
    [
        ('interrupt-names = "rx", "tx"', 'interrupt-names = "tx", "rx"', "'rx' was expected"),
        ('phy-mode = "internal";', "", "'phy-mode' is a required property"),
        ("speed = <100>;", "speed = <42>;", "fixed-link"),
    ],
)
def test_wrong_device_tree_is_noticed(schemas, good, bad, complaint):
    source = devicetree.dts(SOC)
    assert good in source
    assert any(complaint in line for line in complaints(schemas, source.replace(good, bad)))
