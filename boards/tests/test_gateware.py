# SPDX-License-Identifier: BSD-2-Clause
"""Requirements on a board's Verilog, constraints and BIOS, checked without building a bitstream."""

import json
import re
import subprocess

import pytest

from moderato.boards import BOARDS, WITHOUT_LINUX
from moderato.boards.gateware import board_class, gateware
from moderato.boards.images import files, has_linux, phy, write
from moderato.soc.linux.devicetree import Options, dts
from moderato.soc.soc import NICS

# `moderato bitstream` rejects LiteEth's MACs without Linux, because no other driver exists.
SMALL = "colorlight_5a_75b"
LINUX = [
    *((board, nic) for board in BOARDS if board != SMALL for nic in NICS),
    ("ecpix5", "moderato", 2),  # with two harts
    ("versa_ecp5", "moderato", 1, "negotiated"),
    ("versa_ecp5", "flows"),
    ("ecpix5", "offload", 2),
    ("versa_ecp5", "time"),
]


def name(build: tuple) -> str:
    return "-".join(map(str, build))


@pytest.fixture(scope="module", params=[*LINUX, (SMALL, "moderato")], ids=name)
def built(request):
    board, nic, *options = request.param
    return board, nic, gateware(board, nic, *options)


def ports(verilog: str) -> dict[str, tuple[str, int]]:
    """Direction and width of each port of the top module."""
    head = verilog[verilog.index("module top") : verilog.index(");")]
    found = re.findall(r"(input|output|inout)\s+(?:wire|reg)\s+(?:\[(\d+):0\])?\s*(\w+)", head)
    return {name: (direction, int(high or 0) + 1) for direction, high, name in found}


def test_every_pin_is_placed(built):
    _board, _nic, folder = built
    pins = ports((folder / "top.v").read_text())
    sites = dict(re.findall(r'LOCATE COMP "(\S+)" SITE "(\w+)";', (folder / "top.lpf").read_text()))
    wanted = {
        name if width == 1 else f"{name}[{bit}]"
        for name, (_direction, width) in pins.items()
        for bit in range(width)
    }
    assert set(sites) == wanted
    assert len(set(sites.values())) == len(sites), "two signals on one pin"


def test_every_pin_has_a_standard(built):
    _board, _nic, folder = built
    text = (folder / "top.lpf").read_text()
    assert set(re.findall(r'LOCATE COMP "(\S+)"', text)) == set(
        re.findall(r'IOBUF PORT "(\S+)" IO_TYPE=', text)
    )


def test_every_clock_has_a_period(built):
    """Input clocks; nextpnr derives the clocks of PLLs and dividers from them."""
    board, _nic, folder = built
    pins = ports((folder / "top.v").read_text())
    clocks = {
        name
        for name, (direction, _width) in pins.items()
        if direction == "input" and re.fullmatch(r"clk\d+|eth_clocks\d*_rx", name)
    }
    periods = dict(re.findall(r'FREQUENCY PORT "(\w+)" ([\d.]+) MHz;', (folder / "top.lpf").read_text()))
    assert set(periods) == clocks
    assert len(clocks) == 1 + board_class(board).ports
    assert all(float(rate) == 125 for name, rate in periods.items() if name.startswith("eth"))


def test_without_linux_lists_the_boards_with_little_memory(built):
    board, _, folder = built
    soc = json.loads((folder / "soc.json").read_text())
    assert (board not in WITHOUT_LINUX) == has_linux(soc)


def test_bios_fits_its_rom(built):
    board, _nic, folder = built
    assert 0 < (folder / "bios.bin").stat().st_size <= board_class(board).rom_size


def test_bios_boots_from_the_network(built):
    """cocotb-tests/boards/test_board_netboot.py also simulates this with our MAC."""
    _board, _nic, folder = built
    assert b"Booting from network" in (folder / "bios.bin").read_bytes()


