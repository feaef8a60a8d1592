# SPDX-License-Identifier: BSD-2-Clause
"""The MAC's node after the device tree that LiteX's own tool makes from the same csr.json."""

import argparse
import json
import subprocess

import pytest
from litex.soc.cores.cpu.naxriscv import NaxRiscv
from litex.soc.cores.cpu.vexriscv_smp import VexRiscvSMP
from litex.soc.integration.soc import SoCRegion
from litex.tools.litex_json2dts_linux import generate_dts
from socs import Stranger, build, coherent_cpu, second_phy

from moderato import add_moderato
from moderato.integrate import device_tree
from moderato.sim.lab import cli

PLIC = SoCRegion(origin=0xF0C0_0000, size=0x40_0000, cached=False)


@pytest.fixture(scope="module")
def csr_json(tmp_path_factory):
    """csr.json of a SoC with two MACs, changed so that LiteX's tool accepts it. eth0 is coherent."""
    soc = Stranger(cpu=coherent_cpu("wishbone", 32), cpu_variant="linux")
    # Constants that LiteX's CPUs for Linux have, and this CPU lacks.
    soc.bus.add_region("plic", PLIC)
    soc.add_config("CPU_ISA", "rv32ima")
    soc.add_config("CPU_MMU", "sv32")
    add_moderato(soc, phy=soc.ethphy, name="eth0", coherent=True)
    add_moderato(soc, phy=second_phy(soc), name="eth1", phy_cd="eth1", coherent=False)
    folder = tmp_path_factory.mktemp("soc")
    build(soc, folder)
    said = json.loads((folder / "csr.json").read_text())
    # LiteEth's MDIO registers; this SoC's PHY has no pads for them.
    said["csr_registers"] |= {
        "ethphy_mdio_w": {"addr": 0xF000_2804, "size": 1, "type": "rw"},
        "ethphy_mdio_r": {"addr": 0xF000_2808, "size": 1, "type": "ro"},
    }
    file = folder / "csr.json"
    file.write_text(json.dumps(said))
    return file


def printed(capsys, *words) -> str:
    assert cli.main(["node", *(str(word) for word in words)]) == 0
    return capsys.readouterr().out


def rejected(capsys, *words) -> str:
    assert cli.main(["node", *(str(word) for word in words)]) == 2
    return capsys.readouterr().err


def compiled(tmp_path, csr_json, nodes: str):
    """A function that reads LiteX's tree with `nodes` through fdtget. dtc must not warn about the
    nodes."""
    source, blob = tmp_path / "soc.dts", tmp_path / "soc.dtb"
    source.write_text(generate_dts(json.loads(csr_json.read_text())) + nodes)
    dtc = subprocess.run(
        ["dtc", "-I", "dts", "-O", "dtb", "-o", blob, source], text=True, capture_output=True
    )
    assert dtc.returncode == 0, dtc.stderr
    assert not any(word in dtc.stderr for word in ("ethernet", "mdio")), dtc.stderr

    def get(node, name, kind):
        return subprocess.run(
            ["fdtget", "-t", kind, blob, node, name], text=True, check=True, capture_output=True
        ).stdout.split()

    return get


def test_in_litex_tree(tmp_path, capsys, csr_json):
    """Both MACs: one with a fixed link, the other with a PHY chip on MDIO."""
    nodes = printed(
        capsys, csr_json, "--mac", "eth0", "--speed", 100, "--mac-address", "02:4D:6f:64:00:00"
    )
    nodes += printed(
        capsys,
        csr_json,
        "--mac",
        "eth1",
        "--phy",
        "ethphy",
        "--phy-mode",
        "rgmii-id",
        "--phy-address",
        7,
    )
    get = compiled(tmp_path, csr_json, nodes)
    said = json.loads(csr_json.read_text())
    for name, region in said["memories"].items():
        if not name.startswith("eth"):
            continue
        node = f"/soc/ethernet@{region['base']:x}"
        assert get(node, "compatible", "s") == ["moderato,mac-1.0"]
        assert [int(cell, 16) for cell in get(node, "reg", "x")] == [region["base"], region["size"]]
        assert [int(cell) for cell in get(node, "interrupts", "u")] == [
            said["constants"][f"{name}_{line}_interrupt"] for line in ("rx", "tx")
        ]
        assert get(node, "interrupt-names", "s") == ["rx", "tx"]
    eth0, eth1 = (f"/soc/ethernet@{said['memories'][name]['base']:x}" for name in ("eth0", "eth1"))
    assert get(eth0, "local-mac-address", "bx") == "2 4d 6f 64 0 0".split()
    assert get(f"{eth0}/fixed-link", "speed", "u") == ["100"]
    assert get(eth1, "phy-mode", "s") == ["rgmii-id"]
    assert get(eth1, "phy-handle", "x") == get("/soc/mdio@f0002804/ethernet-phy@7", "phandle", "x")
    assert get(eth1, "dma-noncoherent", "x") == []
    with pytest.raises(subprocess.CalledProcessError):
        get(eth0, "dma-noncoherent", "x")


def test_nodes_name_their_peers(tmp_path, capsys, csr_json):
    said = json.loads(csr_json.read_text())
    said["constants"] |= {"eth0_peer": "eth1", "eth1_peer": "eth0"}
    paired = tmp_path / "csr.json"
    paired.write_text(json.dumps(said))
    nodes = printed(capsys, paired, "--mac", "eth0") + printed(capsys, paired, "--mac", "eth1")
    get = compiled(tmp_path, paired, nodes)
    eth0, eth1 = (f"/soc/ethernet@{said['memories'][name]['base']:x}" for name in ("eth0", "eth1"))
    for one, other in (eth0, eth1), (eth1, eth0):
        assert get(one, "moderato,peer", "x") == get(other, "phandle", "x")


