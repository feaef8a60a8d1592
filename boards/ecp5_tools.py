# SPDX-License-Identifier: BSD-2-Clause
"""Yosys, nextpnr and ecppack, of the YoWASP packages: from Verilog to a bitstream.

Each step is kept by content, so that another seed does not synthesise again.
"""

import re
import shutil
from pathlib import Path

from moderato.toolchain.cache import BuildError, artifact, run
from moderato.toolchain.yowasp import command, version

from .gateware import TOP

YOSYS = "yosys"
NEXTPNR = "nextpnr-ecp5"  # its wheel brings ecppack
PACKAGE = {"BG256": "CABGA256", "BG381": "CABGA381", "BG554": "CABGA554", "BG756": "CABGA756"}


def versions() -> dict[str, str]:
    """Of the tools' wheels."""
    return {name: version(name) for name in (YOSYS, NEXTPNR)}


def device_options(device: str) -> list[str]:
    """nextpnr's options for a part number such as LFE5UM5G-45F-8BG381C."""
    match = re.fullmatch(r"LFE5(U|UM|UM5G)-(12|25|45|85)F-([678])(BG\d+)[CI]", device)
    if not match or match[4] not in PACKAGE:
        raise ValueError(f"{device} is not the name of an ECP5 in a package that is known here")
    family, size, speed, package = match.groups()
    prefix = {"U": "", "UM": "um-", "UM5G": "um5g-"}[family]
    return [f"--{prefix}{size}k", "--package", PACKAGE[package], "--speed", speed]


# Yosys' commands; synthesis() appends options. They replace synth_ecp5's ABC script, for which it has no
# option. In the script, a comma means a blank.
# Fast: 300 ps of wire after each LUT, Yosys' default, is too little here, because wires are most of a
# path. A larger value makes ABC use fewer LUTs in a row (docs/boards.md).
# Small: optimise for area, twice, with 4-input LUTs only. Wider LUTs bind cells together, and nextpnr
# can't route a nearly full chip with them.
ABC = "scratchpad -set abc9.script +&scorr;&sweep;&dc2;{}\nsynth_ecp5"
MAP = "&dch,-f,-r;&ps;&if,{},-v;&mfs"
FAST = ABC.format(MAP.format("-W,600"))
SMALL = ABC.format(MAP.format("-a") + ";&st;" + MAP.format("-a")) + " -nowidelut"


# The router stops after the round in which all clocks meet timing, but wires that it moves in that round
# can miss it again, by 1 % in one case. Constraints therefore ask for more than the clock needs.
MARGIN = 1.03

FULL = "Unable to find legal placement for all cells"  # nextpnr's message


# YoWASP's sandbox hides some folders of this machine, but not the current one. Builds copy files there,
# and name them without folders.


def synthesis(gateware: Path, small: bool) -> Path:
    """A folder with top.json, the netlist, and yosys.log. small: rather than fast."""
    sources = sorted([*gateware.glob("*.v"), *gateware.glob("*.init")])
    verilog = " ".join(path.name for path in sources if path.suffix == ".v")
    synth = SMALL if small else FAST
    script = f"read_verilog -defer {verilog}\n{synth} -top {TOP} -json {TOP}.json\n"

    def build(directory: Path):
        for path in sources:
            shutil.copy(path, directory)
        (directory / "yosys.ys").write_text(script)
        run([command(YOSYS), "-q", "-l", "yosys.log", "-s", "yosys.ys"], cwd=directory)
        for path in sources:
            (directory / path.name).unlink()

    inputs = [script, *sources, f"{YOSYS}={version(YOSYS)}"]
    return artifact("board-synthesis", inputs, build, "3 minutes")


def routing(
    netlist: Path, constraints: Path, device: str, seed: int, small: bool, ripup: bool = True
) -> Path:
    """A folder with top.config, report.json and nextpnr.log, whether or not timing is met.

    small: as it was synthesised. ripup: whether the router removes and routes slow wires again. If that
    cannot help, the router does not end.
    """
    # nextpnr's default, router1, fails in congested regions. The other options raise the clock of a
    # whole SoC by 10 % (docs/boards.md). The weight costs wires, which a nearly full chip lacks.
    options = [
        *device_options(device),
        "--router",
        "router2",
        *(["--tmg-ripup"] if ripup else []),
        *([] if small else ["--placer-heap-timingweight", "30"]),
        "--timing-allow-fail",
        "--detailed-timing-report",
    ]
    asked = re.sub(
        r"(?<=\" )[\d.]+(?= MHz;)",
        lambda rate: f"{MARGIN * float(rate[0]):.3f}",
        constraints.read_text(),
    )

    def build(directory: Path):
        (directory / f"{TOP}.lpf").write_text(asked)
        shutil.copy(netlist / f"{TOP}.json", directory)
        try:
            run(
                [
                    command(NEXTPNR),
                    *options,
                    "--seed",
                    seed,
                    "--json",
                    f"{TOP}.json",
                    "--lpf",
                    f"{TOP}.lpf",
                    "--textcfg",
                    f"{TOP}.config",
                    "--report",
                    "report.json",
                    "--log",
                    "nextpnr.log",
                    "--quiet",
                ],
                cwd=directory,
            )
        except BuildError as error:
            if FULL in str(error):
                raise BuildError(
                    f"the SoC does not fit the {device}; leave out options such as --nic "
                    "offload or --harts 2, or choose a larger board"
                ) from error
            raise
        (directory / f"{TOP}.json").unlink()

    inputs = [*options, f"seed={seed}", netlist.name, asked, f"{NEXTPNR}={version(NEXTPNR)}"]
    return artifact("board-routing", inputs, build, f"seed {seed}, 5 minutes")


def bitstream(routed: Path) -> Path:
    """A folder with top.bit (for flash) and top.svf (for JTAG)."""

    def build(directory: Path):
        shutil.copy(routed / f"{TOP}.config", directory)
        run(
            [command("ecppack"), "--compress", "--svf", f"{TOP}.svf", f"{TOP}.config", f"{TOP}.bit"],
            cwd=directory,
        )
        (directory / f"{TOP}.config").unlink()

    inputs = ["--compress", routed.name, f"{NEXTPNR}={version(NEXTPNR)}"]
    return artifact("board-bitstream", inputs, build, "a few seconds")
