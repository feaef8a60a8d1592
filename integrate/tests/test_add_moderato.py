# SPDX-License-Identifier: BSD-2-Clause
"""The MAC in SoCs other than ours, elaborated by LiteX's own builder."""

import json
import re
from functools import partial
from inspect import signature

import pytest
from liteeth.phy.ecp5rgmii import LiteEthPHYRGMII
from liteeth.phy.model import LiteEthPHYModel
from litex.build.generic_platform import GenericPlatform
from litex.build.sim import SimPlatform
from litex.gen import LiteXModule
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import axi, wishbone
from migen import Record, run_simulation
from socs import IO, Stranger, build, coherent_cpu, renamed, second_pads, second_phy, with_sdram

from moderato import add_moderato
from moderato.gateware.bus.axi_master import AXIMaster
from moderato.gateware.flows.pair import FlowPair
from moderato.gateware.phy.rates import PHYRates
from moderato.gateware.phy.rgmii_ecp5 import RGMIIECP5
from moderato.gateware.phy.sim import SimPHY, sim_phy_pads

MAIN_BUSES = [
    ("wishbone", 32),
    ("wishbone", 64),
    ("axi-lite", 32),
    ("axi-lite", 64),
    ("axi", 32),
    ("axi", 64),
]


@pytest.mark.parametrize("standard, width", MAIN_BUSES)
def test_main_bus(tmp_path, standard, width):
    """The MAC's master has the width of the bus; LiteX's files name its registers and interrupts."""
    soc = Stranger(bus_standard=standard, bus_data_width=width)
    mac = add_moderato(soc, phy=soc.ethphy, name="eth0")
    text = build(soc, tmp_path)

    assert soc.eth0 is mac
    master = soc.eth0_dma.bus
    assert isinstance(master, axi.AXIInterface if standard == "axi" else wishbone.Interface)
    assert master.data_width == width
    if standard != "axi-lite":  # LiteX needs an adapter for AXI-Lite
        assert soc.bus.masters["eth0_dma"] is master, "LiteX added an adapter"

    has_bridge = (standard, width) != ("wishbone", 32)
    assert hasattr(soc, "eth0_registers") == has_bridge
    served = soc.eth0_registers.bus if has_bridge else mac.bus
    assert soc.bus.slaves["eth0"] is served, "LiteX added an adapter"

    said = json.loads((tmp_path / "csr.json").read_text())
    assert said["memories"]["eth0"]["size"] == 4096
    assert soc.bus.regions["eth0"].cached is False
    assert said["constants"]["eth0_dma_coherent"] == 0
    lines = {said["constants"][f"eth0_{direction}_interrupt"] for direction in ("rx", "tx")}
    assert len(lines) == 2
    driven = {}  # LiteX up to 2024 also writes <= there
    for direction in ("rx", "tx"):
        assert f"eth0_{direction}_ev_enable" in said["csr_registers"]
        assert getattr(soc, f"eth0_{direction}").ev.enable.storage.reset.value == 1
        where = said["constants"][f"eth0_{direction}_interrupt"]
        driven[direction] = re.search(rf"interrupt\[{where}\] <?= (\w*_irq);", text)[1]
    assert driven["rx"] != driven["tx"]


@pytest.mark.parametrize("kind, width", [("wishbone", 32), ("wishbone", 64), ("axi", 64)])
def test_coherent_port(tmp_path, kind, width):
    """The DMA prefers the CPU's coherent port to the main bus, unless coherent=False."""
    soc = Stranger(cpu=coherent_cpu(kind, width))
    add_moderato(soc, phy=soc.ethphy, coherent=True)
    assert list(soc.dma_bus.masters) == ["eth0_dma"] and "eth0_dma" not in soc.bus.masters
    assert soc.eth0_dma.bus.data_width == width
    build(soc, tmp_path)
    assert json.loads((tmp_path / "csr.json").read_text())["constants"]["eth0_dma_coherent"] == 1

    soc = Stranger(cpu=coherent_cpu(kind, width))
    add_moderato(soc, phy=soc.ethphy, coherent=False)
    assert "eth0_dma" in soc.bus.masters and not soc.dma_bus.masters


