# SPDX-License-Identifier: BSD-2-Clause
"""What netdev's own robots check: no warning of gcc (W=1), sparse, or checkpatch --strict."""

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

# The binding lies beside the driver, where checkpatch does not look for compatible strings. Each device
# has its own tables of functions (net_device_ops, ethtool_ops), to which its features add theirs.
IGNORED = "UNDOCUMENTED_DT_STRING,CONST_STRUCT"


def make(directory: Path, built: kernel.Kernel, *words: str) -> str:
    """Everything that make, with options and targets, gcc and sparse say in a module's directory."""
    command = kernel.make(
        built.source, built.build, f"M={directory}", "W=1", "C=2", f"CHECK={SPARSE}", *words
    )
    return subprocess.run(
        [str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ).stdout


def complaints(output: str) -> list[str]:
    return [line for line in output.splitlines() if "warning:" in line or "error:" in line.lower()]


@pytest.mark.parametrize(("harts", "name"), [(1, "normal"), (2, "normal"), (1, kernel.XDP)])
def test_compiles_without_a_warning(harts, name):
    """Sources that were found to be clean are not compiled again."""
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


def test_a_warning_would_be_seen(tmp_path):
    """gcc's and sparse's complaints get through: else the test above could not fail."""
    target = copy(tmp_path) / "core/moderato_hw.c"
    target.write_text(
        target.read_text() + "static int moderato_unused(void) { return 0; }\n"
        "void moderato_wrong(__le32 *to, u32 from) { *to = from; }\n"
    )
    found = "\n".join(complaints(make(tmp_path, kernel.kernel(), "core/moderato_hw.o")))
    assert "defined but not used" in found
    assert "different base types" in found


def checkpatch(path: Path) -> str:
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
            path,
        ],
        cwd=tree,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ).stdout.strip()


@pytest.mark.parametrize(
    "path", [path for path in SOURCES if path not in (GENERATED, COMPAT)], ids=lambda path: path.name
)
def test_checkpatch(path):
    assert checkpatch(path) == ""


# Nothing is decided when it is compiled: what the hardware has is known when a device, a queue or a ring
# is opened, and for an older kernel Kbuild takes other files.
@pytest.mark.parametrize(
    "path", [path for path in SOURCES if path.suffix == ".c"], ids=lambda path: path.name
)
def test_is_one_program_that_can_be_read(path):
    lines = path.read_text().splitlines()
    assert [line for line in lines if re.match(r"\s*#\s*(if|elif)", line)] == []
    assert len(lines) <= 700


def test_headers_decide_no_more():
    """Nor do they, but for what a kernel lacks, and against being included twice."""
    found = {
        (path.name, line)
        for path in SOURCES
        if path.suffix == ".h" and path != COMPAT
        for line in path.read_text().splitlines()
        if re.match(r"\s*#\s*(if|elif)", line)
        and not re.search(r"ifndef MODERATO_\w+_H$|MODERATO_H$", line)
    }
    assert found == {("moderato_variants.h", "#ifdef CONFIG_NET_POLL_CONTROLLER")}


def test_checkpatch_would_complain(tmp_path):
    bad = tmp_path / "bad.c"
    bad.write_text("int f(int a){return a ;}\n")
    assert "SPDX_LICENSE_TAG" in checkpatch(bad)
