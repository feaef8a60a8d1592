# SPDX-License-Identifier: BSD-2-Clause
"""The guest's functions with their addresses, for the profiler: kernel, driver, SBI firmware."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from moderato.soc.firmware.firmware import firmware
from moderato.soc.linux.kernel import kernel

from ..run.machine import Machine
from ..run.state import State

TOOLS = "riscv64-linux-gnu-"
PROGRAMS = r"grep '\[bpf\]' /proc/kallsyms || [ $? = 1 ]"  # status 1: there is no program
LONGEST = 4096  # bytes of a compiled program of this project


@dataclass(frozen=True)
class Symbol:
    address: int
    size: int
    name: str


def of_guest(ready: State) -> list[Symbol]:
    """All functions that a trial from this state can run, without overlaps."""
    of = ready.machine
    with ready.open() as session:  # in a session of its own, because the question takes simulated time
        base = int(session.check(f"cat /sys/module/{of.driver.stem}/sections/.text"), 16)
        # A long list, which takes the guest a minute; only for kernels that may have programs.
        programs = session.check(PROGRAMS) if of.system.kernel.xdp else ""
    return [
        *of_kernel(of),
        *of_module(of.driver, base),
        *of_programs(programs),
        *of_elf(firmware(of.soc).sbi.with_suffix(".elf")),
    ]


def text(symbols: list[Symbol]) -> str:
    """Symbols in moderato-sim's format: lines "address size name"."""
    return "".join(f"{symbol.address:#x} {symbol.size} {symbol.name}\n" for symbol in symbols)


def write(symbols: list[Symbol], file: Path):
    file.write_text(text(symbols))


def of_kernel(of: Machine) -> list[Symbol]:
    lines = kernel(of.soc["cpu"]["harts"], of.system.kernel).system_map.read_text().splitlines()
    return functions(line.split() for line in lines)


def of_elf(file: Path) -> list[Symbol]:
    return functions(_run("nm", file))


def of_module(file: Path, base: int) -> list[Symbol]:
    """The functions of a module whose text is at `base`."""
    rows = [words for words in _run("objdump", "-t", "-j", ".text", file) if words[2:3] == ["F"]]
    return [Symbol(base + int(words[0], 16), int(words[4], 16), words[5]) for words in rows]


def of_programs(text: str) -> list[Symbol]:
    """BPF programs that the kernel has compiled. `text`: the output of PROGRAMS.

    Their length is unknown: each ends at the next one, or after LONGEST.
    """
    rows = sorted((int(address, 16), name) for address, _, name, _ in map(str.split, text.splitlines()))
    ends = [address for address, _ in rows[1:]] + [1 << 32]
    return [
        Symbol(address, min(end - address, LONGEST), re.sub(r"(?<=^bpf_prog_)[0-9a-f]+_", "", name))
        for (address, name), end in zip(rows, ends)
    ]


def functions(rows) -> list[Symbol]:
    """Code symbols among rows (address, kind, name) of nm.

    Each ends where the next one starts, because assembly functions have no size. If an address has
    several names, those without underscores at the start come first, then those with underscores
    (`__memset`), then a linker script's marks (`__entry_text_end`).
    """
    starts: dict[int, tuple] = {}
    for address, kind, name in rows:
        if kind in "aAU":
            continue
        code = kind in "tTwW"
        mark = name.endswith(("_start", "_end"))
        best = (not code, mark, len(name) - len(name.lstrip("_")), name)
        starts[int(address, 16)] = min(best, starts.get(int(address, 16), best))
    addresses = sorted(starts)
    return [
        Symbol(start, end - start, starts[start][-1])
        for start, end in zip(addresses, addresses[1:])
        if not starts[start][0]
    ]


def _run(tool: str, *arguments) -> list[list[str]]:
    """The words of each line that a tool prints."""
    done = subprocess.run([TOOLS + tool, *arguments], check=True, capture_output=True, text=True)
    return [line.split() for line in done.stdout.splitlines()]
