# SPDX-License-Identifier: BSD-2-Clause
"""The MAC in SoCs that are not ours, elaborated by LiteX's own builder."""

import json
import re

import pytest
from litex.soc.interconnect import axi, wishbone
from migen import run_simulation
from socs import Stranger, build, coherent_cpu

from liteeth.phy.model import LiteEthPHYModel
from moderato import add_moderato
from moderato.gateware.axi_master import AXIMaster

MAIN_BUSES = [("wishbone", 32), ("wishbone", 64), ("axi-lite", 32), ("axi", 32), ("axi", 64)]


@pytest.mark.parametrize("standard, width", MAIN_BUSES)
def test_main_bus(tmp_path, standard, width):
    """Its master has the bus's own width; LiteX's files name its registers and interrupts."""
    soc = Stranger(bus_standard=standard, bus_data_width=width)
    mac = add_moderato(soc, phy=soc.ethphy, name="eth0")
    text = build(soc, tmp_path)

    assert soc.eth0 is mac
    master = soc.eth0_dma.bus
    assert isinstance(master, axi.AXIInterface if standard == "axi" else wishbone.Interface)
    assert master.data_width == width
    if standard != "axi-lite":  # for which LiteX has to adapt it
        assert soc.bus.masters["eth0_dma"] is master, "an adapter of LiteX stands between"

    if standard == "axi-lite":  # to which LiteX converts AXI
        assert soc.bus.slaves["eth0"] is soc.eth0_registers.bus, "an adapter of LiteX stands between"
    assert hasattr(soc, "eth0_registers") == (standard != "wishbone")

    said = json.loads((tmp_path / "csr.json").read_text())
    assert said["memories"]["eth0"]["size"] == 4096
    assert soc.bus.regions["eth0"].cached is False
    assert said["constants"]["eth0_dma_coherent"] == 0
    lines = {said["constants"][f"eth0_{direction}_interrupt"] for direction in ("rx", "tx")}
    assert len(lines) == 2
    driven = {}
    for direction in ("rx", "tx"):
        assert f"eth0_{direction}_ev_enable" in said["csr_registers"]
        assert getattr(soc, f"eth0_{direction}").ev.enable.storage.reset.value == 1
        where = said["constants"][f"eth0_{direction}_interrupt"]
        driven[direction] = re.search(rf"interrupt\[{where}\] <= (\w*_irq);", text)[1]
    assert driven["rx"] != driven["tx"]


@pytest.mark.parametrize("kind, width", [("wishbone", 32), ("wishbone", 64), ("axi", 64)])
def test_coherent_port(tmp_path, kind, width):
    """The CPU's port is taken before the main bus, unless one says otherwise."""
    soc = Stranger(cpu=coherent_cpu(kind, width))
    add_moderato(soc, phy=soc.ethphy, coherent=True)
    assert list(soc.dma_bus.masters) == ["eth0_dma"] and "eth0_dma" not in soc.bus.masters
    assert soc.eth0_dma.bus.data_width == width
    build(soc, tmp_path)
    assert json.loads((tmp_path / "csr.json").read_text())["constants"]["eth0_dma_coherent"] == 1

    soc = Stranger(cpu=coherent_cpu(kind, width))
    add_moderato(soc, phy=soc.ethphy, coherent=False)
    assert "eth0_dma" in soc.bus.masters and not soc.dma_bus.masters


def test_two_at_the_coherent_port(tmp_path):
    """LiteX arbitrates, and no block of its Verilog waits for nothing: a simulator would not run it."""
    soc = Stranger(cpu=coherent_cpu("wishbone", 64))
    for name in ("eth0", "eth1"):
        add_moderato(soc, phy=soc.ethphy, name=name, with_timing_constraints=False)
    assert list(soc.dma_bus.masters) == ["eth0_dma", "eth1_dma"]
    text = build(soc, tmp_path)
    assert re.findall(r"always @\(\*\) begin\n(?:\s+\w+ <= \d+'d\d+;\n)+end", text) == []


def test_long_addresses(tmp_path):
    """Memory beyond 4 GiB, on AXI."""
    soc = Stranger(bus_standard="axi", bus_data_width=64, bus_address_width=64)
    add_moderato(soc, phy=soc.ethphy, address_high=0x12)
    assert len(soc.eth0_dma.bus.aw.addr) == len(soc.bus.masters["eth0_dma"].aw.addr) == 64
    build(soc, tmp_path)


