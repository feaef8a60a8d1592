# SPDX-License-Identifier: BSD-2-Clause
"""Area and timing of a built SoC, from the reports of Yosys and nextpnr."""

import itertools
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .ecp5_tools import MARGIN
from .gateware import TOP

# The counted resources, and their cells in Yosys' ECP5 library.
RESOURCES = {
    "LUT": "LUT4",
    "carry": "CCU2C",
    "LUT RAM": "TRELLIS_DPR16X4",
    "FF": "TRELLIS_FF",
    "block RAM": "DP16KD",
    "DSP": "MULT18X18D",
}

# Parts of the SoC, and patterns for names of their cells; the first match counts. Yosys names a LUT
# after a signal that it drives or reads. Borders between parts are therefore inexact where it merged
# LUTs.
BLOCKS = {
    "CPU": re.compile(r"ModeratoCluster"),
    "MACs": re.compile(
        r"moderatomac|_mac_|liteeth\d|liteethmac|transmit|receive|framefifo|"
        r"maccore|dmareader|dmawriter|moderation|[rt]xring|interpacketgap"
    ),
    "PHYs": re.compile(r"liteethphy|(?<!rate)_phy_|^eth\d?_|DELAYG|IDDRX1F|ODDRX1F"),
    "DRAM": re.compile(
        r"sdram|s?d+rphy|rate_phy|sdrio|dfii|litedram|bankmachine|DQSBUFM|DDRDLLA|"
        r"TSHX2|[IO]DDRX2|whole_?words|"
        r"_(?:pipe_valid|pipe_ready|words?|previous)_"
    ),  # DRAMBridge
}
REST = "rest"  # buses, UART, timer, ROM, LEDs

# All FIFOs have the name storage. The signal that addresses a FIFO shows which part it belongs to.
MEMORY = re.compile(r"\b(storage(?:_\d+)?)\[(\w+)\]")


@dataclass(frozen=True)
class Clock:
    """MHz requested and reached; `path` describes the longest path."""

    name: str
    wanted: float
    reached: float
    path: str

    @property
    def met(self) -> bool:
        return self.reached >= self.wanted


# Area ---------------------------------------------------------------------------------------------


def block(cell: str, memories: dict[str, str] | None = None) -> str:
    """The part of the SoC to which a cell belongs, by the cell's name."""
    if found := re.match(r"(storage(?:_\d+)?)(?!\d)", cell):
        cell = (memories or {}).get(found[1], cell)
    return next((name for name, pattern in BLOCKS.items() if pattern.search(cell)), REST)


def area(netlist: dict, verilog: str) -> dict[str, dict[str, int]]:
    """For each block and for "all": the number of each of RESOURCES."""
    memories = dict(MEMORY.findall(verilog))
    kinds = {cell: name for name, cell in RESOURCES.items()}
    count = {name: Counter() for name in [*BLOCKS, REST, "all"]}
    for name, cell in netlist["modules"][TOP]["cells"].items():
        if kind := kinds.get(cell["type"]):
            count[block(name, memories)][kind] += 1
            count["all"][kind] += 1
    return {name: {kind: total[kind] for kind in RESOURCES} for name, total in count.items()}


def utilisation(report: dict) -> dict[str, tuple[int, int]]:
    """Used and available numbers of each kind of cell, as nextpnr reports them."""
    return {
        name: (entry["used"], entry["available"])
        for name, entry in report["utilization"].items()
        if entry["used"]
    }


# Timing -------------------------------------------------------------------------------------------


def clocks(report: dict, verilog: str, synchronous: tuple[str, ...] = ()) -> list[Clock]:
    """Every clock of nextpnr's report that has paths inside its own domain.

    synchronous: clocks of one PLL. nextpnr checks no path between two clocks, so this function checks
    each pair of them: a path may take one period of the faster clock.
    """
    memories = dict(MEMORY.findall(verilog))
    wanted = {
        clock_name(name): round(entry["constraint"] / MARGIN, 1)  # periods are whole ps
        for name, entry in report["fmax"].items()
    }
    reached = {clock_name(name): entry["achieved"] for name, entry in report["fmax"].items()}
    paths = {
        tuple(clock_name(path[end].split()[-1]) for end in ("from", "to")): path["path"]
        for path in report["critical_paths"]
    }
    found = [
        Clock(name, wanted[name], reached[name], describe(paths.get((name, name), []), memories))
        for name in sorted(wanted)
    ]
    for start, end in itertools.permutations(synchronous, 2):
        limit = max(wanted[start], wanted[end])  # KeyError if there is no such clock
        if path := paths.get((start, end)):
            found.append(
                Clock(
                    f"{start} to {end}",
                    limit,
                    1000 / sum(segment["delay"] for segment in path),
                    describe(path, memories),
                )
            )
    return found