def test_two_macs_share_the_coherent_port(tmp_path):
    """LiteX arbitrates. No always block is without inputs, because a simulator would never run it."""
    soc = Stranger(cpu=coherent_cpu("wishbone", 64))
    add_two(soc)
    assert list(soc.dma_bus.masters) == ["eth0_dma", "eth1_dma"]
    text = build(soc, tmp_path)
    assert re.findall(r"always @\(\*\) begin\n(?:\s+\w+ <?= \d+'d\d+;\n)+end", text) == []


def test_axi_reaches_memory_above_4_gib(tmp_path):
    soc = Stranger(bus_standard="axi", bus_data_width=64, bus_address_width=64)
    add_moderato(soc, phy=soc.ethphy, address_high=0x12)
    assert len(soc.eth0_dma.bus.aw.addr) == len(soc.bus.masters["eth0_dma"].aw.addr) == 64
    build(soc, tmp_path)


@pytest.mark.parametrize("width", [32, 64])
def test_axi_address_channels(width):
    """Upper address bits, AxCACHE, AxPROT and sizes, on both address channels."""
    dma = axi.AXIInterface(data_width=64, address_width=32, id_width=1)
    device = AXIMaster(
        dma, data_width=width, address_width=40, address_high=0x12, cache=0b1111, prot=0b010
    )

    def look():
        for asked, said in (dma.aw, device.bus.aw), (dma.ar, device.bus.ar):
            yield asked.addr.eq(0x8765_4340)
            yield asked.len.eq(7)
            yield
            assert (yield said.addr) == 0x12_8765_4340
            assert (yield said.cache) == 0b1111 and (yield said.prot) == 0b010
            assert (yield said.len) == 8 * 64 // width - 1 and (yield said.burst) == axi.BURST_INCR
            assert 8 << (yield said.size) == width

    run_simulation(device, look())


def test_axcache_forbids_early_write_responses():
    """If an interconnect could answer (bit 0 of AxCACHE), a status could overtake the data."""
    device = AXIMaster(axi.AXIInterface(data_width=64, address_width=32, id_width=1))

    def look():
        yield
        assert (yield device.bus.aw.cache) == (yield device.bus.ar.cache) == 0b0010

    run_simulation(device, look())


class Around(LiteXModule):
    """A SoC's own PHY wrapper, with only the attributes that the MAC needs."""

    def __init__(self, phy):
        self.inner = phy
        self.sink, self.source, self.dw = phy.sink, phy.source, phy.dw


@pytest.mark.parametrize(
    "make",
    [
        lambda pads, _: LiteEthPHYRGMII(*pads),
        lambda pads, clock: PHYRates(LiteEthPHYRGMII(*pads), clock),
        lambda pads, clock: RGMIIECP5(*pads, clock),
        lambda pads, clock: Around(PHYRates(LiteEthPHYRGMII(*pads), clock)),
    ],
    ids=["LiteEth's", "with rates", "ours", "around"],
)
def test_timing_constraints(tmp_path, make):
    """Both clocks get periods, and false paths to sys, also when a wrapper contains the PHY."""
    soc = Stranger()
    soc.ethphy1 = renamed(make(second_pads(soc), soc.sys_clk_freq))
    add_moderato(soc, phy=soc.ethphy1, phy_cd="eth1")
    build(soc, tmp_path)
    constraints = (tmp_path / "gateware" / "stranger.lpf").read_text()
    assert constraints.count("125.0 MHz") == 2, constraints
    assert soc.platform.toolchain.false_paths


@pytest.mark.parametrize("one, other", [("phy", "phy"), ("phy", "around"), ("around", "phy")])
def test_rejects_a_phy_for_two_macs(one, other):
    """Both MACs would drive its sink, and read its source."""
    soc = Stranger()
    phys = {"phy": soc.ethphy, "around": Around(soc.ethphy)}
    add_moderato(soc, phy=phys[one], with_timing_constraints=False, flows=9)
    with pytest.raises(ValueError, match="eth1: its .* is the PHY of eth0; give each MAC its own"):
        add_moderato(soc, phy=phys[other], name="eth1", flows=9, peer="eth0")


def test_phy_stays_free_after_an_error():
    soc = Stranger()
    with pytest.raises(ValueError):
        add_moderato(soc, phy=soc.ethphy, flows=1)
    add_moderato(soc, phy=soc.ethphy)


def test_rejects_a_phy_outside_the_soc(tmp_path):
    """Nothing would drive its pads, and the MAC would use the clock domains of the SoC's own PHY."""
    soc = Stranger()
    add_moderato(soc, phy=LiteEthPHYRGMII(*second_pads(soc)))
    with pytest.raises(ValueError, match="eth0: its LiteEthPHYRGMII is no part of the SoC; add it"):
        build(soc, tmp_path)


