# SPDX-License-Identifier: BSD-2-Clause
"""From Verilog to a bitstream and its report, with a small design that takes seconds."""

from dataclasses import replace

import pytest

from moderato.boards import bitstream, ecp5_tools, report
from moderato.toolchain.cache import BuildError

DEVICE = "LFE5UM5G-45F-8BG381C"
DESIGN = """
module top(input clk100, input eth_clocks_rx, input button, output reg led, output reg led2);
reg half = 0;
reg [31:0] ModeratoCluster_count = 0;
reg [7:0] moderatomac0_count = 0;
reg [15:0] storage_1 [0:63];
reg [5:0] moderatomac0_framefifo_adr = 0;
always @(posedge clk100) begin
    ModeratoCluster_count <= ModeratoCluster_count * 5 + button;
    led <= ^ModeratoCluster_count;
end
always @(posedge eth_clocks_rx) begin
    moderatomac0_count <= moderatomac0_count + 1;
    moderatomac0_framefifo_adr <= moderatomac0_framefifo_adr + 1;
    storage_1[moderatomac0_framefifo_adr] <= {moderatomac0_count, moderatomac0_count};
    half <= ModeratoCluster_count[31] & moderatomac0_count[7];
    led2 <= ^storage_1[moderatomac0_count] ^ half;
end
endmodule
"""
PINS = {"clk100": "P3", "eth_clocks_rx": "L20", "button": "H2", "led": "E16", "led2": "D17"}


def constraints(**rates):
    return "".join(
        [
            *(f'LOCATE COMP "{pin}" SITE "{site}";\n' for pin, site in PINS.items()),
            *(f'IOBUF PORT "{pin}" IO_TYPE=LVCMOS25;\n' for pin in PINS),
            *(f'FREQUENCY PORT "{pin}" {rate} MHz;\n' for pin, rate in rates.items()),
        ]
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "top.v").write_text(DESIGN)
    return tmp_path


@pytest.mark.parametrize("small", (False, True))
def test_bitstream_and_report(folder, small):
    (folder / "top.lpf").write_text(constraints(clk100=100.0, eth_clocks_rx=125.0))
    netlist = ecp5_tools.synthesis(folder, small)
    routed = ecp5_tools.routing(netlist, folder / "top.lpf", DEVICE, 1, small)
    made = ecp5_tools.bitstream(routed)
    assert (made / "top.bit").read_bytes().startswith(b"\xff\x00Part: LFE5UM5G-45F")
    assert "SDR" in (made / "top.svf").read_text()

    result = report.load(routed)
    clocks = {clock.name: clock for clock in report.clocks(result, DESIGN)}
    assert {name: clock.wanted for name, clock in clocks.items()} == {
        "clk100": 100,
        "eth_clocks_rx": 125,
    }
    assert all(clock.met for clock in clocks.values())
    assert bitstream.missed({1: [*clocks.values()]}) == []

    *_, between = report.clocks(result, DESIGN, ("eth_clocks_rx", "clk100"))
    assert (between.name, between.wanted) == ("clk100 to eth_clocks_rx", 125) and between.met
    assert "ModeratoCluster_count" in between.path and "half" in between.path
    with pytest.raises(KeyError, match="sys3x"):
        report.clocks(result, DESIGN, ("clk100", "sys3x"))

    areas = report.area(report.load(netlist, "top.json"), DESIGN)
    assert areas["CPU"]["FF"] == 32
    assert areas["MACs"]["LUT RAM"] == areas["all"]["LUT RAM"] > 0
    assert all(
        areas["all"][kind] == sum(counts[kind] for name, counts in areas.items() if name != "all")
        for kind in report.RESOURCES
    )
    used, available = report.utilisation(result)["TRELLIS_FF"]
    assert used == areas["all"]["FF"] and available == 43848

    ends = report.blocks(result, DESIGN)
    assert set(ends["clk100"]) == {"CPU", "rest"}  # the counter, and the LED's register
    assert set(ends["eth_clocks_rx"]) <= {"MACs", "rest"}
    for name, clock in clocks.items():
        assert min(ends[name].values()) == pytest.approx(clock.reached, rel=0.01)

    text = report.markdown(
        "Test", areas, report.utilisation(result), {1: [*clocks.values()]}, ends, ecp5_tools.versions()
    )
    assert "yosys 0." in text and "| clk100 | 100.0 |" in text
    assert f"| clk100 | {ends['clk100']['CPU']:.1f} | " in text


# The router makes 1500 attempts at a clock that it can't reach, even in this small design.
@pytest.mark.parametrize("rate", (100.0, pytest.param(400.0, marks=pytest.mark.slow)))
def test_failing_path_is_named(folder, rate):
    (folder / "top.lpf").write_text(constraints(clk100=rate, eth_clocks_rx=125.0))
    netlist = ecp5_tools.synthesis(folder, small=False)
    routed = ecp5_tools.routing(netlist, folder / "top.lpf", DEVICE, 1, small=False)
    result = report.load(routed)
    asked = next(clock for name, clock in result["fmax"].items() if "clk100" in name)
    asked["constraint"] = 400 * ecp5_tools.MARGIN
    slow = report.clocks(result, DESIGN)
    with pytest.raises(
        BuildError,
        match=r"seed 1: clk100 reaches \d+\.\d of 400\.0 MHz; .*"
        r"ModeratoCluster_count\S+ \(CPU\) to",
    ):
        bitstream.missed({1: slow})
    fast = [replace(clock, wanted=1.0) for clock in slow]
    (line,) = bitstream.missed({1: slow, 2: fast})  # one seed that meets timing is enough
    assert line.startswith("seed 1: clk100 reaches ")
    asked["constraint"] = 2000 * ecp5_tools.MARGIN
    with pytest.raises(BuildError, match=r"clk100 to eth_clocks_rx reaches \d+\.\d of 2000\.0 MHz"):
        bitstream.missed({1: report.clocks(result, DESIGN, ("clk100", "eth_clocks_rx"))})


def test_error_of_yosys_is_shown(folder):
    (folder / "top.v").write_text("module top(input a, output b); nothing n(a, b); endmodule\n")
    with pytest.raises(BuildError, match="nothing"):
        ecp5_tools.synthesis(folder, small=False)