def blocks(report: dict, verilog: str) -> dict[str, dict[str, float]]:
    """For each clock, its frequency in MHz by block, if only paths that end in that block counted.
    nextpnr's --detailed-timing-report does not name the clock at which a path starts, so paths from
    other clocks count, too."""
    memories = dict(MEMORY.findall(verilog))
    longest: dict[str, dict[str, float]] = {}
    for end in (end for net in report["detailed_net_timings"] for end in net["endpoints"]):
        clock = end["event"].split()[-1]
        if clock in report["fmax"]:
            found = longest.setdefault(clock_name(clock), {})
            name = block(end["cell"], memories)
            found[name] = max(found.get(name, 0), end["delay"][-1])
    return {
        clock: {name: 1000 / found[name] for name in (*BLOCKS, REST) if found.get(name)}
        for clock, found in sorted(longest.items())
    }


def clock_name(net: str) -> str:
    """A clock's name for people: nextpnr's net without affixes for its distribution. nextpnr names the
    system clock after the cluster's pin, which Yosys keeps."""
    name = net.removeprefix("$glbnet$").removesuffix("$TRELLIS_IO_IN")
    return "sys" if name.startswith("ModeratoCluster.") or name == "sys_clk" else name


def describe(path: list[dict], memories: dict[str, str]) -> str:
    """A path in one line: delay, nets, wires, start and end."""
    if not path:
        return "no path reported"
    first, last = path[0]["from"]["cell"], path[-1]["to"]["cell"]
    kinds = Counter()
    for segment in path:
        kinds[segment["type"]] += segment["delay"]
    total = sum(kinds.values())
    hops = sum(segment["type"] == "routing" for segment in path)
    return (
        f"{total:.1f} ns, {hops} nets, {kinds['routing']:.1f} ns in wires: "
        f"{first} ({block(first, memories)}) to {last} ({block(last, memories)})"
    )


# Tables -------------------------------------------------------------------------------------------


def load(folder: Path, name: str = "report.json") -> dict:
    return json.loads((folder / name).read_text())


def markdown(
    title: str,
    areas: dict,
    used: dict,
    seeds: dict[int, list[Clock]],
    ends: dict[str, dict[str, float]],
    versions: dict[str, str],
) -> str:
    """The report next to a bitstream; `ends` is blocks() of its seed."""
    lines = [
        f"# {title}",
        "",
        ", ".join(f"{name} {number}" for name, number in versions.items()),
        "",
        "## Area, after synthesis",
        "",
    ]
    lines += table(["", *RESOURCES], [[name, *counts.values()] for name, counts in areas.items()])
    lines += ["", "## Area, placed", ""]
    lines += table(
        ["", "used", "of", "%"],
        [[name, some, total, f"{100 * some / total:.0f}"] for name, (some, total) in used.items()],
    )
    lines += ["", "## Clocks, MHz", ""]
    first = next(iter(seeds.values()))
    lines += table(
        ["", "wanted", *(f"seed {seed}" for seed in seeds)],
        [
            [clock.name, f"{clock.wanted:.1f}", *(f"{run[index].reached:.1f}" for run in seeds.values())]
            for index, clock in enumerate(first)
        ],
    )
    names = [name for name in (*BLOCKS, REST) if any(name in mhz for mhz in ends.values())]
    lines += ["", "## Clocks by block in which a path ends, MHz", ""]
    lines += table(
        ["", *names],
        [
            [clock, *(f"{mhz[name]:.1f}" if name in mhz else "" for name in names)]
            for clock, mhz in ends.items()
        ],
    )
    lines += ["", "## Longest paths", ""]
    lines += [
        f"- seed {seed}, {clock.name}: {clock.path}" for seed, run in seeds.items() for clock in run
    ]
    return "\n".join(lines) + "\n"


def table(head: list, rows: list[list]) -> list[str]:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return ["| " + " | ".join(map(str, line)) + " |" for line in lines]