def test_phy_may_be_added_after_its_mac(tmp_path):
    soc = Stranger()
    phy = renamed(LiteEthPHYRGMII(*second_pads(soc)))
    add_moderato(soc, phy=phy, phy_cd="eth1")
    soc.ethphy1 = phy
    assert "posedge eth1_rx_clk)" in build(soc, tmp_path)


def test_system_clock_without_a_crg():
    """The SoC itself has the clock domain; an error names a SoC without one."""
    soc = Stranger()
    soc.cd_sys = soc.crg.cd_sys
    del soc.crg
    add_moderato(soc, phy=soc.ethphy)
    assert soc.platform.toolchain.false_paths
    del soc.cd_sys
    with pytest.raises(ValueError, match="with_timing_constraints=False"):
        add_moderato(soc, phy=second_phy(soc), name="eth1", phy_cd="eth1")


@pytest.mark.parametrize("linker", [False, True])
def test_registers_overlap_no_region(linker):
    """This includes a region inside the CPU, which LiteX marks `linker`."""

    def made(**arguments):
        soc = Stranger()
        soc.bus.add_region(
            "plic", SoCRegion(origin=0x8000_0000, size=0x40_0000, cached=False, linker=linker)
        )
        add_moderato(soc, phy=soc.ethphy, **arguments)
        assert soc.bus.regions["plic"].linker == linker
        return soc.bus.regions["eth0"].origin

    assert made() >= 0x8040_0000
    with pytest.raises(ValueError, match="can't be at 0x80001000, where plic is"):
        made(origin=0x8000_1000)


def add_two(soc, **options):
    add_moderato(soc, phy=soc.ethphy, name="eth0", **options)
    add_moderato(soc, phy=second_phy(soc), name="eth1", phy_cd="eth1", **options)


def test_two_phys(tmp_path):
    soc = Stranger()
    add_two(soc)
    text = build(soc, tmp_path)
    assert text.count("posedge eth1_rx_clk)") == text.count("posedge eth_rx_clk)") > 1


@pytest.mark.parametrize(
    "phy_cd, says",
    [
        (
            "eth",
            'eth1: phy_cd is eth, but .* LiteEthPHYRGMII are eth1_rx, eth1_tx.*; write phy_cd="eth1"',
        ),
        ("eht1", 'write phy_cd="eth1"'),
    ],
)
@pytest.mark.parametrize("alone", [False, True])
def test_rejects_clock_domains_of_another_phy(tmp_path, alone, phy_cd, says):
    """Otherwise MAC and PHY would be in different domains without a crossing, as only hardware shows."""
    soc = Stranger()
    if not alone:
        add_moderato(soc, phy=soc.ethphy, name="eth0")
    add_moderato(soc, phy=second_phy(soc), name="eth1", phy_cd=phy_cd)
    with pytest.raises(ValueError, match=says):
        build(soc, tmp_path)


def test_platform_without_constraints(tmp_path):
    """LiteX's simulator has no constraints, and a vendor's platform has periods only."""
    soc = Stranger(cpu=None, platform=SimPlatform("SIM", list(IO)))
    add_moderato(soc, phy=soc.ethphy)

    soc = Stranger()
    soc.platform.add_false_path_constraint = partial(GenericPlatform.add_false_path_constraint, None)
    add_moderato(soc, phy=soc.ethphy)
    build(soc, tmp_path)
    assert (tmp_path / "gateware" / "stranger.lpf").read_text().count("125.0 MHz") == 2


def test_two_macs(tmp_path):
    """Each MAC has its own name, address and interrupts."""
    soc = Stranger()
    add_two(soc)
    origins = {soc.bus.regions[name].origin for name in ("eth0", "eth1")}
    assert len(origins) == 2
    assert (
        len({soc.irq.locs[f"{name}_{line}"] for name in ("eth0", "eth1") for line in ("rx", "tx")}) == 4
    )


