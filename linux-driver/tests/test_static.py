# SPDX-License-Identifier: BSD-2-Clause
"""The driver passes the checks of netdev's robots: gcc with W=1, sparse, and checkpatch --strict."""

import re
import subprocess
from pathlib import Path

import pytest
from driver_sources import COMPAT, GENERATED, SOURCES

from moderato.soc.linux import kernel
from moderato.soc.linux.driver import copy, sources
from moderato.toolchain import debian
from moderato.toolchain.cache import artifact

HERE = Path(__file__).parent
SPARSE = HERE / "sparse-rv32"

# checkpatch does not look for compatible strings next to the driver. Operations (net_device_ops,
# ethtool_ops) are not const, because each device adds those of its optional parts.
IGNORED = "UNDOCUMENTED_DT_STRING,CONST_STRUCT"


def make(directory: Path, built: kernel.Kernel, *words: str) -> str:
    """Build a module with W=1 and sparse, and return the output. words: options and targets of make."""
    command = kernel.make(
        built.source, built.build, f"M={directory}", "W=1", "C=2", f"CHECK={SPARSE}", *words
    )
    return subprocess.run(
        [str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ).stdout


def complaints(output: str) -> list[str]:
    return [line for line in output.splitlines() if "warning:" in line or "error:" in line.lower()]


@pytest.mark.parametrize(
    ("harts", "name"), [(1, "normal"), (2, "normal"), (1, kernel.XDP), (1, kernel.TIME)]
)
def test_compiles_without_a_warning(harts, name):
    """The build cache remembers sources that passed."""
    built = kernel.kernel(harts, kernel.Choice(name))

    def compile_all(directory: Path):
        output = make(copy(directory), built, "modules")
        assert complaints(output) == []
        assert (directory / "moderato.ko").is_file(), output

    artifact(
        "driver-warnings",
        [*sources(), SPARSE, debian.version("sparse"), built.build.name],
        compile_all,
    )


def test_finds_warnings_of_gcc_and_sparse(tmp_path):
    target = copy(tmp_path) / "core/moderato_hw.c"
    target.write_text(
        target.read_text() + "static int moderato_unused(void) { return 0; }\n"
        "void moderato_wrong(__le32 *to, u32 from) { *to = from; }\n"
    )
    found = "\n".join(complaints(make(tmp_path, kernel.kernel(), "core/moderato_hw.o")))
    assert "defined but not used" in found
    assert "different base types" in found


def checkpatch(*paths: Path) -> str:
    tree = kernel.source()
    return subprocess.run(
        [
            "perl",
            tree / "scripts/checkpatch.pl",
            f"--root={tree}",
            "--strict",
            "--quiet",
            "--show-types",
            "--terse",
            "--no-summary",
            f"--ignore={IGNORED}",
            "-f",
            *paths,
        ],
        cwd=tree,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ).stdout.strip()


def test_checkpatch():
    assert checkpatch(*(path for path in SOURCES if path not in (GENERATED, COMPAT))) == ""


def test_no_preprocessor_conditionals():
    """The driver reads the hardware's options at probe, and headers have stubs for omitted files."""
    found = {
        (path.name, line)
        for path in SOURCES
        if path != COMPAT
        for line in path.read_text().splitlines()
        if re.match(r"\s*#\s*(if|elif)", line) and not re.search(r"ifndef MODERATO_\w+_H$", line)
    }
    assert found == {
        ("moderato_offload.h", "#ifdef MODERATO_FLOWS"),
        ("moderato_tc.h", "#ifdef MODERATO_TC"),
        ("moderato_variants.h", "#ifdef CONFIG_NET_POLL_CONTROLLER"),
        ("moderato_xdp.h", "#ifdef MODERATO_XDP"),
        ("moderato_xdp.h", "#ifdef MODERATO_XSK"),
    }


def test_checkpatch_finds_errors(tmp_path):
    bad = tmp_path / "bad.c"
    bad.write_text("int f(int a){return a ;}\n")
    assert "SPDX_LICENSE_TAG" in checkpatch(bad)