@pytest.mark.parametrize("built", LINUX, indirect=True, ids=name)
def test_device_tree(built, tmp_path):
    board, nic, folder = built
    soc = json.loads((folder / "soc.json").read_text())
    assert has_linux(soc)
    text = dts(
        soc, Options(initrd_size=1 << 20, phys=tuple(phy(soc, port) for port in range(len(soc["macs"]))))
    )
    source = tmp_path / "board.dts"
    source.write_text(text)
    answer = subprocess.run(
        ["dtc", "-O", "dtb", "-o", tmp_path / "board.dtb", source], capture_output=True, text=True
    )
    assert answer.returncode == 0 and not answer.stderr
    assert len(soc["macs"]) == board_class(board).ports
    assert text.count("cpu@") == soc["cpu"]["harts"]
    assert soc["offloads"] == (nic == "offload")
    assert text.count("moderato,peer") == 2 * (nic == "flows")
    programs = files(soc).read_bytes()
    assert [program in programs for program in (b"bin/flowtable\0", b"bin/xdp\0", b"bin/pin\0")] == [
        nic == "flows",
        nic == "flows",
        soc["cpu"]["harts"] > 1,
    ]
    assert (b"bin/tc\0" in programs) == (nic == "time")
    queues = nic == "time" or nic == "offload" and soc["cpu"]["harts"] > 1
    assert ("tx1_irq" in soc["macs"][0]) == ('"tx1"' in text) == queues
    fixed = nic != "liteeth" and soc["link"] == "fixed"
    assert text.count("speed = <1000>") == (len(soc["macs"]) if fixed else 0)


@pytest.mark.parametrize("built", LINUX, indirect=True, ids=name)
def test_device_tree_has_the_real_clock_of_the_pll(built):
    """LiteX accepts a clock within 1 % of the requested one. The feedback is CLKOS2."""
    _board, _nic, folder = built
    (pll,) = re.findall(
        r"^EHXPLLL #\((.*?)\) EHXPLLL", (folder / "top.v").read_text(), re.MULTILINE | re.DOTALL
    )
    by = {name: int(value) for name, value in re.findall(r"\.(\w+_DIV)\s+\(\d+'d(\d+)\)", pll)}
    sys2x = 100e6 / by["CLKI_DIV"] * by["CLKFB_DIV"] * by["CLKOS2_DIV"] / by["CLKOP_DIV"]
    assert json.loads((folder / "soc.json").read_text())["sys_clk_hz"] == round(sys2x / 2)


def test_images_without_linux(tmp_path):
    """One image next to the self-test; the 1 MiB from its address is memory (forward.py)."""
    soc = json.loads((gateware(SMALL, "moderato") / "soc.json").read_text())
    assert soc["memory"] == {"base": 0x4000_0000, "size": 8 << 20} and not has_linux(soc)
    write(soc, tmp_path)
    tests = {"selftest.json", "selftest.bin"}
    assert {path.name for path in tmp_path.iterdir()} == {"boot.json", "forward.bin"} | tests
    assert json.loads((tmp_path / "selftest.json").read_text()) == {"selftest.bin": "0x40000000"}
    assert json.loads((tmp_path / "boot.json").read_text()) == {"forward.bin": "0x40000000"}
    assert 0 < (tmp_path / "forward.bin").stat().st_size < 1 << 20


@pytest.mark.parametrize("board, nanoseconds", [("versa_ecp5", 160), ("ecpix5", 260)])
def test_refresh_takes_its_nanoseconds(board, nanoseconds):
    """tRFC of LiteDRAM's chips, which has it in clocks of 800 MHz."""
    kind = board_class(board)
    cycles = kind.make_dram_module(kind.sys_clk_freq).timing_settings.tRFC
    seconds = cycles / kind.sys_clk_freq
    assert nanoseconds <= seconds * 1e9 < nanoseconds + 2e9 / kind.sys_clk_freq
