# SPDX-License-Identifier: BSD-2-Clause
"""The generated Verilog in a design without LiteX, with a bench that is Verilog itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from moderato.integrate import standalone
from moderato.soc.toolchain import verilator

BENCH = Path(__file__).with_name("bench.v")
QUIET = ["-Wno-fatal", "-Wno-lint", "-Wno-style"]


def call(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True,
                          env={**os.environ, **verilator.environment()}, **options)


def simulate(folder: Path, bench: Path) -> subprocess.CompletedProcess:
    """What comes of the MAC's Verilog in `folder` and a bench."""
    built = call("verilator", "--binary", "--timing", *QUIET, "-O0", "--quiet", "--top-module",
                 "bench", "--Mdir", folder / "obj", f"+incdir+{folder}", "-CFLAGS",
                 "-O0 -std=gnu++20", bench, folder / "moderato.v")
    assert built.returncode == 0, built.stdout + built.stderr
    return call(folder / "obj" / "Vbench")


@pytest.fixture(scope="module")
def verilog(tmp_path_factory) -> Path:
    """As a user makes it."""
    folder = tmp_path_factory.mktemp("standalone")
    made = call(sys.executable, "-m", "moderato.integrate.standalone", "--phy", "gmii",
                "--sys-clk-freq", "100e6", "--output", folder)
    assert made.returncode == 0, made.stderr
    assert made.stdout == f"{folder}/moderato.v\n"
    return folder


def test_a_frame_leaves_and_comes_back(verilog):
    done = simulate(verilog, BENCH)
    assert done.returncode == 0 and "PASSED: 61 octets" in done.stdout, done.stdout


def test_the_bench_can_fail(verilog, tmp_path):
    """Another octet than was sent."""
    wrong = BENCH.read_text().replace("!= octet(place)) fail", "!= octet(place + 1)) fail")
    assert wrong != BENCH.read_text()
    (tmp_path / "bench.v").write_text(wrong)
    done = simulate(verilog, tmp_path / "bench.v")
    assert done.returncode != 0 and "FAILED: an octet" in done.stdout


@pytest.mark.parametrize("phy", standalone.PHYS)
@pytest.mark.parametrize("dma", standalone.DMAS)
@pytest.mark.parametrize("bus", standalone.BUSES)
def test_every_choice_is_verilog(tmp_path, phy, dma, bus):
    assert standalone.main(f"--phy {phy} --dma {dma} --bus {bus} --sys-clk-freq 75e6 --urgent "
                           f"--pacing --name eth --output {tmp_path}".split()) == 0
    lint = call("verilator", "--lint-only", *QUIET, "--top-module", "eth", tmp_path / "eth.v")
    assert lint.returncode == 0, lint.stderr


@pytest.mark.parametrize("words, says", [
    ("--phy gmii --sys-clk-freq 10e6", "37.5 MHz at least"),
    ("--phy rmii --sys-clk-freq 100e6", "invalid choice: 'rmii'"),
    ("--phy mii --sys-clk-freq fast", "invalid float value"),
    ("--phy mii --sys-clk-freq 100e6 --rx-fifo-order 9", "rx_fifo_order must be 11"),
    ("--phy mii --sys-clk-freq 100e6 --name a-b", "a-b is no name"),
])
def test_wrong_choices(tmp_path, capsys, words, says):
    with pytest.raises(SystemExit) as ended:
        standalone.main([*words.split(), "--output", str(tmp_path / "out")])
    assert ended.value.code == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