@pytest.mark.parametrize("width", [32, 64])
def test_what_axi_says(width):
    """Upper address bits, AxCACHE, AxPROT and sizes, on both address channels."""
    dma = axi.AXIInterface(data_width=64, address_width=32, id_width=1)
    device = AXIMaster(dma, data_width=width, address_width=40, address_high=0x12, cache=0b1111,
                       prot=0b010)

    def look():
        for asked, said in (dma.aw, device.bus.aw), (dma.ar, device.bus.ar):
            yield asked.addr.eq(0x8765_4340)
            yield asked.len.eq(7)
            yield
            assert (yield said.addr) == 0x12_8765_4340
            assert (yield said.cache) == 0b1111 and (yield said.prot) == 0b010
            assert (yield said.len) == 8*64//width - 1 and (yield said.burst) == axi.BURST_INCR
            assert 8 << (yield said.size) == width

    run_simulation(device, look())


def test_timing_constraints(tmp_path):
    soc = Stranger()
    add_moderato(soc, phy=soc.ethphy)
    build(soc, tmp_path)
    constraints = (tmp_path / "gateware" / "stranger.lpf").read_text()
    assert constraints.count("125.0 MHz") == 2, constraints


def test_system_clock_of_the_soc_itself():
    """Where the SoC has no clock and reset generator, but the domain; without one, it is said."""
    soc = Stranger()
    soc.cd_sys = soc.crg.cd_sys
    del soc.crg
    add_moderato(soc, phy=soc.ethphy)
    assert soc.platform.toolchain.false_paths
    del soc.cd_sys
    with pytest.raises(ValueError, match="with_timing_constraints=False"):
        add_moderato(soc, phy=soc.ethphy, name="eth1")


def test_two(tmp_path):
    """Each has its own name, place and interrupts."""
    soc = Stranger()
    for name in ("eth0", "eth1"):
        add_moderato(soc, phy=soc.ethphy, name=name, with_timing_constraints=False)
    origins = {soc.bus.regions[name].origin for name in ("eth0", "eth1")}
    assert len(origins) == 2
    assert len({soc.irq.locs[f"{name}_{line}"] for name in ("eth0", "eth1")
                for line in ("rx", "tx")}) == 4


def test_without_cpu(tmp_path):
    """Nobody takes interrupts; the rest works as it does."""
    soc = Stranger(cpu=None)
    add_moderato(soc, phy=soc.ethphy)
    assert "eth0" in build(soc, tmp_path)


def test_fixed_address():
    soc = Stranger()
    add_moderato(soc, phy=soc.ethphy, origin=0x9000_0000)
    assert soc.bus.regions["eth0"].origin == 0x9000_0000
    soc = Stranger()
    soc.mem_map["eth0"] = 0xa000_0000
    add_moderato(soc, phy=soc.ethphy)
    assert soc.bus.regions["eth0"].origin == 0xa000_0000


@pytest.mark.parametrize("soc, arguments, says", [
    ({}, {"name": "uart"}, "uart: the SoC has something of this name"),
    ({}, {"coherent": True}, r"no dma_bus: its CPU \(vexriscv\) has no coherent port"),
    ({}, {"address_high": 1}, "address_high is for AXI"),
    ({"bus_standard": "axi"}, {"address_high": 1}, "32 bits has 0 beyond the MAC's 32"),
    ({"bus_data_width": 128}, {}, "128 bits wide; the MAC's masters are 32 or 64"),
    ({}, {"rx_fifo_order": 9}, "rx_fifo_order must be 11"),
], ids=["name", "coherent", "wishbone", "narrow", "wide", "option"])
def test_refusals(soc, arguments, says):
    soc = Stranger(**soc)
    with pytest.raises(ValueError, match=says):
        add_moderato(soc, **{"phy": soc.ethphy, **arguments})


def test_big_endian():
    soc = Stranger()
    soc.cpu.endianness = "big"
    with pytest.raises(ValueError, match="descriptors are little-endian"):
        add_moderato(soc, phy=soc.ethphy)


def test_tap():
    soc = Stranger()
    with pytest.raises(ValueError, match="LiteEthPHYModel wants frames without preamble"):
        add_moderato(soc, phy=object.__new__(LiteEthPHYModel))


def test_finalized(tmp_path):
    soc = Stranger()
    build(soc, tmp_path)
    with pytest.raises(ValueError, match="finalized"):
        add_moderato(soc, phy=soc.ethphy)
