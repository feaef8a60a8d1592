# SPDX-License-Identifier: BSD-2-Clause
"""The example as a user runs it: a board of each vendor elaborates, and one meets timing.

Yosys, which has most of the vendors' cells, reads the files that LiteX writes for their tools.
"""

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from pythondata_cpu_vexriscv import data_location as CPU

from moderato.boards.gateware import COMPILER, environment
from moderato.soc.verilog import normalise
from moderato.toolchain import debian, yowasp
from moderato.toolchain.cache import LOG, BuildError, artifact, run
from moderato.toolchain.project import ROOT

SCRIPT = Path(__file__).with_name("target.py")
PACKAGES = ("litex", "litex-boards", "litedram", "liteeth", "migen", "pythondata-cpu-vexriscv")
ECPIX5 = "lambdaconcept_ecpix5"
ULX3S = "radiona_ulx3s"

# For each target: Yosys' files of the vendor's cells, and the constraints of Ethernet's clocks.
TARGETS = {
    ECPIX5: (
        "ecp5/cells_sim.v ecp5/cells_bb.v",
        "lpf",
        ['FREQUENCY PORT "eth_rx_clk" 125.0 MHz;', 'FREQUENCY PORT "eth_tx_clk" 125.0 MHz;'],
    ),
    ULX3S: (
        "ecp5/cells_sim.v ecp5/cells_bb.v",
        "lpf",
        ['FREQUENCY PORT "eth_clocks_ref_clk" 50.0 MHz;'],
    ),
    "digilent_arty": (
        "xilinx/cells_sim.v xilinx/cells_xtra.v",
        "xdc",
        [
            "create_clock -name eth_rx_clk -period 40.0 [get_nets eth_rx_clk]",
            "create_clock -name eth_tx_clk -period 40.0 [get_nets eth_tx_clk]",
            *(
                "set_clock_groups -group [get_clocks -include_generated_clocks -of [get_nets sys_clk]] "
                f"-group [get_clocks -include_generated_clocks -of [get_nets eth_{side}_clk]] "
                "-asynchronous"
                for side in ("rx", "tx")
            ),
        ],
    ),
    "sipeed_tang_primer_20k": (
        "gowin/cells_sim.v gowin/cells_xtra_gw2a.v",
        "sdc",
        ["create_clock -name eth_clocks_ref_clk -period 20.0 [get_ports {eth_clocks_ref_clk}]"],
    ),
}

# A Gowin cell that Yosys lacks.
MISSING = """
(* blackbox *) module DLL(input CLKIN, STOP, RESET, UPDNCNTL, output LOCK, output [7:0] STEP);
parameter SCAL_EN = "true";
endmodule
"""


