# SPDX-License-Identifier: BSD-2-Clause
"""A device under test synthesised by Yosys, then placed and routed by nextpnr.

The device keeps its own level of hierarchy, so that its cells are counted, timed and simulated
alone. A frame of registers surrounds it, one at each port in the port's clock domain. So every path
of the device starts and ends in a register on the chip, and few pins are enough.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from moderato.boards.ecp5_tools import FAST, device_options
from moderato.toolchain import yowasp
from moderato.toolchain.cache import artifact, run

CHIPS = {  # of boards
    "45F-8": device_options("LFE5UM5G-45F-8BG381C"),  # Versa
    "25F-6": device_options("LFE5U-25F-6BG256C"),     # Colorlight 5A-75B
}
SYS_MHZ = {"45F-8": 100, "25F-6": 75}  # nextpnr's target
DOMAINS = {"pads_rx": "eth_rx", "pads_tx": "eth_tx"}  # by a port's prefix; others are in sys
ETH_MHZ = 125


# Synthesis ----------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Port:
    direction: str
    width:     int
    name:      str

    @property
    def domain(self) -> str:
        for prefix in (*DOMAINS.values(), *DOMAINS):
            if self.name.startswith(prefix):
                return DOMAINS.get(prefix, prefix)
        return "sys"


def ports(code: str) -> list[Port]:
    """The ports of the only module in `code`, in Migen's Verilog."""
    found = re.findall(r"^    (input|output) +(?:wire|reg) +(?:\[(\d+):0\])? *(\w+),?$", code, re.M)
    return [Port(direction, int(msb or 0) + 1, name) for direction, msb, name in found]


def frame(name: str, code: str) -> str:
    """Verilog of the registers around a device: a shift register feeds its inputs, another one
    mixes its outputs."""
    lines, pins, outputs = [], ["input feed", "output seen"], []
    clocks = sorted(p.name for p in ports(code) if p.name.endswith("_clk"))
    for clock in clocks:
        domain = clock.removesuffix("_clk")
        mine = [p for p in ports(code) if p.domain == domain and p.name != clock]
        into = {"input": [], "output": []}
        for port in mine:
            lines.append(f"wire [{port.width - 1}:0] {port.name};")
            into[port.direction].append(port)
        width = {d: sum(p.width for p in into[d]) for d in into}
        feeds, sees = (", ".join(p.name for p in into[d]) for d in into)
        lines += [
            f"reg [{width['input']}:0] {domain}_feed;",
            f"reg [{width['output'] - 1}:0] {domain}_caught, {domain}_mixed;" if sees else "",
            f"assign {{{feeds}}} = {domain}_feed[{width['input']}:1];",
            f"always @(posedge {clock}) begin",
            f"    {domain}_feed <= {{{domain}_feed, feed}};",
            f"    {domain}_caught <= {{{sees}}};" if sees else "",
            f"    {domain}_mixed <= {{{domain}_mixed, {domain}_mixed[{width['output'] - 1}]}}"
            f" ^ {domain}_caught;" if sees else "",
            "end",
        ]
        if sees:
            outputs.append(f"{domain}_mixed[0]")
        pins.append(f"input {clock}")
    connections = ", ".join(f".{p.name}({p.name})" for p in ports(code))
    return "\n".join([f"module frame ({', '.join(pins)});", *filter(None, lines),
                      f"assign seen = {' ^ '.join(outputs)};",
                      f"{name} device ({connections});", "endmodule", ""])


SYNTHESIS = f"""
read_verilog frame.v device.v
setattr -mod -set keep_hierarchy 1 {{name}}
{FAST} -top frame -json frame.json
tee -q -o cells.json stat -json
select {{name}}
write_verilog -noattr -selected netlist.v
"""


def synthesise(name: str, code: str) -> Path:
    """The folder with frame.json for nextpnr, netlist.v and cells.json of the device `name`."""
    surround = frame(name, code)
    script = SYNTHESIS.format(name=name)
    inputs = [code, surround, script, yowasp.version("yosys")]

    def build(folder: Path):
        (folder / "device.v").write_text(code)
        (folder / "frame.v").write_text(surround)
        (folder / "synthesis.ys").write_text(script)
        run([yowasp.command("yosys"), "-q", "-s", "synthesis.ys"], cwd=folder)

    return artifact(f"ecp5/{name}", inputs, build, note="1 minute, 2 the first time")


def cells(name: str, folder: Path) -> dict[str, int]:
    """How many cells of each type the device has."""
    return json.loads((folder / "cells.json").read_text())["modules"][
        f"\\{name}"]["num_cells_by_type"]


# Place and route ----------------------------------------------------------------------------------

def place(name: str, folder: Path, chip: str, sys_mhz: int, seed: int) -> dict:
    """nextpnr's report on a synthesised device. It succeeds also if a clock misses its target."""
    clocks = sorted(set(re.findall(r"input (\w+)_clk", (folder / "frame.v").read_text())))
    constraints = "".join(
        f'FREQUENCY PORT "{clock}_clk" {sys_mhz if clock == "sys" else ETH_MHZ} MHz;\n'
        for clock in clocks)
    options = [*CHIPS[chip], "--seed", seed, "--timing-allow-fail", "--lpf-allow-unconstrained"]
    inputs = [folder / "frame.json", constraints, *map(str, options),
              yowasp.version("nextpnr-ecp5")]

    def build(target: Path):
        (target / "frame.lpf").write_text(constraints)
        run([yowasp.command("nextpnr-ecp5"), "--json", folder / "frame.json", "--lpf", "frame.lpf",
             "--report", "report.json", *options], cwd=target)

    placed = artifact(f"ecp5/{name}-placed", inputs, build, note="2 minutes")
    return json.loads((placed / "report.json").read_text())


def fmax(report: dict) -> dict[str, float]:
    """MHz of each clock after routing."""
    found = {}
    for clock, figures in report["fmax"].items():
        domain = re.search(r"(sys|eth_rx|eth_tx)_clk", clock)[1]
        found[domain] = figures["achieved"]
    return found