def test_flow_pair(tmp_path):
    """Each MAC sends the frames that its peer forwards, and checks the room in the peer's FIFO."""
    soc = Stranger()
    one = add_moderato(soc, phy=soc.ethphy, name="eth0", flows=9)
    second = {"phy": second_phy(soc), "name": "eth1", "phy_cd": "eth1"}
    with pytest.raises(ValueError, match="eth1 and eth0 can't forward .* such as flows=9"):
        add_moderato(soc, **second, peer="eth0")
    for wrong in ("eth2", "", "ethphy", 0):
        with pytest.raises(ValueError, match=f"eth1: peer is {wrong!r}, but the SoC has no MAC of"):
            add_moderato(soc, **second, flows=9, peer=wrong)
    add_moderato(soc, **second, flows=5, peer="eth0")
    with pytest.raises(ValueError, match="eth2: eth0 has a peer already"):
        phy = SimPHY(Record(sim_phy_pads(1)), soc.sys_clk_freq)
        add_moderato(soc, phy=phy, name="eth2", flows=9, peer="eth0")
    build(soc, tmp_path)
    constants = json.loads((tmp_path / "csr.json").read_text())["constants"]
    assert (constants["eth0_peer"], constants["eth1_peer"]) == ("eth1", "eth0")
    assert one.flows is not None


def test_rejects_a_pair_that_would_lose_tags():
    soc = Stranger()
    add_moderato(soc, phy=soc.ethphy, name="eth0", flows=9, vlan=True)
    with pytest.raises(ValueError, match="eth1 and eth0: .* build both with vlan=True, or none"):
        add_moderato(soc, phy=second_phy(soc), name="eth1", phy_cd="eth1", flows=9, peer="eth0")


@pytest.mark.parametrize("tables", [{"eth0": 9}, {"eth1": 9}, {"eth0": 9, "eth1": 9}])
def test_rejects_a_flow_table_without_a_peer(tmp_path, tables):
    """A SoC's own FlowPair also counts as a peer."""

    def made():
        soc = Stranger()
        for name, phy in ("eth0", soc.ethphy), ("eth1", second_phy(soc)):
            add_moderato(
                soc, phy=phy, name=name, phy_cd=name.removesuffix("0"), flows=tables.get(name, 0)
            )
        return soc

    first = min(tables)
    with pytest.raises(ValueError, match=f'{first}: .* flows and peer="{first}", or leave flows out'):
        build(made(), tmp_path)
    soc = made()
    if len(tables) == 2:
        soc.pair = FlowPair(soc.eth0, soc.eth1)
        build(soc, tmp_path)


@pytest.mark.parametrize(
    "cpu, l2_size, coherent, says",
    [
        ("direct", 8192, None, r"eth0: .* through an L2 cache.*--with-coherent-dma.*--l2-size 0"),
        ("direct", 0, None, None),
        ("direct_coherent", 8192, False, "eth0: the main bus does not reach main_ram.*coherent=False"),
        ("direct_coherent", 8192, None, None),
        ("vexriscv", 8192, None, None),
    ],
)
def test_main_bus_reaches_the_cpu_memory(tmp_path, cpu, l2_size, coherent, says):
    """If the CPU bypasses the main bus, the DMA must not use the main bus."""
    soc = with_sdram(cpu, l2_size)
    add_moderato(soc, phy=soc.ethphy, coherent=coherent)
    if says is None:
        build(soc, tmp_path)
        return
    with pytest.raises(ValueError, match=says):
        build(soc, tmp_path)


def test_without_cpu(tmp_path):
    """The MAC works without interrupts."""
    soc = Stranger(cpu=None)
    add_moderato(soc, phy=soc.ethphy)
    assert "eth0" in build(soc, tmp_path)


def test_fixed_address():
    soc = Stranger()
    add_moderato(soc, phy=soc.ethphy, origin=0x9000_0000)
    assert soc.bus.regions["eth0"].origin == 0x9000_0000
    soc = Stranger()
    soc.mem_map["eth0"] = 0xA000_0000
    add_moderato(soc, phy=soc.ethphy)
    assert soc.bus.regions["eth0"].origin == 0xA000_0000