def write(target, folder):
    """Run the example without a vendor's tools. Return the folder of the files for them, and LiteX's
    csr.json."""
    words = [SCRIPT.with_name("ulx3s.py")] if target == ULX3S else [SCRIPT, target, "--with-ethernet"]
    done = subprocess.run(
        [
            sys.executable,
            *words,
            "--build",
            "--no-compile",
            "--output-dir",
            folder,
            "--csr-json",
            folder / "csr.json",
        ],
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    normalise(folder / "gateware" / f"{target}.v")
    return folder / "gateware", json.loads((folder / "csr.json").read_text())


def read(target, code, contents=()):
    """Let Yosys read Verilog with the CPU's and the vendor's cells, and the files in `contents`. Raises
    BuildError for an unknown module or port."""
    cells = " ".join(f"+/{name}" for name in TARGETS[target][0].split())
    files = {
        "top.v": code,
        "cpu.v": Path(CPU, "VexRiscv.v").read_text(),
        "missing.v": MISSING,
        **{file.name: file.read_text() for file in contents},
    }
    script = (
        f"read_verilog -lib {cells} missing.v; read_verilog cpu.v top.v; "
        f"hierarchy -check -top {target}; proc"
    )

    def build(folder):
        for name, text in files.items():
            (folder / name).write_text(text)
        run([yowasp.command("yosys"), "-q", "-p", script], cwd=folder)

    artifact("litex-boards", [*files.values(), script, yowasp.version("yosys")], build)


# The tests of our own boards include another ECP5.
@pytest.mark.parametrize(
    "target",
    [pytest.param(target, marks=[pytest.mark.slow] * (target in (ECPIX5, ULX3S))) for target in TARGETS],
)
def test_elaborates(target, tmp_path):
    """The SoC has our MAC instead of LiteEth's, Yosys reads its Verilog, and clocks have their
    periods."""
    gateware, said = write(target, tmp_path)
    assert said["memories"]["eth0"]["size"] == 4096
    assert {"eth0_rx_interrupt", "eth0_tx_interrupt"} <= set(said["constants"])
    assert "ethphy" in said["csr_bases"] and "ethmac" not in said["csr_bases"]

    constraints = (gateware / f"{target}.{TARGETS[target][1]}").read_text().splitlines()
    assert [line for line in TARGETS[target][2] if constraints.count(line) != 1] == []

    code = (gateware / f"{target}.v").read_text()
    read(target, code, sorted(gateware.glob("*.init")))


@pytest.mark.parametrize(
    "words, says",
    [
        (
            "digilent_arty",
            "digilent_arty: this SoC has no Ethernet, so the MAC is not in it; add --with-",
        ),
        ("digilent_arty --with-etherbone", "add --with-ethernet"),
        ("radiona_ulx3s", "that target has no Ethernet; choose another one, or see ulx3s.py"),
        ("arty", "litex-boards has no target 'arty'; did you mean digilent_arty or "),
        ("digilent_atry", "litex-boards has no target 'digilent_atry'; did you mean digilent_arty"),
        ("nosuch", "litex-boards has no target 'nosuch' ("),
    ],
)
def test_rejects_targets_without_ethernet(words, says, tmp_path):
    """One line names the remedy, and the example writes no files."""
    done = subprocess.run(
        [sys.executable, SCRIPT, *words.split(), "--build", "--no-compile"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    line = done.stderr.splitlines()[-1]
    assert done.returncode == 2 and says in line and len(line) < 300
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "cell, says",
    [
        ("AnotherCPU cpu(.clk(a))", "AnotherCPU' .* is not part of the design"),
        ("VexRiscv cpu(.another(a))", "does not have a port named 'another'"),
        ("TRELLIS_FF cell(.another(a))", "does not have a port named 'another'"),
    ],
)
def test_yosys_rejects_unknown_modules_and_ports(cell, says):
    with pytest.raises(BuildError, match=says):
        read(ECPIX5, f"module {ECPIX5}(input a); {cell}; endmodule\n")


@pytest.mark.slow
def test_ecpix5_meets_timing():
    """LiteX's own flow with its default options, and the tools of YoWASP."""

    def build(folder):
        tools = folder / "tools"
        tools.mkdir()
        for tool in "yosys", "nextpnr-ecp5", "ecppack":
            (tools / tool).symlink_to(yowasp.command(tool))
        settings = environment()
        run(
            [sys.executable, SCRIPT, ECPIX5, "--with-ethernet", "--build", "--output-dir", folder],
            cwd=folder,
            env={**settings, "PATH": f"{tools}:{settings['PATH']}"},
        )

    inputs = [
        SCRIPT,
        ROOT / "gateware",
        ROOT / "integrate" / "add_moderato.py",
        ROOT / "integrate" / "clocks.py",
        ROOT / "integrate" / "interrupts.py",
        debian.version(COMPILER),
        *(f"{package}={version(package)}" for package in PACKAGES),
        *(yowasp.version(tool) for tool in ("yosys", "nextpnr-ecp5")),
    ]
    made = artifact("litex-boards-bitstream", inputs, build, "20 minutes")
    # nextpnr prints the clocks twice: after placement, and after routing.
    clocks = {
        name: (float(reached), float(wanted))
        for name, reached, wanted in re.findall(
            r"Max frequency for clock +'(\S+)': ([\d.]+) MHz \(\w+ at ([\d.]+) MHz\)",
            (made / LOG).read_text(),
        )
    }
    assert {75, 125} <= {round(wanted) for _, wanted in clocks.values()}, clocks
    assert all(reached >= wanted for reached, wanted in clocks.values()), clocks
    assert (made / "gateware" / f"{ECPIX5}.bit").stat().st_size > 100_000
