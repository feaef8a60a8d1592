# SPDX-License-Identifier: BSD-2-Clause
"""Builds forward.bin, which forwards frames between two ports without Linux."""

from pathlib import Path

from moderato.toolchain import debian
from moderato.toolchain.cache import artifact
from moderato.toolchain.project import ROOT

from .firmware import COMPILER, HERE, link

REGISTERS = ROOT / "linux-driver" / "moderato_regs.h"
SOURCES = [HERE / name for name in ("forward.S", "forward.c", "forward.ld")]
INCLUDES = [HERE / "include", REGISTERS.parent]


def forwarder(soc: dict, base: int | None = None) -> Path:
    """forward.bin for the SoC described by `soc`. It uses 1 MiB from address `base`.

    `soc` is the content of soc.json, for a SoC with two Moderato MACs. The default of `base` is the
    start of RAM.
    """
    if soc["nic"] != "moderato" or len(soc["macs"]) != 2:
        raise ValueError(
            f"{len(soc['macs'])} MACs of kind {soc['nic']}: the forwarding program needs "
            "two Moderato MACs"
        )
    macs = soc["macs"]
    sources = [soc["uart"]["irq"], *(mac[line] for mac in macs for line in ("rx_irq", "tx_irq"))]
    symbols = {
        "MAC_BASES": ",".join(f"{mac['base']:#x}" for mac in macs),
        "PLIC_BASE": f"{soc['plic']['base']:#x}",
        "INTERRUPTS": f"{sum(1 << source for source in sources):#x}",
        "UART_BASE": f"{soc['uart']['base']:#x}",
    }
    defines = [f"-D{name}={value}" for name, value in symbols.items()]
    base = soc["memory"]["base"] if base is None else base

    def build(directory: Path):
        link(
            directory / "forward",
            HERE / "forward.ld",
            base,
            [*defines, *(f"-I{folder}" for folder in INCLUDES)],
            [file for file in SOURCES if file.suffix != ".ld"],
        )

    inputs = [*SOURCES, HERE / "include", REGISTERS, Path(__file__), HERE / "firmware.py"]
    return (
        artifact(
            "forwarder", [*inputs, " ".join(defines), f"base {base:#x}", debian.version(COMPILER)], build
        )
        / "forward.bin"
    )
