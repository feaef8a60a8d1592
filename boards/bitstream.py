# SPDX-License-Identifier: BSD-2-Clause
"""`./moderato bitstream`: a folder with all files for a board. It appears complete or not at all."""

import json
import shutil
import sys
import tempfile
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path

from moderato.soc.linux.memory_map import MIN_MEMORY
from moderato.toolchain import project
from moderato.toolchain.cache import BuildError

from . import ecp5_tools, images, report
from .gateware import TOP, board_class, gateware

# This command replaces a folder that has MARK, if all its files match OURS.
MARK = "report.json"
OURS = (
    MARK,
    "report.md",
    "soc.json",
    "boot.json",
    "selftest.json",
    "*.bit",
    "*.svf",
    "Image",
    "*.bin",
    "*.cpio",
    "*.dtb",
    "*.dts",
)


def bitstream(
    board: str, nic: str, seeds: list[int], output: Path | None, harts: int = 1, link: str = "fixed"
) -> int:
    """Build for `board` with `nic` and `link` (of boards.BOARDS, NICS and LINKS), and print the
    report.

    nextpnr places and routes each of `seeds`. The bitstream is that of the fastest; a message names each
    seed that fails timing. If all seeds fail, raises BuildError and leaves no folder.
    """
    kind = board_class(board)
    several = (f"-{harts}-harts" if harts > 1 else "") + ("-negotiated" if link == "negotiated" else "")
    output = output or Path(f"{board}-{nic}{several}")
    clear(output)  # first, so that nobody mistakes an old bitstream for the new one

    source = gateware(board, nic, harts, link)
    soc = report.load(source, "soc.json")
    announce(soc)
    netlist = ecp5_tools.synthesis(source, kind.small)
    routed = {
        seed: ecp5_tools.routing(
            netlist, source / f"{TOP}.lpf", soc["device"], seed, kind.small, ripup=nic != "offload"
        )
        for seed in seeds
    }
    results = {seed: report.load(folder) for seed, folder in routed.items()}
    code = (source / f"{TOP}.v").read_text()
    clocks = {seed: report.clocks(result, code, kind.synchronous) for seed, result in results.items()}
    for line in missed(clocks):
        print(f"moderato: {line}", file=sys.stderr)

    best = max(seeds, key=lambda seed: min(clock.reached / clock.wanted for clock in clocks[seed]))
    areas = report.area(report.load(netlist, f"{TOP}.json"), code)
    used = report.utilisation(results[best])
    ends = report.blocks(results[best], code)
    title = f"{soc['board']}, {nic}{several.replace('-', ' ')}"
    text = report.markdown(title, areas, used, clocks, ends, ecp5_tools.versions())
    temporary = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
    try:
        made = ecp5_tools.bitstream(routed[best])
        for kind in "bit", "svf":
            shutil.copyfile(made / f"{TOP}.{kind}", temporary / f"{board}.{kind}")
        shutil.copyfile(source / "soc.json", temporary / "soc.json")
        images.write(soc, temporary)
        (temporary / "report.md").write_text(text)
        (temporary / MARK).write_text(
            json.dumps(
                {
                    "commit": project.version(),
                    "board": board,
                    "nic": nic,
                    "harts": harts,
                    "link": link,
                    "seed": best,
                    "versions": ecp5_tools.versions(),
                    "area": areas,
                    "utilisation": used,
                    "blocks": ends,
                    "clocks": {seed: [asdict(clock) for clock in run] for seed, run in clocks.items()},
                },
                indent=2,
            )
            + "\n"
        )
        temporary.chmod(0o755)
        temporary.rename(output)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    print(text)
    print(f"moderato: {output}/ holds the bitstream of seed {best} and its boot images", file=sys.stderr)
    return 0


def clear(output: Path):
    """Remove `output` if an earlier build made it. Raises WrongCommand for any other file or folder."""
    if not output.exists():
        return
    found = [] if output.is_file() else sorted(entry.name for entry in output.iterdir())
    if output.is_file() or found and MARK not in found:
        raise WrongCommand(
            f"{output} is not a folder that this command made; move it away, or choose another --output"
        )
    foreign = [name for name in found if not any(fnmatch(name, ours) for ours in OURS)]
    if foreign:
        raise WrongCommand(
            f"{output} has a file that this command did not make ({foreign[0]}); "
            "move that file away, or choose another --output"
        )
    shutil.rmtree(output)


class WrongCommand(BuildError):
    """The command is wrong, not the build."""

    status = 2


def announce(soc: dict):
    """Print what the board will boot if its memory is too small for Linux."""
    if images.has_linux(soc):
        return
    small = (
        f"the {soc['memory']['size'] >> 20} MiB of the {soc['board']} are too small for "
        f"Linux, which needs {MIN_MEMORY >> 20}"
    )
    print(
        f"moderato: {small}; boot.json names forward.bin, which forwards between the two ports",
        file=sys.stderr,
    )


def missed(clocks: dict[int, list[report.Clock]]) -> list[str]:
    """A line for each clock of each seed that fails timing, with its longest path. Raises BuildError
    with these lines if no seed meets timing."""
    failed = {
        (seed, clock.name): f"seed {seed}: {clock.name} reaches {clock.reached:.1f} of "
        f"{clock.wanted:.1f} MHz; {clock.path}"
        for seed, run in clocks.items()
        for clock in run
        if not clock.met
    }
    if {seed for seed, _ in failed} == set(clocks):
        raise BuildError(
            "\n".join(
                [
                    "timing is not met, so there is no bitstream; try another --seed, a slower "
                    "sys_clk_freq or a smaller cpu_config in the board's file",
                    *failed.values(),
                ]
            )
        )
    return list(failed.values())