@pytest.mark.parametrize(
    "soc, arguments, says",
    [
        ({}, {"name": "uart"}, "uart: the SoC uses this name already"),
        ({}, {"coherent": True}, r"no dma_bus: its CPU \(vexriscv\) has no coherent port"),
        ({}, {"address_high": 1}, "address_high is for AXI"),
        ({"bus_standard": "axi"}, {"address_high": 1}, "32 bits has 0 beyond the MAC's 32"),
        ({"bus_standard": "axi"}, {"cache": 99}, "eth0: cache must be 0 to 0xf, not 99: AxCACHE"),
        ({"bus_data_width": 128}, {}, "128 bits wide; the MAC's masters are 32 or 64"),
        ({}, {"rx_fifo_order": 9}, "eth0: rx_fifo_order must be 11"),
        ({}, {"rx_fifo_order": "4k"}, "eth0: rx_fifo_order must be 11 to 14, not '4k'"),
        ({}, {"max_frames": 0}, "eth0: max_frames must be 5 to 4096, not 0"),
        ({}, {"max_frames": True}, "max_frames must be 5 to 4096, not True"),
        ({}, {"unicast": -1}, "unicast must be 0 to 8, not -1"),
        ({}, {"urgent": "no"}, "urgent must be True or False, not 'no'"),
        ({}, {"flows": 2}, "eth0: flows must be 3 at least, not 2"),
        ({}, {"flow_nat": True}, "eth0: flow_nat needs flows"),
        (
            {},
            {"checksum": True},
            r"no option checksum; did you mean .x_checksum\? \(known: rx_fifo_order, ",
        ),
        ({}, {"phy_cd": "sys"}, 'phy_cd is sys, but LiteEthPHYRGMII .*, such as phy_cd="eth"'),
        ({}, {"phy_cd": None}, 'phy_cd is None; .* such as phy_cd="eth"'),
        ({}, {"phy_cd": ""}, "phy_cd is ''; "),
        ({}, {"phy": None}, "eth0: phy is None, which is no LiteEth PHY"),
        ({}, {"phy": "ethphy"}, "phy is 'ethphy', which is no LiteEth PHY; write phy=soc.ethphy"),
        ({}, {"coherent": "yes"}, "eth0: coherent must be True or False or None, not 'yes'"),
        (
            {},
            {"with_timing_constraints": None},
            "with_timing_constraints must be True or False, not None",
        ),
        ({}, {"cache": 99}, "eth0: cache is for AXI; this SoC's bus for DMA is wishbone"),
        ({}, {"prot": 1}, "eth0: prot is for AXI"),
        ({}, {"name": "eth 0"}, "name is 'eth 0', .* such as eth0"),
        ({}, {"name": "0eth"}, "name is '0eth'"),
        ({}, {"name": "main_ram"}, "main_ram: the SoC uses this name already"),
        ({}, {"origin": "4k"}, "eth0: its registers can't be at '4k'; write a multiple of 0x1000"),
        ({}, {"origin": 0x9000_0800}, "write a multiple of 0x1000"),
        ({}, {"origin": 0x1000_0000}, "can't be at 0x10000000, where sram is; without origin"),
    ],
)
def test_rejects_wrong_arguments(soc, arguments, says):
    soc = Stranger(**soc)
    with pytest.raises(ValueError, match=says):
        add_moderato(soc, **{"phy": soc.ethphy, **arguments})


@pytest.mark.parametrize("name, most", [("address_high", 2**32 - 1), ("cache", 15), ("prot", 7)])
def test_ranges_of_axi_arguments(name, most):
    def master(value):
        return AXIMaster(
            axi.AXIInterface(data_width=64, address_width=32, id_width=1),
            address_width=64,
            **{name: value},
        )

    for value in (-1, most + 1, 1.0, "1", None, True):
        with pytest.raises(ValueError, match=f"{name} must be 0 to {most:#x}, not {value!r}: "):
            master(value)
    for value in (0, most):
        master(value)


def test_every_argument_has_a_wrong_case():
    marks = test_rejects_wrong_arguments.pytestmark
    tried = {name for mark in marks for case in mark.args[1] for name in case[1]}
    assert set(signature(add_moderato).parameters) - {"soc", "options", "peer"} <= tried


def test_rejects_big_endian_cpu():
    soc = Stranger()
    soc.cpu.endianness = "big"
    with pytest.raises(ValueError, match="descriptors are little-endian"):
        add_moderato(soc, phy=soc.ethphy)


def test_rejects_the_simulator_tap_phy():
    soc = Stranger()
    with pytest.raises(ValueError, match="LiteEthPHYModel expects frames without preamble"):
        add_moderato(soc, phy=object.__new__(LiteEthPHYModel))


def test_rejects_a_finalized_soc(tmp_path):
    soc = Stranger()
    build(soc, tmp_path)
    with pytest.raises(ValueError, match="finalized"):
        add_moderato(soc, phy=soc.ethphy)
