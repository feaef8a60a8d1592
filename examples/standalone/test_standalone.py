# SPDX-License-Identifier: BSD-2-Clause
"""The generated Verilog in a design without LiteX, with a bench in Verilog."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from moderato.gateware.options import OPTIONS
from moderato.integrate import standalone
from moderato.sim.lab import cli
from moderato.toolchain import verilator
from moderato.toolchain.cache import artifact, run

BENCH = Path(__file__).with_name("bench.v")
QUIET = ["-Wno-fatal", "-Wno-lint", "-Wno-style"]


def call(*command, **options):
    return subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        env={**os.environ, **verilator.environment()},
        **options,
    )


@pytest.fixture(scope="module")
def verilog(tmp_path_factory) -> Path:
    """The Verilog, as a user generates it."""
    folder = tmp_path_factory.mktemp("standalone")
    made = call(
        sys.executable,
        "-m",
        "moderato.sim.lab.cli",
        "verilog",
        "--phy",
        "gmii",
        "--sys-clk-freq",
        "100e6",
        "--output",
        folder,
    )
    assert made.returncode == 0, made.stderr
    assert made.stdout == f"{folder}/moderato.v\n"
    return folder


@pytest.fixture(scope="module")
def bench(verilog) -> Path:
    """Verilator's program of the MAC and the bench."""
    options = [
        "--binary",
        "--timing",
        *QUIET,
        "-O0",
        "--quiet",
        "--top-module",
        "bench",
        "-CFLAGS",
        "-O0 -std=gnu++20",
    ]

    def build(folder: Path):
        run(
            [
                verilator.command(),
                *options,
                "--Mdir",
                folder,
                f"+incdir+{verilog}",
                BENCH,
                verilog / "moderato.v",
            ],
            env=verilator.environment(),
        )

    return (
        artifact("standalone-bench", [verilog, BENCH, *options, verilator.version()], build) / "Vbench"
    )


def test_a_frame_leaves_and_comes_back(bench):
    done = call(bench)
    assert done.returncode == 0 and "PASSED: 61 octets" in done.stdout, done.stdout


@pytest.mark.parametrize(
    "spoil, says", [(1, "an octet on the cable"), (2, "the FCS"), (3, "an octet in memory")]
)
def test_bench_detects_errors(bench, spoil, says):
    """With +spoil, the bench expects a wrong octet or FCS."""
    done = call(bench, f"+spoil={spoil}")
    assert done.returncode != 0 and f"FAILED: {says}\n" in done.stdout, done.stdout


CHOICES = list(itertools.product(standalone.PHYS, standalone.DMAS, standalone.BUSES))
FAST = [
    ("mii", "axi32", "wishbone"),
    ("gmii", "axi64", "axi-lite"),  # each choice once at least
    ("gmii", "wishbone32", "wishbone"),
    ("mii", "wishbone64", "axi-lite"),
]


@pytest.mark.parametrize(
    "phy, dma, bus",
    [pytest.param(*each, marks=[] if each in FAST else pytest.mark.slow) for each in CHOICES],
)
def test_every_choice_makes_valid_verilog(tmp_path, phy, dma, bus):
    assert (
        cli.main(
            f"verilog --phy {phy} --dma {dma} --bus {bus} --sys-clk-freq 75e6 --urgent "
            f"--pacing --unicast 2 --pause --jumbo --rmon --vlan --rx-checksum "
            f"--tx-checksum --timestamp --queues 2 --gather --segment --merge "
            f"--name eth --output {tmp_path}".split()
        )
        == 0
    )
    lint = call("verilator", "--lint-only", *QUIET, "--top-module", "eth", tmp_path / "eth.v")
    assert lint.returncode == 0, lint.stderr


def test_every_option_is_offered():
    offered = {action.dest: action for action in cli.parser("verilog")._actions}
    assert OPTIONS.keys() <= offered.keys()
    for name, table in (("phy", standalone.PHYS), ("dma", standalone.DMAS), ("bus", standalone.BUSES)):
        assert tuple(offered[name].choices) == tuple(table)


def test_ports(tmp_path):
    """The top module has interrupts of both queues and the clock's output."""
    cli.main(f"verilog --phy mii --sys-clk-freq 75e6 --timestamp --queues 2 --output {tmp_path}".split())
    ports = set(
        re.findall(
            r"^\s*output\s+(?:wire|reg)\s+(\w+)", (tmp_path / "moderato.v").read_text(), re.MULTILINE
        )
    )
    assert {"irq_rx", "irq_tx", "irq_rx1", "irq_tx1", "time_output"} <= ports


@pytest.mark.parametrize(
    "words, says",
    [
        ("--phy mii --sys-clk-freq 100e6 --segment", "--segment needs --gather and --tx-checksum"),
        ("--phy mii --sys-clk-freq 100e6 --merge", "--merge needs --rx-checksum"),
        ("--phy mii --sys-clk-freq 100e6 --flows 9", "two MACs of one design forward flows"),
        ("--phy gmii --sys-clk-freq 10e6", "37.5 MHz at least"),
        ("--phy rmii --sys-clk-freq 100e6", "invalid choice: 'rmii'"),
        ("--phy mii --sys-clk-freq fast", "--sys-clk-freq: fast is no rate in Hz"),
        ("--phy mii --sys-clk-freq inf", "--sys-clk-freq: inf is no rate in Hz"),
        ("--phy mii --sys-clk-freq 5e9", "--sys-clk-freq: 5e9 is no rate in Hz"),
        ("--phy mii --sys-clk-freq 100e6 --rx-fifo-order 9", "--rx-fifo-order must be 11 to 14, not 9"),
        ("--phy mii --sys-clk-freq 100e6 --name a-b", "--name: a-b is no name"),
        ("--phy mii --sys-clk-freq 100e6 --name module", "module is a keyword of Verilog"),
    ],
)
def test_rejects_wrong_choices(tmp_path, capsys, words, says):
    assert cli.main(["verilog", *words.split(), "--output", str(tmp_path / "out")]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
