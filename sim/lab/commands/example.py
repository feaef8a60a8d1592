# SPDX-License-Identifier: BSD-2-Clause
"""Run an example of the MAC in a SoC that is not ours."""

import argparse
import os
import sys

from moderato.toolchain.project import ROOT

from ..show.errors import UsageError

EXAMPLES = (
    "litex-sim build",
    "litex-boards digilent_arty --with-ethernet --build --no-compile",
    "linux-smp",
)

REST = "OPTIONS"  # any number of words; all other placeholders stand for one word

# By name: the program in examples/, the words that it accepts, and a description.
PROGRAMS = {
    "litex-sim": (
        "litex-sim/echo.py",
        " FOLDER",
        "LiteX's own simulator, and a program that echoes frames",
    ),
    "litex-boards": (
        "litex-boards/target.py",
        " TARGET OPTIONS",
        "a target of litex-boards, with its own options",
    ),
    "ulx3s": (
        "litex-boards/ulx3s.py",
        " OPTIONS",
        "the ULX3S with a PHY module, with its target's options",
    ),
    "linux-smp": (
        "linux-smp/forward_smp.py",
        "",
        "Linux forwards on LiteX's VexRiscv-SMP and on the lab's cluster",
    ),
    "linux-ptp": (
        "linux-ptp/two_nodes.py",
        "",
        "two boxes at one wire; ptp4l synchronizes their clocks",
    ),
    "linux-tdma": (
        "linux-ptp/turns.py",
        " CAPTURE",
        "the same boxes send in turn, by lists of gates; the capture is pcapng",
    ),
}


def options(parser):
    add = parser.add_argument
    add(
        "name",
        choices=PROGRAMS,
        metavar="NAME",
        help="; ".join(f"{name}{words}: {what}" for name, (_, words, what) in PROGRAMS.items()),
    )
    add("words", nargs=argparse.REMAINDER, metavar="...", help="the example's own words")


def check(options):
    _, words, _ = PROGRAMS[options.name]
    needed = [word for word in words.split() if word != REST]
    if len(options.words) < len(needed) or needed and options.words[0].startswith("-"):
        raise UsageError(f"{options.name} needs {needed[0]}: moderato example {options.name}{words}")
    if len(options.words) > len(needed) and REST not in words:
        raise UsageError(
            f"moderato example {options.name}{words} takes no more words; leave "
            f"{options.words[len(needed)]} out"
        )


def run(options) -> int:
    """Does not return: this process becomes the example."""
    from moderato.toolchain import verilator

    program, *_ = PROGRAMS[options.name]
    sys.stdout.flush()
    os.execve(
        sys.executable,
        [sys.executable, ROOT / "examples" / program, *options.words],
        os.environ | verilator.environment(),
    )
