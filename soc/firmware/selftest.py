# SPDX-License-Identifier: BSD-2-Clause
"""Builds selftest.bin, which tests a board without Linux; sim/lab/board/selftest.py judges its lines."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from moderato.toolchain import debian
from moderato.toolchain.cache import artifact
from moderato.toolchain.project import ROOT

from .firmware import COMPILER, HERE, link

REGISTERS = ROOT / "linux-driver" / "moderato_regs.h"
FOLDER = HERE / "selftest"
SCRIPT = FOLDER / "selftest.ld"
SOURCES = [HERE / "forward.S", *(FOLDER / name for name in ("main.c", "memory.c", "report.c"))]
PORTS = [FOLDER / "mdio.c", FOLDER / "ports.c"]  # of Moderato's MACs
INCLUDES = [HERE / "include", REGISTERS.parent, FOLDER]
RESERVED = 1 << 20  # octets from the image's address on, for it and its buffers


@dataclass(frozen=True)
class Size:
    """How much is tested. memory: octets, none: all; speed: octets; seconds: of the clock's test;
    length_step: between the lengths of frames; rounds: of the coherency test."""

    memory: int | None = None
    speed: int = 1 << 20
    seconds: float = 10
    length_step: int = 1
    rounds: int = 1000


FULL = Size()
SIMULATED = Size(memory=8 << 10, speed=8 << 10, seconds=0.01, length_step=485, rounds=4)


def selftest(soc: dict, mdio: Sequence[int] = (), size: Size = FULL) -> Path:
    """selftest.bin for the SoC described by `soc` (the content of soc.json), at the start of its memory.

    mdio: addresses of the MDIO registers by port, 0 for none.
    """
    macs = soc["macs"] if soc["nic"] == "moderato" else []
    memory = soc["memory"]
    room = memory["size"] - RESERVED
    symbols = {
        "forward": "selftest",  # what forward.S calls
        "UART_BASE": soc["uart"]["base"],
        "CLINT_BASE": soc["clint"]["base"],
        "PLIC_BASE": soc["plic"]["base"],
        "CLOCK_HZ": soc["sys_clk_hz"],
        "PORTS": len(macs),
        "MAC_BASES": _list(mac["base"] for mac in macs),
        "SOURCES": _list(mac[line] for mac in macs for line in ("rx_irq", "tx_irq")),
        "MDIO_BASES": _list((*mdio, *(0 for _ in macs))[: len(macs)]),
        "MEMORY_BASE": memory["base"],
        "MEMORY_END": memory["base"] + memory["size"],
        "TEST_SIZE": min(size.memory or room, room),
        "SPEED_SIZE": size.speed,
        "CLOCK_CYCLES": round(size.seconds * soc["sys_clk_hz"]),
        "LENGTH_STEP": size.length_step,
        "ROUNDS": size.rounds,
    }
    defines = [
        f"-D{name}={f'{value:#x}u' if isinstance(value, int) else value}"
        for name, value in symbols.items()
    ]

    sources = [*SOURCES, *(PORTS if macs else [])]

    def build(directory: Path):
        link(
            directory / "selftest",
            SCRIPT,
            memory["base"],
            [*defines, *(f"-I{folder}" for folder in INCLUDES)],
            sources,
        )

    inputs = [
        HERE / "forward.S",
        FOLDER,
        HERE / "include",
        REGISTERS,
        Path(__file__),
        HERE / "firmware.py",
        json.dumps(symbols),
        debian.version(COMPILER),
    ]
    return artifact("selftest", inputs, build) / "selftest.bin"


def _list(numbers) -> str:
    """Elements of an array that 0 ends, so that no array is empty."""
    return ",".join(f"{number:#x}" for number in (*numbers, 0))