def test_phy_address_is_optional(tmp_path, capsys, csr_json):
    nodes = printed(capsys, csr_json, "--mac", "eth1", "--phy", "ethphy")
    get = compiled(tmp_path, csr_json, nodes)
    assert get("/soc/mdio@f0002804", "compatible", "s") == ["litex,liteeth-mdio"]
    with pytest.raises(subprocess.CalledProcessError):
        get("/soc/mdio@f0002804/ethernet-phy", "reg", "x")


def test_rocket_interrupts_start_at_one(csr_json):
    said = json.loads(csr_json.read_text())
    before = device_tree.interrupts(said, "eth0")
    said["constants"]["config_cpu_name"] = "rocket"
    assert device_tree.interrupts(said, "eth0") == {name: line + 1 for name, line in before.items()}


def test_aplic_interrupts_have_two_cells(csr_json):
    """LiteX after 2024.12 has CPUs with an APLIC."""
    said = json.loads(csr_json.read_text())
    said["memories"]["aplic_m"] = said["memories"]["plic"]
    lines = device_tree.interrupts(said, "eth0")
    assert f"interrupts = <{lines['rx']} 4>, <{lines['tx']} 4>;" in device_tree.node(said, "eth0")


# LiteX's CPU classes, without their netlists, which these tests do not need.
def of_smp(monkeypatch):
    monkeypatch.setattr(VexRiscvSMP, "add_sources", lambda *_: None)
    return Stranger(cpu="vexriscv_smp", cpu_variant="linux")


def of_nax(monkeypatch):
    for name in ("find_scala_files", "add_sources", "generate_netlist_name"):
        monkeypatch.setattr(NaxRiscv, name, lambda *_: None)
    parser = argparse.ArgumentParser()
    NaxRiscv.args_fill(parser)
    NaxRiscv.args_read(parser.parse_args([]))
    monkeypatch.setattr(NaxRiscv, "netlist_name", "none", raising=False)
    return Stranger(cpu="naxriscv")


@pytest.mark.parametrize("made", [of_smp, of_nax])
def test_cpus_of_the_integration_page(monkeypatch, tmp_path, capsys, made):
    """examples/linux-rocket tests Rocket."""
    soc = made(monkeypatch)
    add_moderato(soc, phy=soc.ethphy)
    build(soc, tmp_path)
    capsys.readouterr()
    nodes = printed(capsys, tmp_path / "csr.json")
    get = compiled(tmp_path, tmp_path / "csr.json", nodes)
    where = soc.bus.regions["eth0"].origin
    assert get(f"/soc/ethernet@{where:x}", "interrupt-names", "s") == ["rx", "tx"]


def test_names_a_cpu_unknown_to_litex_tool(tmp_path, capsys):
    soc = Stranger(cpu_variant="linux")
    add_moderato(soc, phy=soc.ethphy)
    build(soc, tmp_path)
    file = tmp_path / "csr.json"
    with pytest.raises(TypeError):
        generate_dts(json.loads(file.read_text()))
    assert cli.main(["node", str(file)]) == 0
    said = capsys.readouterr()
    assert "ethernet@" in said.out and "(vexriscv)" in said.err and "VexRiscv-SMP" in said.err


def without(key, *path):
    def change(said):
        for step in path:
            said = said[step]
        del said[key]

    return change


def far(said):
    said["memories"]["eth0"]["base"] = 1 << 32


@pytest.mark.parametrize(
    "change, words, says",
    [
        (None, [], "this SoC has eth0, eth1; choose one with --mac"),
        (None, ["--mac", "eth2"], "this SoC has no MAC eth2, but eth0, eth1"),
        (
            None,
            ["--mac", "eth0", "--phy", "other"],
            "this SoC has no PHY other with MDIO; PHYs with MDIO: ethphy",
        ),
        (None, ["--mac", "eth0", "--phy-address", "1"], "--phy-address wants --phy"),
        (None, ["--mac", "eth0", "--mac-address", "03:00:00:00:00:00"], "is no address of a station"),
        (without("eth0_rx_interrupt", "constants"), ["--mac", "eth0"], "is there a CPU?"),
        (without("memories"), ["--mac", "eth0"], "it has no memories"),
        (without("eth0", "memories"), ["--mac", "eth0"], "eth0 has no region"),
        (lambda said: said["constants"].clear(), [], "this SoC has no MAC of add_moderato()"),
        (far, ["--mac", "eth0"], "above 4 GiB"),
    ],
)
def test_rejects_wrong_commands(tmp_path, capsys, csr_json, change, words, says):
    said = json.loads(csr_json.read_text())
    if change:
        change(said)
    file = tmp_path / "csr.json"
    file.write_text(json.dumps(said))
    assert says in rejected(capsys, file, *words)


@pytest.mark.parametrize(
    "content, says",
    [
        ("addr,", "this file is no csr.json"),
        ("[]", "this file is no csr.json"),
        ("[" * 100_000, "this file is no csr.json"),
        ("\0", "LiteX's builder writes"),
        ("{}", "wrote no such csr.json"),
        (None, "does not exist"),
    ],
)
def test_rejects_other_files(tmp_path, capsys, content, says):
    file = tmp_path / "csr.json"
    if content is not None:
        file.write_text(content)
    assert says in rejected(capsys, file)
